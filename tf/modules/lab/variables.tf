variable "namespace" {
  type        = string
  description = "Namespace of the laboratory; it is never used twice."
}

variable "run_id" {
  type        = string
  description = "Run that owns every object."
}

variable "attempt_id" {
  type        = string
  description = "Attempt that owns every object."
}

variable "instruments" {
  type        = any
  description = "As in lab_bench."
}

variable "rules" {
  type        = any
  description = "As in lab_bench."
}

variable "namespace" {
  type        = string
  description = "Namespace of the laboratory."
}

variable "labels" {
  type        = map(string)
  description = "Ownership labels of every object."
}

variable "image" {
  type        = string
  description = "Image that runs the laboratory's services; it is on the nodes already, and never pulled."
}

variable "instruments" {
  type        = any
  description = "As in lab_bench."
}

variable "controller_token" {
  type        = string
  sensitive   = true
  description = "Token with which the controller calls the instruments."
}

variable "harness_token" {
  type        = string
  sensitive   = true
  description = "Token with which the instruments' journal is read."
}

variable "pause_at" {
  type        = string
  default     = null
  description = "Point at which the controller stops itself, once, as POINT or POINT@TASK; null means nowhere."
}

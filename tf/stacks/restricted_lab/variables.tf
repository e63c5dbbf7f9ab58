variable "namespace" {
  type        = string
  description = "Namespace of this attempt; it is never used twice."
}

variable "run_id" {
  type        = string
  description = "Run that owns every object of this stack."
}

variable "attempt_id" {
  type        = string
  description = "Attempt that owns every object of this stack."
}

variable "services" {
  type = object({
    image            = string
    controller_token = string
    harness_token    = string
    pause_at         = optional(string)
  })
  default     = null
  sensitive   = true
  description = "How the laboratory's services run in the cluster; null where they run beside it."
}

variable "mix_seconds" {
  type        = number
  default     = 0.1
  description = "How long a mixer works on one request, in seconds."
}

variable "mixer_refuses" {
  type        = bool
  default     = false
  description = "Whether the mixers turn every request down, as broken ones do."
}

variable "sample_id" {
  type        = string
  default     = "sample-a"
  description = "Name of the sample that the work is about."
}

variable "total_mass_g" {
  type        = number
  default     = 5
  description = "Mass of a mixed sample, in grams."
}

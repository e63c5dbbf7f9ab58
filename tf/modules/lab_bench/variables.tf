variable "namespace" {
  type        = string
  description = "Namespace of the laboratory."
}

variable "labels" {
  type        = map(string)
  description = "Ownership labels of every object."
}

variable "instruments" {
  type = map(object({
    type            = string
    latency_seconds = optional(number, 0.1)
    refuses         = optional(bool, false)
  }))
  description = "Instruments by name; latency_seconds is how long one request takes, refuses turns every request down."
}

variable "rules" {
  type = list(object({
    id           = string
    effect       = string
    capability   = optional(string, "*")
    environments = optional(list(string), ["*"])
    operators    = optional(list(string), ["*"])
    riskClasses  = optional(list(string), ["*"])
    reason       = optional(string, "")
  }))
  description = "The lab's policy in order: the first rule that matches decides, and no match is a denial."
}

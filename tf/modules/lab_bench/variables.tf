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
    reservoir_grams = optional(number, 0)
    noise_grams     = optional(number, 0)
  }))
  description = "Instruments by name; latency_seconds is how long one request takes, refuses turns every request down, reservoir_grams is what a mixer holds when the shift begins, noise_grams the standard deviation of the masses that an instrument reads."
}

variable "capabilities" {
  type = map(object({
    timeout_seconds = optional(number, 30)
    risk_class      = optional(string)
  }))
  default = {
    "sim.mix_color"      = {}
    "sim.measure_color"  = {}
    "sim.measure_mass"   = {}
    "sim.move_labware"   = {}
    "sim.locate_labware" = {}
  }
  nullable    = false
  description = "What may be asked here, of the catalogue, where an instrument of the type is there; timeout_seconds bounds the wait for an answer, risk_class is R1 for what acts and R0 for what looks where nothing is said."
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

variable "separation_of_duties" {
  type        = bool
  default     = false
  description = "Whether who asked for a call may not attest what became of it."
}

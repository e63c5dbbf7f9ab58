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
  default = [
    { id = "routine-work", effect = "allow", riskClasses = ["R0", "R1"], reason = "routine work on this bench" },
    { id = "with-approval", effect = "require_approval", riskClasses = ["R2", "R3"], reason = "an approver decides about this" },
  ]
  description = "The laboratory's policy, as in lab_bench."
}

variable "separation_of_duties" {
  type        = bool
  default     = false
  description = "Whether who asked for a call may not attest what became of it."
}

variable "agent_may_approve" {
  type        = bool
  default     = false
  description = "Whether RBAC lets the agent create approvals; the laboratory's rule against one's own stays."
}

variable "mixers" {
  type        = number
  default     = 2
  description = "How many mixers there are."
}

variable "mix_seconds" {
  type        = number
  default     = 0.6
  description = "How long a mixer takes for anything that is asked of it, in seconds."
}

variable "look_seconds" {
  type        = number
  default     = 0.05
  description = "How long a balance, the colorimeter and the robot take, in seconds."
}

variable "anneal_seconds" {
  type        = number
  default     = 4
  description = "How long the furnace takes, in seconds."
}

variable "irradiate_seconds" {
  type        = number
  default     = 0.3
  description = "How long the source takes, in seconds."
}

variable "anneal_window_seconds" {
  type        = number
  default     = 60
  description = "How long an anneal may take before anybody need wonder, in seconds."
}

variable "dose_window_seconds" {
  type        = number
  default     = 30
  description = "How long dosing may take before anybody need wonder, in seconds."
}

variable "irradiate_window_seconds" {
  type        = number
  default     = 30
  description = "How long an irradiation may take before anybody need wonder, in seconds."
}

variable "reservoir_g" {
  type        = number
  default     = 500
  description = "What the reservoir of each mixer holds when the shift begins, in grams."
}

variable "gauge_noise_g" {
  type        = number
  default     = 0.05
  description = "Standard deviation of a mixer's gauge, in grams."
}

variable "balance_noise_g" {
  type        = number
  default     = 0.05
  description = "Standard deviation of balance-1, in grams."
}

variable "second_balance_noise_g" {
  type        = number
  default     = 0.05
  description = "Standard deviation of balance-2, in grams."
}

variable "vessel" {
  type        = string
  default     = "vessel-a"
  description = "Vessel that the work is about."
}

variable "new_vessel" {
  type        = string
  default     = "vessel-b"
  description = "Clean vessel for what has to be made anew."
}

variable "own_vessel" {
  type        = string
  default     = "vessel-c"
  description = "Vessel for the work of this shift."
}

variable "other_vessel" {
  type        = string
  default     = "vessel-d"
  description = "Vessel of somebody else."
}

variable "carrier_g" {
  type        = number
  default     = 2
  description = "Green carrier that goes into a vessel before anything else, in grams."
}

variable "red_g" {
  type        = number
  default     = 3
  description = "Red in the sample, in grams."
}

variable "green_g" {
  type        = number
  default     = 1
  description = "Green in the sample, in grams."
}

variable "blue_g" {
  type        = number
  default     = 3
  description = "Blue in the sample, in grams."
}

variable "tolerance_g" {
  type        = number
  default     = 0.05
  description = "How far each component may be off, in grams."
}

variable "red_mg" {
  type        = number
  default     = 3000
  description = "Red in the sample as it is asked for, in milligrams."
}

variable "green_mg" {
  type        = number
  default     = 1000
  description = "Green in the sample as it is asked for, in milligrams."
}

variable "blue_mg" {
  type        = number
  default     = 3000
  description = "Blue in the sample as it is asked for, in milligrams."
}

variable "first_vessel" {
  type        = string
  default     = "vessel-1"
  description = "First vessel of a series."
}

variable "second_vessel" {
  type        = string
  default     = "vessel-2"
  description = "Second vessel of a series."
}

variable "third_vessel" {
  type        = string
  default     = "vessel-3"
  description = "Third vessel of a series."
}

variable "fourth_vessel" {
  type        = string
  default     = "vessel-4"
  description = "Fourth vessel of a series."
}

variable "spare_vessel" {
  type        = string
  default     = "vessel-5"
  description = "Vessel that is free when one of a series is not."
}

variable "first_red_g" {
  type        = number
  default     = 1
  description = "Red in the first of a series, in grams."
}

variable "second_red_g" {
  type        = number
  default     = 2
  description = "Red in the second of a series, in grams."
}

variable "third_red_g" {
  type        = number
  default     = 3
  description = "Red in the third of a series, in grams."
}

variable "fourth_red_g" {
  type        = number
  default     = 4
  description = "Red in the fourth of a series, in grams."
}

variable "dose_gy" {
  type        = number
  default     = 5
  description = "Dose of an irradiation, in gray."
}

variable "labware" {
  type        = string
  default     = "tray-1"
  description = "Labware that is moved."
}

variable "origin" {
  type        = string
  default     = "bench"
  description = "Where it is."
}

variable "destination" {
  type        = string
  default     = "cold-store"
  description = "Where it is wanted."
}

variable "window_seconds" {
  type        = number
  default     = 2
  description = "How long the wait for an interrupted call lasted, in seconds."
}

variable "drop_seconds" {
  type        = number
  default     = 0.3
  description = "When the wait for an interrupted call was dropped, in seconds from its acceptance."
}

variable "approval_seconds" {
  type        = number
  default     = 600
  description = "How long an approval is good for, in seconds."
}

variable "group" {
  type        = string
  default     = "chemistry"
  description = "Group of the operator on duty."
}

variable "other_group" {
  type        = string
  default     = "optics"
  description = "Group of somebody else."
}

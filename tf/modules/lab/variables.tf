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

variable "roles" {
  type        = set(string)
  default     = ["previous-operator"]
  description = "Who else works here beside the agent and the controller: previous-operator, colleague, approver."
}

variable "agent_may_approve" {
  type        = bool
  default     = false
  description = "Whether RBAC lets the agent create approvals; the laboratory's rule against one's own stays."
}

variable "capabilities" {
  type        = any
  default     = null
  description = "As in lab_bench; null for the ones that every bench has."
}

variable "separation_of_duties" {
  type        = bool
  default     = false
  description = "As in lab_bench."
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
  description = "How controller and instruments run in the cluster, as in lab_services; null where they run beside it."
}

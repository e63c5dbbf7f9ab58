variable "canary_namespace" {
  type        = string
  default     = "strandline-canary"
  description = "Namespace in which the guard rails are probed."
}

variable "system_namespace" {
  type        = string
  default     = "strandline-system"
  description = "Namespace of the webhook where it runs in the cluster."
}

variable "webhook_url" {
  type        = string
  default     = null
  description = "Where the API server reaches the webhook, without a path; null where it runs in the cluster."
}

variable "webhook_service" {
  type = object({
    image        = string
    harness_user = string
    certificate  = string
    key          = string
  })
  default     = null
  sensitive   = true
  description = "How the webhook runs in the cluster, as in lab_webhook; null where it runs beside it."
}

variable "webhook_ca_bundle" {
  type        = string
  description = "CA that signed the webhook's serving certificate: PEM in base64."
}

variable "webhook_user" {
  type        = string
  default     = "strandline:webhook"
  description = "User name with which a webhook beside the cluster reads the laboratory."
}

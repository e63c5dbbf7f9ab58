variable "canary_namespace" {
  type        = string
  default     = "strandline-canary"
  description = "Namespace in which the guard rails are probed."
}

variable "webhook_url" {
  type        = string
  description = "Where the API server reaches the webhook, without a path."
}

variable "webhook_ca_bundle" {
  type        = string
  description = "CA that signed the webhook's serving certificate: PEM in base64."
}

variable "webhook_user" {
  type        = string
  default     = "strandline:webhook"
  description = "User name with which the webhook reads the laboratory."
}

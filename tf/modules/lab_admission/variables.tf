variable "labels" {
  type        = map(string)
  description = "Ownership labels of the webhook's registration."
}

variable "webhook_url" {
  type        = string
  default     = null
  description = "Where the API server reaches the webhook, without a path; null where a Service leads to it."
}

variable "webhook_service" {
  type        = object({ name = string, namespace = string })
  default     = null
  description = "Service that leads to the webhook; null where a URL does."
}

variable "webhook_ca_bundle" {
  type        = string
  description = "CA that signed the webhook's serving certificate: PEM in base64."
}

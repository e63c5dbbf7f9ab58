variable "labels" {
  type        = map(string)
  description = "Ownership labels of the webhook's registration."
}

variable "webhook_url" {
  type        = string
  description = "Where the API server reaches the webhook, without a path."
}

variable "webhook_ca_bundle" {
  type        = string
  description = "CA that signed the webhook's serving certificate: PEM in base64."
}

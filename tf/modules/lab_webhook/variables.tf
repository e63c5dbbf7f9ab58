variable "labels" {
  type        = map(string)
  description = "Ownership labels of every object."
}

variable "namespace" {
  type        = string
  description = "Namespace of the webhook."
}

variable "image" {
  type        = string
  description = "Image that runs the webhook; it is on the nodes already, and never pulled."
}

variable "harness_user" {
  type        = string
  description = "User name of the harness, which may delete what others may not."
}

variable "certificate" {
  type        = string
  description = "Serving certificate with its chain, PEM, for `webhook.NAMESPACE.svc`."
}

variable "key" {
  type        = string
  sensitive   = true
  description = "Private key of the certificate, PEM."
}

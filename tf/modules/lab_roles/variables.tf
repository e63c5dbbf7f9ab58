variable "labels" {
  type        = map(string)
  description = "Ownership labels of every object."
}

variable "webhook_user" {
  type        = string
  description = "User name with which the webhook reads the laboratory."
}

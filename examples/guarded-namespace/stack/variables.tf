variable "namespace" {
  description = "Name of the namespace."
  type        = string
  default     = "guarded"

  validation {
    condition     = can(regex("^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", var.namespace))
    error_message = "A namespace has lower-case letters, digits and dashes, at most 63 of them."
  }
}

variable "image_prefix" {
  description = "How the name of every image that may run there begins."
  type        = string
  default     = "apps/"

  validation {
    condition     = endswith(var.image_prefix, "/")
    error_message = "A prefix ends with a slash: without it, apps would allow apps-of-others/x too."
  }
}

variable "owner" {
  description = "Whom to ask about it."
  type        = string
  default     = "the platform team"
}

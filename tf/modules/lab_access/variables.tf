variable "namespace" {
  type        = string
  description = "Namespace of the identities."
}

variable "labels" {
  type        = map(string)
  description = "Ownership labels of every object."
}

variable "roles" {
  type        = set(string)
  description = "Roles that exist here, one ServiceAccount each."
}

variable "bound_roles" {
  type        = set(string)
  description = "Roles that have their rights from the start; an attempt's agent is granted its own for the act alone."
}

variable "namespace" {
  description = "Namespace that is made, with everything in it."
  type        = string
}

variable "settings" {
  description = "How many ConfigMaps are made in it."
  type        = number
}

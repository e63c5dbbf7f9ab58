output "namespace" {
  description = "Name of the namespace."
  value       = var.namespace
}

output "namespace" {
  value       = var.namespace
  description = "Namespace of the laboratory."
}

output "canary_namespace" {
  value       = var.canary_namespace
  description = "Namespace in which the guard rails are probed."
}

output "kinds" {
  description = "Names of the resource definitions, so that what uses them can depend on them."
  value       = sort([for crd in kubectl_manifest.crd : crd.name])
}

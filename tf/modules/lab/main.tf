# One laboratory in a namespace of its own: its people, its bench, and the labels that own it all.

locals {
  labels = { "strandline.dev/run" = var.run_id, "strandline.dev/attempt" = var.attempt_id }
}

resource "kubectl_manifest" "namespace" {
  yaml_body = yamlencode({
    apiVersion = "v1"
    kind       = "Namespace"
    metadata   = { name = var.namespace, labels = local.labels }
  })
}

module "access" {
  source     = "../lab_access"
  depends_on = [kubectl_manifest.namespace]

  namespace   = var.namespace
  labels      = local.labels
  roles       = ["agent", "controller", "previous-operator"]
  bound_roles = ["controller", "previous-operator"]
}

module "bench" {
  source     = "../lab_bench"
  depends_on = [kubectl_manifest.namespace]

  namespace   = var.namespace
  labels      = local.labels
  instruments = var.instruments
  rules       = var.rules
}

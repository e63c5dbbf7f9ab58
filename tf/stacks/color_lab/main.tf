# A colour bench on which everything is allowed.

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
  source     = "../../modules/lab_access"
  depends_on = [kubectl_manifest.namespace]

  namespace   = var.namespace
  labels      = local.labels
  roles       = ["agent", "controller", "previous-operator"]
  bound_roles = ["controller", "previous-operator"]
}

module "bench" {
  source     = "../../modules/lab_bench"
  depends_on = [kubectl_manifest.namespace]

  namespace = var.namespace
  labels    = local.labels
  instruments = {
    "mixer-1"       = { type = "mixer", latency_seconds = var.mix_seconds, refuses = var.mixer_refuses }
    "balance-1"     = { type = "balance" }
    "colorimeter-1" = { type = "colorimeter" }
    "robot-1"       = { type = "robot" }
  }
  rules = [
    { id = "routine-work", effect = "allow", riskClasses = ["R0", "R1"], reason = "routine work on this bench" },
  ]
}

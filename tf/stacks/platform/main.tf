# Applied once per cluster: the laboratory's API, what its roles may do, its guard rails, and the
# canary namespace in which they are probed. No controller works in the canary.

locals {
  labels = { "strandline.dev/platform" = "true" }
  roles  = ["agent", "approver", "colleague", "controller", "grader", "harness", "previous-operator"]
}

module "lab_api" {
  source = "../../modules/lab_api"
}

module "lab_roles" {
  source = "../../modules/lab_roles"

  labels       = local.labels
  webhook_user = var.webhook_user
}

resource "kubectl_manifest" "canary" {
  yaml_body = yamlencode({
    apiVersion = "v1"
    kind       = "Namespace"
    metadata   = { name = var.canary_namespace, labels = local.labels }
  })
}

module "canary_access" {
  source     = "../../modules/lab_access"
  depends_on = [kubectl_manifest.canary, module.lab_roles]

  namespace   = var.canary_namespace
  labels      = local.labels
  roles       = local.roles
  bound_roles = local.roles
}

module "canary_bench" {
  source     = "../../modules/lab_bench"
  depends_on = [kubectl_manifest.canary, module.lab_api]

  namespace   = var.canary_namespace
  labels      = local.labels
  instruments = { "balance-1" = { type = "balance" } }
  rules       = [{ id = "probes", effect = "allow", reason = "the canary is there to be probed" }]
}

# Depends on everything else, so that it is destroyed first: a webhook whose server is gone would
# refuse the deletion of what it guards.
module "lab_admission" {
  source     = "../../modules/lab_admission"
  depends_on = [module.lab_api, module.canary_access, module.canary_bench]

  labels            = local.labels
  webhook_url       = var.webhook_url
  webhook_ca_bundle = var.webhook_ca_bundle
}

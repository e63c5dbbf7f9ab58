# Applied once per cluster: the laboratory's API, what its roles may do, its guard rails, and the
# canary namespace in which they are probed. No controller works in the canary.

locals {
  in_cluster   = nonsensitive(var.webhook_service == null) ? 0 : 1
  webhook_user = local.in_cluster == 1 ? "system:serviceaccount:${var.system_namespace}:webhook" : var.webhook_user

  labels = { "strandline.dev/platform" = "true" }
  roles  = ["agent", "approver", "colleague", "controller", "grader", "harness", "previous-operator"]
}

module "lab_api" {
  source = "../../modules/lab_api"
}

module "lab_roles" {
  source = "../../modules/lab_roles"

  labels       = local.labels
  webhook_user = local.webhook_user
}

resource "kubectl_manifest" "canary" {
  yaml_body = yamlencode({
    apiVersion = "v1"
    kind       = "Namespace"
    metadata   = { name = var.canary_namespace, labels = merge(local.labels, { "pod-security.kubernetes.io/enforce" = "restricted" }) }
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

module "lab_webhook" {
  source     = "../../modules/lab_webhook"
  count      = local.in_cluster
  depends_on = [module.lab_api, module.lab_roles]

  labels       = local.labels
  namespace    = var.system_namespace
  image        = nonsensitive(var.webhook_service.image)
  harness_user = nonsensitive(var.webhook_service.harness_user)
  certificate  = nonsensitive(var.webhook_service.certificate)
  key          = var.webhook_service.key
}

# Depends on everything else, so that it is destroyed first: a webhook whose server is gone would
# refuse the deletion of what it guards.
module "lab_admission" {
  source     = "../../modules/lab_admission"
  depends_on = [module.lab_api, module.canary_access, module.canary_bench, module.lab_webhook]

  labels            = local.labels
  webhook_url       = var.webhook_url
  webhook_service   = local.in_cluster == 1 ? { name = "webhook", namespace = var.system_namespace } : null
  webhook_ca_bundle = var.webhook_ca_bundle
}

# One laboratory in a namespace of its own: its people, its bench, and the labels that own it all.

locals {
  labels = { "strandline.dev/run" = var.run_id, "strandline.dev/attempt" = var.attempt_id }
}

resource "kubectl_manifest" "namespace" {
  yaml_body = yamlencode({
    apiVersion = "v1"
    kind       = "Namespace"
    metadata   = { name = var.namespace, labels = merge(local.labels, { "pod-security.kubernetes.io/enforce" = "restricted" }) }
  })
}

module "access" {
  source     = "../lab_access"
  depends_on = [kubectl_manifest.namespace]

  namespace   = var.namespace
  labels      = local.labels
  roles       = setunion(["agent", "controller"], var.roles)
  bound_roles = setunion(["controller"], var.roles)
}

# The agent's own rights are the harness's to grant and to end; it ends this one as well.
resource "kubectl_manifest" "agent_approves" {
  count      = var.agent_may_approve ? 1 : 0
  depends_on = [module.access]

  yaml_body = yamlencode({
    apiVersion = "rbac.authorization.k8s.io/v1"
    kind       = "RoleBinding"
    metadata   = { name = "agent-approves", namespace = var.namespace, labels = local.labels }
    roleRef    = { apiGroup = "rbac.authorization.k8s.io", kind = "ClusterRole", name = "strandline:approves" }
    subjects   = [{ kind = "ServiceAccount", name = "agent", namespace = var.namespace }]
  })
}

module "bench" {
  source     = "../lab_bench"
  depends_on = [kubectl_manifest.namespace]

  namespace            = var.namespace
  labels               = local.labels
  instruments          = var.instruments
  capabilities         = var.capabilities
  rules                = var.rules
  separation_of_duties = var.separation_of_duties
}

# The controller finds its kinds, its rights and its instruments when it starts.
module "services" {
  source     = "../lab_services"
  count      = nonsensitive(var.services == null) ? 0 : 1
  depends_on = [module.access, module.bench]

  namespace        = var.namespace
  labels           = local.labels
  image            = nonsensitive(var.services.image)
  instruments      = var.instruments
  controller_token = var.services.controller_token
  harness_token    = var.services.harness_token
  pause_at         = nonsensitive(var.services.pause_at)
}

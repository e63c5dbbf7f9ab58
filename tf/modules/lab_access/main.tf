# Who is somebody in one namespace: a ServiceAccount a role, and its binding.

resource "kubectl_manifest" "service_account" {
  for_each = var.roles

  yaml_body = yamlencode({
    apiVersion = "v1"
    kind       = "ServiceAccount"
    metadata   = { name = each.key, namespace = var.namespace, labels = var.labels }
    # Identities are used with short tokens that are asked for; none is ever mounted.
    automountServiceAccountToken = false
  })
}

resource "kubectl_manifest" "binding" {
  for_each = var.bound_roles

  yaml_body = yamlencode({
    apiVersion = "rbac.authorization.k8s.io/v1"
    kind       = "RoleBinding"
    metadata   = { name = each.key, namespace = var.namespace, labels = var.labels }
    roleRef    = { apiGroup = "rbac.authorization.k8s.io", kind = "ClusterRole", name = "strandline:${each.key}" }
    subjects   = [{ kind = "ServiceAccount", name = each.key, namespace = var.namespace }]
  })
}

# A namespace that two kinds of people use: deployers, who run what is ours, and viewers, who look.
# The policy is cluster-wide and static; what it allows stands on the namespace that it guards.

locals {
  # A policy's manifest lives in policies/, beside the spec that proves it.
  documents = merge([
    for file in fileset("${path.module}/../policies", "*/policy.yaml") : {
      for index, text in split("\n---\n", file("${path.module}/../policies/${file}")) :
      "${dirname(file)}/${index}" => text
    }
  ]...)

  roles = {
    deployer = [
      { apiGroups = [""], resources = ["pods"], verbs = ["get", "list", "watch", "create", "delete"] },
      { apiGroups = [""], resources = ["configmaps"], verbs = ["get", "list"] },
    ]
    viewer = [
      { apiGroups = [""], resources = ["pods", "configmaps"], verbs = ["get", "list", "watch"] },
    ]
  }
}

resource "kubectl_manifest" "policy" {
  for_each = local.documents

  yaml_body = each.value
}

resource "kubectl_manifest" "namespace" {
  yaml_body = yamlencode({
    apiVersion = "v1"
    kind       = "Namespace"
    metadata = {
      name        = var.namespace
      labels      = { "example.com/guarded" = "true" }
      annotations = { "example.com/image-prefix" = var.image_prefix }
    }
  })
}

resource "kubectl_manifest" "about" {
  depends_on = [kubectl_manifest.namespace]

  yaml_body = yamlencode({
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "about", namespace = var.namespace }
    data       = { owner = var.owner, images = "${var.image_prefix}*" }
  })
}

resource "kubectl_manifest" "account" {
  for_each   = local.roles
  depends_on = [kubectl_manifest.namespace]

  yaml_body = yamlencode({
    apiVersion = "v1"
    kind       = "ServiceAccount"
    metadata   = { name = each.key, namespace = var.namespace }
  })
}

resource "kubectl_manifest" "role" {
  for_each   = local.roles
  depends_on = [kubectl_manifest.namespace]

  yaml_body = yamlencode({
    apiVersion = "rbac.authorization.k8s.io/v1"
    kind       = "Role"
    metadata   = { name = each.key, namespace = var.namespace }
    rules      = each.value
  })
}

resource "kubectl_manifest" "binding" {
  for_each   = local.roles
  depends_on = [kubectl_manifest.role, kubectl_manifest.account]

  yaml_body = yamlencode({
    apiVersion = "rbac.authorization.k8s.io/v1"
    kind       = "RoleBinding"
    metadata   = { name = each.key, namespace = var.namespace }
    roleRef    = { apiGroup = "rbac.authorization.k8s.io", kind = "Role", name = each.key }
    subjects   = [{ kind = "ServiceAccount", name = each.key, namespace = var.namespace }]
  })
}

# What each role may do, once per cluster. lab_access binds these in one namespace at a time, so no
# role of ours has any right outside of its own namespace.

locals {
  group = "lab.strandline.dev"
  kinds = ["instruments", "capabilities", "labpolicies", "labruns", "labtasks", "attestations", "notes", "approvals", "labevents"]

  read_lab = {
    apiGroups = [local.group]
    resources = local.kinds
    verbs     = ["get", "list", "watch"]
  }

  approve = { apiGroups = [local.group], resources = ["approvals"], verbs = ["create"] }

  operator = [
    local.read_lab,
    { apiGroups = [""], resources = ["configmaps"], verbs = ["get", "list", "watch"] },
    # delete is granted so that the webhook's refusal can be met: what is unsettled stays on record.
    { apiGroups = [local.group], resources = ["labruns"], verbs = ["create", "update", "patch", "delete"] },
    { apiGroups = [local.group], resources = ["attestations", "notes"], verbs = ["create"] },
  ]

  roles = {
    agent               = local.operator
    colleague           = local.operator
    "previous-operator" = local.operator
    grader              = [local.read_lab]
    approver            = [local.read_lab, local.approve]
    # Beside a role, for whom a laboratory lets approve as well; never one's own run.
    approves = [local.approve]
    controller = [
      local.read_lab,
      { apiGroups = [local.group], resources = ["labtasks", "labevents"], verbs = ["create"] },
      {
        apiGroups = [local.group]
        resources = ["labruns/status", "labtasks/status", "instruments/status", "attestations/status"]
        verbs     = ["get", "update", "patch"]
      },
    ]
    harness = [{ apiGroups = [local.group], resources = ["*"], verbs = ["*"] }]
  }
}

resource "kubectl_manifest" "role" {
  for_each = local.roles

  yaml_body = yamlencode({
    apiVersion = "rbac.authorization.k8s.io/v1"
    kind       = "ClusterRole"
    metadata   = { name = "strandline:${each.key}", labels = var.labels }
    rules      = each.value
  })
}

# The webhook looks at capabilities, policies and tasks of every namespace, and changes nothing.
resource "kubectl_manifest" "webhook" {
  yaml_body = yamlencode({
    apiVersion = "rbac.authorization.k8s.io/v1"
    kind       = "ClusterRole"
    metadata   = { name = "strandline:webhook", labels = var.labels }
    rules      = [local.read_lab]
  })
}

resource "kubectl_manifest" "webhook_binding" {
  yaml_body = yamlencode({
    apiVersion = "rbac.authorization.k8s.io/v1"
    kind       = "ClusterRoleBinding"
    metadata   = { name = "strandline:webhook", labels = var.labels }
    roleRef    = { apiGroup = "rbac.authorization.k8s.io", kind = "ClusterRole", name = "strandline:webhook" }
    subjects   = [{ apiGroup = "rbac.authorization.k8s.io", kind = "User", name = var.webhook_user }]
  })
}

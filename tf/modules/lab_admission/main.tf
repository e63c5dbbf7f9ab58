# The guard rails' registration. The policies' manifests live in policies/, beside the specs that
# prove them; here they are only applied.

locals {
  documents = merge([
    for file in fileset("${path.module}/../../../policies", "*/policy.yaml") : {
      for index, text in split("\n---\n", file("${path.module}/../../../policies/${file}")) :
      "${dirname(file)}/${index}" => text
    }
  ]...)

  # By URL or by Service, never both: the API server refuses a registration that names two ways.
  clients = {
    for path in ["mutate", "validate"] : path => jsondecode(
      var.webhook_service == null
      ? jsonencode({ url = "${var.webhook_url}/${path}", caBundle = var.webhook_ca_bundle })
      : jsonencode({ service = merge(var.webhook_service, { path = "/${path}" }), caBundle = var.webhook_ca_bundle })
    )
  }

  common = {
    admissionReviewVersions = ["v1"]
    failurePolicy           = "Fail"
    matchPolicy             = "Equivalent"
    sideEffects             = "None"
    timeoutSeconds          = 3
  }
}

resource "kubectl_manifest" "policy" {
  for_each = local.documents

  yaml_body = each.value
}

resource "kubectl_manifest" "mutate" {
  yaml_body = yamlencode({
    apiVersion = "admissionregistration.k8s.io/v1"
    kind       = "MutatingWebhookConfiguration"
    metadata   = { name = "strandline-mutate", labels = var.labels }
    webhooks = [merge(local.common, {
      name         = "mutate.lab.strandline.dev"
      clientConfig = local.clients.mutate
      rules = [
        { apiGroups = ["lab.strandline.dev"], apiVersions = ["*"], operations = ["CREATE", "UPDATE"], resources = ["labruns"], scope = "Namespaced" },
        { apiGroups = ["lab.strandline.dev"], apiVersions = ["*"], operations = ["CREATE"], resources = ["attestations", "notes", "approvals"], scope = "Namespaced" },
      ]
    })]
  })
}

resource "kubectl_manifest" "validate" {
  yaml_body = yamlencode({
    apiVersion = "admissionregistration.k8s.io/v1"
    kind       = "ValidatingWebhookConfiguration"
    metadata   = { name = "strandline-validate", labels = var.labels }
    webhooks = [merge(local.common, {
      name         = "validate.lab.strandline.dev"
      clientConfig = local.clients.validate
      rules = [
        { apiGroups = ["lab.strandline.dev"], apiVersions = ["*"], operations = ["CREATE", "UPDATE", "DELETE"], resources = ["labruns"], scope = "Namespaced" },
        { apiGroups = ["lab.strandline.dev"], apiVersions = ["*"], operations = ["CREATE"], resources = ["attestations", "notes", "approvals"], scope = "Namespaced" },
      ]
    })]
  })
}

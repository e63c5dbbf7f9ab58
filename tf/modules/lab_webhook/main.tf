# The admission webhook as a Deployment behind a Service, where it is not a process beside the API
# server. Its identity may read the laboratory and nothing else; lab_roles says so.

locals {
  name   = "webhook"
  port   = 8443
  labels = merge(var.labels, { "app.kubernetes.io/name" = local.name })

  configuration = {
    host            = "0.0.0.0"
    port            = local.port
    cert_path       = "/etc/strandline/tls.crt"
    key_path        = "/etc/strandline/tls.key"
    kubeconfig_path = "/etc/strandline/kubeconfig"
    harness_user    = var.harness_user
  }

  # No token stands in it: kubelet writes one beside it, and renews it.
  kubeconfig = {
    apiVersion      = "v1"
    kind            = "Config"
    current-context = "lab"
    clusters        = [{ name = "lab", cluster = { server = "https://kubernetes.default.svc", certificate-authority = "/var/run/strandline/ca.crt" } }]
    users           = [{ name = "lab", user = { tokenFile = "/var/run/strandline/token" } }]
    contexts        = [{ name = "lab", context = { cluster = "lab", user = "lab" } }]
  }
}

resource "kubectl_manifest" "namespace" {
  yaml_body = yamlencode({
    apiVersion = "v1"
    kind       = "Namespace"
    metadata   = { name = var.namespace, labels = merge(var.labels, { "pod-security.kubernetes.io/enforce" = "restricted" }) }
  })
}

resource "kubectl_manifest" "service_account" {
  depends_on = [kubectl_manifest.namespace]

  yaml_body = yamlencode({
    apiVersion                   = "v1"
    kind                         = "ServiceAccount"
    metadata                     = { name = local.name, namespace = var.namespace, labels = local.labels }
    automountServiceAccountToken = false
  })
}

resource "kubectl_manifest" "configuration" {
  depends_on = [kubectl_manifest.namespace]

  yaml_body = yamlencode({
    apiVersion = "v1"
    kind       = "Secret"
    metadata   = { name = local.name, namespace = var.namespace, labels = local.labels }
    data = {
      "config.json" = base64encode(jsonencode(local.configuration))
      kubeconfig    = base64encode(jsonencode(local.kubeconfig))
      "tls.crt"     = base64encode(var.certificate)
      "tls.key"     = base64encode(var.key)
    }
  })
}

resource "kubectl_manifest" "service" {
  depends_on = [kubectl_manifest.namespace]

  yaml_body = yamlencode({
    apiVersion = "v1"
    kind       = "Service"
    metadata   = { name = local.name, namespace = var.namespace, labels = local.labels }
    spec       = { selector = { "app.kubernetes.io/name" = local.name }, ports = [{ port = 443, targetPort = local.port }] }
  })
}

resource "kubectl_manifest" "deployment" {
  depends_on = [kubectl_manifest.service_account, kubectl_manifest.configuration, kubectl_manifest.service]

  yaml_body = yamlencode({
    apiVersion = "apps/v1"
    kind       = "Deployment"
    metadata   = { name = local.name, namespace = var.namespace, labels = local.labels }
    spec = {
      replicas = 1
      # Nothing is pulled; the default of 600 s would hide for as long that a pod cannot start.
      progressDeadlineSeconds = 60
      selector                = { matchLabels = { "app.kubernetes.io/name" = local.name } }
      template = {
        metadata = { labels = local.labels }
        spec = {
          serviceAccountName            = local.name
          automountServiceAccountToken  = false
          enableServiceLinks            = false
          terminationGracePeriodSeconds = 2
          securityContext               = { runAsNonRoot = true, runAsUser = 65532, runAsGroup = 65532, seccompProfile = { type = "RuntimeDefault" } }
          containers = [{
            name            = local.name
            image           = var.image
            imagePullPolicy = "Never"
            args            = [local.name, "/etc/strandline/config.json"]
            ports           = [{ containerPort = local.port }]
            readinessProbe  = { httpGet = { path = "/healthz", port = local.port, scheme = "HTTPS" }, periodSeconds = 1 }
            securityContext = { allowPrivilegeEscalation = false, readOnlyRootFilesystem = true, capabilities = { drop = ["ALL"] } }
            resources       = { requests = { cpu = "50m", memory = "96Mi" }, limits = { cpu = "1", memory = "256Mi" } }
            volumeMounts = [
              { name = "configuration", mountPath = "/etc/strandline", readOnly = true },
              { name = "identity", mountPath = "/var/run/strandline", readOnly = true },
            ]
          }]
          volumes = [
            { name = "configuration", secret = { secretName = local.name } },
            {
              name = "identity"
              projected = {
                sources = [
                  { serviceAccountToken = { path = "token", expirationSeconds = 3600 } },
                  { configMap = { name = "kube-root-ca.crt", items = [{ key = "ca.crt", path = "ca.crt" }] } },
                ]
              }
            },
          ]
        }
      }
    }
  })
}

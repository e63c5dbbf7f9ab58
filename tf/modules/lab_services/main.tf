# The laboratory's controller and instruments as Deployments, where they are not processes beside
# the API server. One replica each: a second controller would be another experiment.

locals {
  port = 8080

  labels = { for name in ["controller", "instruments"] : name => merge(var.labels, { "app.kubernetes.io/name" = name }) }

  configuration = {
    controller = {
      kubeconfig_path   = "/etc/strandline/kubeconfig"
      namespace         = var.namespace
      instruments_url   = "http://instruments.${var.namespace}.svc:${local.port}"
      instruments_token = var.controller_token
      pause_at          = var.pause_at
      # A container that was killed starts again in the same pod, and must not stop there again.
      pause_once_path = "/var/lib/strandline/paused"
    }
    instruments = {
      host             = "0.0.0.0"
      port             = local.port
      journal_path     = "/var/lib/strandline/instruments.jsonl"
      controller_token = var.controller_token
      harness_token    = var.harness_token
      instruments = [
        for name, found in var.instruments : {
          name           = name
          type           = found.type
          latencySeconds = try(found.latency_seconds, 0.1)
          refuses        = try(found.refuses, false)
          reservoirGrams = try(found.reservoir_grams, 0)
          noiseGrams     = try(found.noise_grams, 0)
        }
      ]
    }
  }

  files = {
    controller = {
      "config.json" = jsonencode(local.configuration.controller)
      kubeconfig    = jsonencode(local.kubeconfig)
    }
    instruments = { "config.json" = jsonencode(local.configuration.instruments) }
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

  identity = {
    name = "identity"
    projected = {
      sources = [
        { serviceAccountToken = { path = "token", expirationSeconds = 3600 } },
        { configMap = { name = "kube-root-ca.crt", items = [{ key = "ca.crt", path = "ca.crt" }] } },
      ]
    }
  }
  identity_mount = { name = "identity", mountPath = "/var/run/strandline", readOnly = true }

  volumes = {
    controller  = [local.identity]
    instruments = []
  }
  mounts = {
    controller  = [local.identity_mount]
    instruments = []
  }
  accounts = { controller = "controller", instruments = "default" }
  ready = {
    controller  = {}
    instruments = { ports = [{ containerPort = local.port }], readinessProbe = { httpGet = { path = "/healthz", port = local.port }, periodSeconds = 1 } }
  }
}

resource "kubectl_manifest" "configuration" {
  for_each = toset(["controller", "instruments"])

  yaml_body = yamlencode({
    apiVersion = "v1"
    kind       = "Secret"
    metadata   = { name = each.key, namespace = var.namespace, labels = local.labels[each.key] }
    data       = { for file, text in local.files[each.key] : file => base64encode(text) }
  })
}

resource "kubectl_manifest" "service" {
  yaml_body = yamlencode({
    apiVersion = "v1"
    kind       = "Service"
    metadata   = { name = "instruments", namespace = var.namespace, labels = local.labels.instruments }
    spec       = { selector = { "app.kubernetes.io/name" = "instruments" }, ports = [{ port = local.port }] }
  })
}

resource "kubectl_manifest" "deployment" {
  for_each   = toset(["controller", "instruments"])
  depends_on = [kubectl_manifest.configuration, kubectl_manifest.service]

  yaml_body = yamlencode({
    apiVersion = "apps/v1"
    kind       = "Deployment"
    metadata   = { name = each.key, namespace = var.namespace, labels = local.labels[each.key] }
    spec = {
      replicas = 1
      # Nothing is pulled; the default of 600 s would hide for as long that a pod cannot start.
      progressDeadlineSeconds = 60
      strategy                = { type = "Recreate" }
      selector                = { matchLabels = { "app.kubernetes.io/name" = each.key } }
      template = {
        metadata = { labels = local.labels[each.key] }
        spec = {
          serviceAccountName            = local.accounts[each.key]
          automountServiceAccountToken  = false
          enableServiceLinks            = false
          terminationGracePeriodSeconds = 1
          securityContext               = { runAsNonRoot = true, runAsUser = 65532, runAsGroup = 65532, seccompProfile = { type = "RuntimeDefault" } }
          containers = [merge({
            name            = each.key
            image           = var.image
            imagePullPolicy = "Never"
            args            = [each.key, "/etc/strandline/config.json"]
            securityContext = { allowPrivilegeEscalation = false, readOnlyRootFilesystem = true, capabilities = { drop = ["ALL"] } }
            resources       = { requests = { cpu = "50m", memory = "96Mi" }, limits = { cpu = "1", memory = "256Mi" } }
            volumeMounts = concat([
              { name = "configuration", mountPath = "/etc/strandline", readOnly = true },
              { name = "state", mountPath = "/var/lib/strandline" },
            ], local.mounts[each.key])
          }, local.ready[each.key])]
          volumes = concat([
            { name = "configuration", secret = { secretName = each.key } },
            { name = "state", emptyDir = {} },
          ], local.volumes[each.key])
        }
      }
    }
  })
}

# What the benchmarks apply and look at: one namespace, and ConfigMaps in it.

resource "kubectl_manifest" "namespace" {
  yaml_body = yamlencode({
    apiVersion = "v1"
    kind       = "Namespace"
    metadata   = { name = var.namespace }
  })
}

resource "kubectl_manifest" "setting" {
  count      = var.settings
  depends_on = [kubectl_manifest.namespace]
  yaml_body = yamlencode({
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "setting-${count.index}", namespace = var.namespace }
    data       = { number = tostring(count.index) }
  })
}

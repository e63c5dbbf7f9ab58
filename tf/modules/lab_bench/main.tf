# What stands in one laboratory: instruments, what may be asked of them, and the lab's own policy.

locals {
  sample  = { name = "sample_id", type = "string" }
  labware = { name = "labware_id", type = "string" }

  # Every capability that a laboratory may have, with units. acts: whether it changes the world.
  catalogue = {
    "sim.mix_color" = {
      acts           = true
      instrumentType = "mixer"
      inputs = [
        local.sample,
        { name = "red_fraction", type = "number", unit = "1", minimum = 0, maximum = 1 },
        { name = "blue_fraction", type = "number", unit = "1", minimum = 0, maximum = 1 },
        { name = "total_mass_g", type = "number", unit = "g", minimum = 0.001, maximum = 1000 },
      ]
      outputs = [local.sample, { name = "total_mass_g", type = "number", unit = "g" }, { name = "rgb", type = "array", unit = "sRGB 8 bit" }]
    }
    "sim.measure_color" = {
      acts           = false
      instrumentType = "colorimeter"
      inputs         = [local.sample]
      outputs        = [local.sample, { name = "rgb", type = "array", unit = "sRGB 8 bit" }]
    }
    "sim.measure_mass" = {
      acts           = false
      instrumentType = "balance"
      inputs         = [local.sample]
      outputs        = [local.sample, { name = "mass_g", type = "number", unit = "g" }]
    }
    "sim.move_labware" = {
      acts           = true
      instrumentType = "robot"
      inputs         = [local.labware, { name = "source", type = "string" }, { name = "destination", type = "string" }]
      outputs        = [local.labware, { name = "source", type = "string" }, { name = "destination", type = "string" }]
    }
    "sim.locate_labware" = {
      acts           = false
      instrumentType = "robot"
      inputs         = [local.labware]
      outputs        = [local.labware, { name = "location", type = "string" }]
    }
  }

  types        = toset([for instrument in values(var.instruments) : instrument.type])
  capabilities = { for id, found in local.catalogue : id => found if contains(local.types, found.instrumentType) }
}

resource "kubectl_manifest" "instrument" {
  for_each = var.instruments

  yaml_body = yamlencode({
    apiVersion = "lab.strandline.dev/v1alpha1"
    kind       = "Instrument"
    metadata   = { name = each.key, namespace = var.namespace, labels = var.labels }
    spec = {
      type       = each.value.type
      simulation = { latencySeconds = each.value.latency_seconds, refuses = each.value.refuses }
    }
  })
}

resource "kubectl_manifest" "capability" {
  for_each = local.capabilities

  yaml_body = yamlencode({
    apiVersion = "lab.strandline.dev/v1alpha1"
    kind       = "Capability"
    # No object name may hold an underscore, so the id is in the spec.
    metadata = { name = replace(each.key, "_", "-"), namespace = var.namespace, labels = var.labels }
    spec = {
      id             = each.key
      acts           = each.value.acts
      instrumentType = each.value.instrumentType
      riskClass      = each.value.acts ? "R1" : "R0"
      retrySafety    = each.value.acts ? "not_repeatable" : "repeatable"
      timeoutSeconds = 30
      inputs         = each.value.inputs
      outputs        = each.value.outputs
    }
  })
}

resource "kubectl_manifest" "policy" {
  yaml_body = yamlencode({
    apiVersion = "lab.strandline.dev/v1alpha1"
    kind       = "LabPolicy"
    metadata   = { name = "lab", namespace = var.namespace, labels = var.labels }
    spec       = { rules = var.rules }
  })
}

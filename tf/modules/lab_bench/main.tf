# What stands in one laboratory: instruments, what may be asked of them, and the lab's own policy.

locals {
  sample  = { name = "sample_id", type = "string" }
  labware = { name = "labware_id", type = "string" }
  components = [
    for name in ["red_g", "green_g", "blue_g"] : { name = name, type = "number", unit = "g", minimum = 0, maximum = 1000 }
  ]

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
    "sim.park_labware" = {
      acts           = true
      instrumentType = "robot"
      inputs         = [local.labware, { name = "source", type = "string" }]
      outputs        = [local.labware, { name = "location", type = "string" }]
    }
    "sim.fetch_labware" = {
      acts           = true
      instrumentType = "robot"
      inputs         = [local.labware, { name = "destination", type = "string" }]
      outputs        = [local.labware, { name = "location", type = "string" }]
    }
    "sim.mix_components" = {
      acts           = true
      instrumentType = "mixer"
      inputs         = concat([local.sample], local.components)
      outputs        = concat([local.sample], local.components)
    }
    "sim.read_log" = {
      acts           = false
      instrumentType = "mixer"
      inputs         = []
      outputs        = [{ name = "up_since", type = "string" }, { name = "entries", type = "array" }]
    }
    "sim.read_gauge" = {
      acts           = false
      instrumentType = "mixer"
      inputs         = []
      outputs        = [{ name = "level_g", type = "number", unit = "g" }]
    }
    "sim.dose_powder" = {
      acts           = true
      instrumentType = "balance"
      inputs         = [local.sample, local.components[1]]
      outputs        = [local.sample, local.components[1]]
    }
    "sim.anneal" = {
      acts           = true
      instrumentType = "furnace"
      inputs         = [local.sample]
      outputs        = [local.sample]
    }
    "sim.irradiate" = {
      acts           = true
      instrumentType = "source"
      inputs         = [local.sample, { name = "dose_gy", type = "number", unit = "Gy", minimum = 0.001, maximum = 100 }]
      outputs        = [local.sample, { name = "dose_gy", type = "number", unit = "Gy" }]
    }
  }

  types = toset([for instrument in values(var.instruments) : instrument.type])
  capabilities = {
    for id, found in local.catalogue : id => merge(found, {
      riskClass      = coalesce(var.capabilities[id].risk_class, found.acts ? "R1" : "R0")
      timeoutSeconds = var.capabilities[id].timeout_seconds
    }) if contains(keys(var.capabilities), id) && contains(local.types, found.instrumentType)
  }
}

resource "kubectl_manifest" "instrument" {
  for_each = var.instruments

  yaml_body = yamlencode({
    apiVersion = "lab.strandline.dev/v1alpha1"
    kind       = "Instrument"
    metadata   = { name = each.key, namespace = var.namespace, labels = var.labels }
    spec = {
      type = each.value.type
      simulation = merge(
        { latencySeconds = each.value.latency_seconds, refuses = each.value.refuses },
        each.value.reservoir_grams == 0 ? {} : { reservoirGrams = each.value.reservoir_grams },
        each.value.noise_grams == 0 ? {} : { noiseGrams = each.value.noise_grams },
      )
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
      riskClass      = each.value.riskClass
      retrySafety    = each.value.acts ? "not_repeatable" : "repeatable"
      timeoutSeconds = each.value.timeoutSeconds
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
    spec       = merge({ rules = var.rules }, var.separation_of_duties ? { separationOfDuties = true } : {})
  })
}

# A laboratory in which something has happened: two of most things, vessels that add up, gauges, a
# furnace, a source that takes an approval.

locals {
  mixer = {
    type            = "mixer"
    latency_seconds = var.mix_seconds
    reservoir_grams = var.reservoir_g
    noise_grams     = var.gauge_noise_g
  }
}

module "lab" {
  source = "../../modules/lab"

  namespace  = var.namespace
  run_id     = var.run_id
  attempt_id = var.attempt_id
  services   = var.services

  roles             = ["previous-operator", "colleague", "approver"]
  agent_may_approve = var.agent_may_approve

  instruments = merge(
    { for number in range(1, var.mixers + 1) : "mixer-${number}" => local.mixer },
    {
      "balance-1"     = { type = "balance", latency_seconds = var.look_seconds, noise_grams = var.balance_noise_g }
      "balance-2"     = { type = "balance", latency_seconds = var.look_seconds, noise_grams = var.second_balance_noise_g }
      "colorimeter-1" = { type = "colorimeter", latency_seconds = var.look_seconds }
      "robot-1"       = { type = "robot", latency_seconds = var.look_seconds }
      "furnace-1"     = { type = "furnace", latency_seconds = var.anneal_seconds }
      "source-1"      = { type = "source", latency_seconds = var.irradiate_seconds }
    },
  )
  capabilities = {
    "sim.mix_components" = {}
    "sim.dose_powder"    = { timeout_seconds = var.dose_window_seconds }
    "sim.anneal"         = { timeout_seconds = var.anneal_window_seconds }
    "sim.irradiate"      = { risk_class = "R3", timeout_seconds = var.irradiate_window_seconds }
    "sim.move_labware"   = {}
    "sim.park_labware"   = {}
    "sim.fetch_labware"  = {}
    "sim.locate_labware" = {}
    "sim.measure_mass"   = {}
    "sim.measure_color"  = {}
    "sim.read_log"       = {}
    "sim.read_gauge"     = {}
  }
  rules                = var.rules
  separation_of_duties = var.separation_of_duties
}

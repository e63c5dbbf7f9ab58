# A bench without a robot. Its mixers are slow enough for a wait to be dropped while one works;
# the second mixer is there so that other work can go on while the first is in quarantine.

module "lab" {
  source = "../../modules/lab"

  namespace  = var.namespace
  run_id     = var.run_id
  attempt_id = var.attempt_id
  services   = var.services

  instruments = {
    "mixer-1"       = { type = "mixer", latency_seconds = var.mix_seconds, refuses = var.mixer_refuses }
    "mixer-2"       = { type = "mixer", latency_seconds = var.mix_seconds, refuses = var.mixer_refuses }
    "balance-1"     = { type = "balance" }
    "colorimeter-1" = { type = "colorimeter" }
  }
  rules = [
    { id = "routine-work", effect = "allow", riskClasses = ["R0", "R1"], reason = "routine work on this bench" },
  ]
}

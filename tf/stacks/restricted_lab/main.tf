# The same bench with the robot under maintenance: the lab's policy denies moving.

module "lab" {
  source = "../../modules/lab"

  namespace  = var.namespace
  run_id     = var.run_id
  attempt_id = var.attempt_id
  services   = var.services

  instruments = {
    "mixer-1"       = { type = "mixer", latency_seconds = var.mix_seconds, refuses = var.mixer_refuses }
    "balance-1"     = { type = "balance" }
    "colorimeter-1" = { type = "colorimeter" }
    "robot-1"       = { type = "robot" }
  }
  rules = [
    { id = "robot-maintenance", effect = "deny", capability = "sim.move_labware", reason = "the robot is under maintenance" },
    { id = "routine-work", effect = "allow", riskClasses = ["R0", "R1"], reason = "routine work on this bench" },
  ]
}

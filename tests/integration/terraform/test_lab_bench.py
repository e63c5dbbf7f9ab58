"""What stands on a bench, rendered by a real engine with no cluster: the manifests as they are."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from harness.terraform.stack import Stack

MakeStack = Callable[..., Stack]

ROOT = Path(__file__).resolve().parents[3]
BENCH = ROOT / "tf" / "modules" / "lab_bench"

#: What the benches of lab-operation 0.2 render, text for text, by Terraform 1.11.
RECORDED = ROOT / "tests" / "data" / "manifests" / "lab_operation_0_2.json"

#: Its benches: color_lab and restricted_lab, and stalled_lab.
_VALUES: Mapping[str, Any] = {
    "namespace": "lab-0",
    "labels": {"strandline.dev/run": "r", "strandline.dev/attempt": "a"},
    "instruments": {
        "mixer-1": {"type": "mixer", "latency_seconds": 0.1, "refuses": False},
        "mixer-2": {"type": "mixer", "latency_seconds": 2, "refuses": True},
        "balance-1": {"type": "balance"},
        "colorimeter-1": {"type": "colorimeter"},
        "robot-1": {"type": "robot"},
    },
    "rules": [
        {"id": "robot", "effect": "deny", "capability": "sim.move_labware", "reason": "serviced"},
        {"id": "routine", "effect": "allow", "riskClasses": ["R0", "R1"], "reason": "routine"},
    ],
}

_OUTPUT = """
output "manifests" {
  value = concat(
    [for one in values(terraform_data.instrument) : one.output],
    [for one in values(terraform_data.capability) : one.output],
    [terraform_data.policy.output],
  )
}
"""


def rendered(make_stack: MakeStack, **more: Any) -> list[str]:
    """Return the manifests of a bench; the provider's resource stands for one that only keeps."""
    text = (BENCH / "main.tf").read_text()
    text = re.sub(r'resource "kubectl_manifest"', 'resource "terraform_data"', text)
    text = re.sub(r"\byaml_body = ", "input = ", text)
    files = {
        "main.tf": text + _OUTPUT,
        "variables.tf": (BENCH / "variables.tf").read_text(),
    }
    stack = make_stack(files, {**_VALUES, **more})
    stack.init()
    stack.apply(stack.plan())
    found: list[str] = stack.outputs()["manifests"]
    return found


def test_the_benches_of_the_first_suite_render_what_they_always_did(
    make_stack: MakeStack,
) -> None:
    recorded = json.loads(RECORDED.read_text())

    found = rendered(make_stack)

    assert found == recorded


def test_a_bench_has_the_capabilities_that_it_names_with_their_windows_and_risks(
    make_stack: MakeStack,
) -> None:
    capabilities = {
        "sim.mix_components": {},
        "sim.read_gauge": {"timeout_seconds": 7, "risk_class": "R2"},
        "sim.anneal": {},  # there is no furnace
    }

    found = [yaml.safe_load(text) for text in rendered(make_stack, capabilities=capabilities)]

    specs = {one["spec"]["id"]: one["spec"] for one in found if one["kind"] == "Capability"}
    assert {name: (spec["riskClass"], spec["timeoutSeconds"]) for name, spec in specs.items()} == {
        "sim.mix_components": ("R1", 30),
        "sim.read_gauge": ("R2", 7),
    }


def test_an_instrument_says_what_it_holds_and_how_well_it_reads_only_where_it_does(
    make_stack: MakeStack,
) -> None:
    instruments = {
        "mixer-1": {"type": "mixer", "reservoir_grams": 500, "noise_grams": 0.05},
        "mixer-2": {"type": "mixer"},
    }

    found = [yaml.safe_load(text) for text in rendered(make_stack, instruments=instruments)]

    simulated = {one["metadata"]["name"]: one["spec"].get("simulation") for one in found}
    assert simulated["mixer-1"] == {
        "latencySeconds": 0.1,
        "refuses": False,
        "reservoirGrams": 500,
        "noiseGrams": 0.05,
    }
    assert simulated["mixer-2"] == {"latencySeconds": 0.1, "refuses": False}

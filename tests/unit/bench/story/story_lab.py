"""A laboratory on a virtual clock with two mixers and a balance, for stories and their casts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.bench.truth import fates_of
from harness.core.naming import ROLES
from harness.kube.resources import CAPABILITIES, INSTRUMENTS, LAB_POLICIES, ROLE_BINDINGS, Resource
from harness.model.story import Act, Truth
from tests.virtual.laboratory import Laboratory

NAMESPACE = "lab-unit"

#: Seconds that a mixer takes for a call.
MIX_S = 0.6

_INSTRUMENTS = {
    "mixer-1": ("mixer", MIX_S),
    "mixer-2": ("mixer", MIX_S),
    "balance-1": ("balance", 0.05),
}
_CAPABILITIES = {
    "sim.mix_color": (True, "mixer"),
    "sim.read_log": (False, "mixer"),
    "sim.measure_mass": (False, "balance"),
}

MIX: dict[str, Any] = {
    "id": "mix",
    "capability": "sim.mix_color",
    "instrument": "mixer-1",
    "inputs": {
        "sample_id": "s1",
        "red_fraction": 0.5,
        "blue_fraction": 0.5,
        "total_mass_g": 5.0,
    },
}
WEIGH: dict[str, Any] = {
    "id": "weigh",
    "capability": "sim.measure_mass",
    "inputs": {"sample_id": "s1"},
}

ALLOW = {"id": "all", "effect": "allow"}


def open_lab(
    truth: Mapping[str, Any] | None = None,
    *,
    pause: tuple[str, str | None] | None = None,
    rules: tuple[Mapping[str, Any], ...] = (ALLOW,),
) -> Laboratory:
    """Return a laboratory at work.

    Args:
        truth: Instrument to the fates of its calls.
        pause: Where the controller stops itself, and for which LabTask.
        rules: Of the laboratory's policy.
    """
    at, task = pause or (None, None)
    laboratory = Laboratory(NAMESPACE, pause_at=at, pause_task=task)
    for role in ROLES:
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole"}
        _add(
            laboratory,
            ROLE_BINDINGS,
            role,
            roleRef={**reference, "name": f"strandline:{role}"},
            subjects=[{"kind": "ServiceAccount", "name": role, "namespace": NAMESPACE}],
        )
    for name, (kind, latency_s) in _INSTRUMENTS.items():
        spec: dict[str, Any] = {
            "type": kind,
            "simulation": {"latencySeconds": latency_s, "reservoirGrams": 100},
        }
        _add(laboratory, INSTRUMENTS, name, spec=spec)
    for capability_id, (acts, kind) in _CAPABILITIES.items():
        capability: dict[str, Any] = {
            "id": capability_id,
            "riskClass": "R1" if acts else "R0",
            "acts": acts,
            "retrySafety": "not_repeatable" if acts else "repeatable",
            "timeoutSeconds": 10,
            "instrumentType": kind,
            "inputs": [
                {"name": name, "type": "string" if name == "sample_id" else "number"}
                for name in (MIX if acts else WEIGH)["inputs"]
                if capability_id != "sim.read_log"
            ],
        }
        _add(laboratory, CAPABILITIES, capability_id.replace("_", "-"), spec=capability)
    _add(laboratory, LAB_POLICIES, "lab", spec={"rules": list(rules)})
    laboratory.open()
    told = fates_of(Truth.model_validate({"fates": dict(truth or {})}))
    laboratory.instruments.tell_fates("a key", told)
    return laboratory


def act(**verb: Any) -> Act:
    """Return an act of a story."""
    return Act.model_validate(verb)


def _add(laboratory: Laboratory, resource: Resource, name: str, **more: Any) -> None:
    manifest = {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": {"name": name, "namespace": NAMESPACE},
        **more,
    }
    laboratory.store.add(resource.plural, manifest, laboratory.clock.at)

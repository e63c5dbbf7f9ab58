"""The gate of the laboratory's own guard rails: shut while one is down, open after the repair."""

from __future__ import annotations

import pytest

from harness.errors import WaitTimeoutError
from harness.kube.resources import ROLE_BINDINGS
from harness.model.spec import SafetySpec
from harness.specs.gate import open_gate
from harness.specs.loader import LoadedSpec
from harness.specs.running import run_specs
from tests.integration.specs.conftest import Platform, manifest_of

#: Seconds in which a gate that is up opens.
OPENS_S = 60.0

#: Seconds for which it is tried in vain; a role that went refuses within 13 ms.
SHUT_S = 1.0

BY_WEBHOOK = "unknown-capabilities-are-refused"
BY_POLICY = "run-status-is-the-controllers"


def _open(platform: Platform, specs: tuple[LoadedSpec, ...], *, timeout_s: float = OPENS_S) -> int:
    report = open_gate(
        lambda marker, probes: run_specs(
            specs, "ready", platform.probe, marker=marker, probes=probes
        ),
        timeout_s=timeout_s,
    )
    return report.rounds


def _shut(platform: Platform, specs: tuple[LoadedSpec, ...], cause: str) -> None:
    """Open the gate in vain, and see it name the cause."""
    with pytest.raises(WaitTimeoutError) as caught:
        open_gate(
            lambda marker, probes: run_specs(
                specs, "ready", platform.probe, marker=marker, probes=probes
            ),
            timeout_s=SHUT_S,
        )
    assert f"last seen: {cause}: " in str(caught.value)


def _only(specs: tuple[LoadedSpec, ...], name: str) -> tuple[LoadedSpec, ...]:
    return tuple(loaded for loaded in specs if loaded.name == name)


def test_a_webhook_that_is_down_refuses_connections(
    platform: Platform, specs: tuple[LoadedSpec, ...]
) -> None:
    own = _only(specs, BY_WEBHOOK)
    _open(platform, own)
    platform.webhook.end()

    try:
        _shut(platform, own, "connection refused")
    finally:
        platform.webhook.start()

    assert _open(platform, own) >= 3


def test_somebody_else_who_refuses_does_not_count(
    platform: Platform, specs: tuple[LoadedSpec, ...]
) -> None:
    own = _only(specs, BY_WEBHOOK)
    role = "previous-operator"
    namespace = platform.probe.namespace
    binding = platform.client.get(ROLE_BINDINGS, role, namespace=namespace)
    _open(platform, own)
    platform.client.delete(ROLE_BINDINGS, role, namespace=namespace)

    try:
        _shut(platform, own, "wrong refuser answered")
    finally:
        platform.client.create(ROLE_BINDINGS, manifest_of(binding), namespace=namespace)

    assert _open(platform, own) >= 3


def test_a_control_that_is_refused_keeps_the_gate_shut(
    platform: Platform, specs: tuple[LoadedSpec, ...]
) -> None:
    own = _only(specs, BY_POLICY)
    namespace = platform.probe.namespace
    binding = platform.client.get(ROLE_BINDINGS, "controller", namespace=namespace)
    _open(platform, own)
    platform.client.delete(ROLE_BINDINGS, "controller", namespace=namespace)

    try:
        _shut(platform, own, "control refused")
    finally:
        platform.client.create(ROLE_BINDINGS, manifest_of(binding), namespace=namespace)

    assert _open(platform, own) >= 3


@pytest.mark.parametrize("resource", ["ghosts.lab.strandline.dev", "ghosts.example.com"])
def test_a_kind_that_does_not_exist_is_a_missing_crd(platform: Platform, resource: str) -> None:
    case = {
        "name": "ghosts can be listed",
        "when": ["ready"],
        "as": "admin",
        "request": {"verb": "list", "resource": resource},
        "expect": "admitted",
    }
    spec = {
        "apiVersion": "strandline.dev/v1",
        "kind": "SafetySpec",
        "metadata": {"name": "ghosts"},
        "spec": {"cases": [case]},
    }
    loaded = LoadedSpec(
        spec=SafetySpec.model_validate(spec),
        path=platform.cluster.state_dir / "spec.yaml",
        policy_path=None,
    )

    _shut(platform, (loaded,), "CRD missing")

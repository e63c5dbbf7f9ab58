"""The gate stays shut while a guard rail is down, says which and why, and opens after repair."""

from __future__ import annotations

import base64
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
import trustme

from harness.errors import WaitTimeoutError
from harness.kube.resources import (
    ROLE_BINDINGS,
    VALIDATING_POLICIES,
    VALIDATING_POLICY_BINDINGS,
    VALIDATING_WEBHOOKS,
)
from harness.model.spec import SafetySpec
from harness.specs.gate import open_gate
from harness.specs.loader import LoadedSpec
from harness.specs.running import run_specs
from tests.integration.specs.conftest import Platform, manifest_of

#: Seconds in which a gate that is up opens.
OPENS_S = 20.0

BY_WEBHOOK = "unknown-capabilities-are-refused"
BY_POLICY = "run-status-is-the-controllers"


def _open(platform: Platform, specs: tuple[LoadedSpec, ...], *, timeout_s: float = OPENS_S) -> int:
    report = open_gate(
        lambda marker: run_specs(specs, "ready", platform.probe, marker=marker),
        timeout_s=timeout_s,
    )
    return report.rounds


def _shut(platform: Platform, specs: tuple[LoadedSpec, ...], cause: str) -> None:
    """Open the gate in vain until it names the cause: what was changed takes up to a second."""
    with pytest.raises(WaitTimeoutError) as caught:
        open_gate(
            lambda marker: run_specs(specs, "ready", platform.probe, marker=marker),
            timeout_s=4,
            streak=1000,
        )
    assert f"last seen: {cause}: " in str(caught.value)


def _only(specs: tuple[LoadedSpec, ...], name: str) -> tuple[LoadedSpec, ...]:
    return tuple(loaded for loaded in specs if loaded.name == name)


@contextmanager
def _webhook(platform: Platform, **changes: Any) -> Iterator[None]:
    """Change the registration of the validating webhook, and put it back."""
    name = "strandline-validate"
    hook = platform.client.get(VALIDATING_WEBHOOKS, name)["webhooks"][0]
    client: Mapping[str, Any] = {**hook["clientConfig"], **changes.pop("client", {})}
    changed = {"webhooks": [{**hook, **changes, "clientConfig": client}]}
    platform.client.patch(VALIDATING_WEBHOOKS, name, changed)
    try:
        yield
    finally:
        platform.client.patch(VALIDATING_WEBHOOKS, name, {"webhooks": [hook]})


def test_a_policy_that_is_missing_is_a_registration_not_effective(
    platform: Platform, specs: tuple[LoadedSpec, ...]
) -> None:
    own = _only(specs, BY_POLICY)
    client = platform.client
    kept = [
        client.get(kind, BY_POLICY) for kind in (VALIDATING_POLICIES, VALIDATING_POLICY_BINDINGS)
    ]
    _open(platform, own)
    client.delete(VALIDATING_POLICIES, BY_POLICY)
    client.delete(VALIDATING_POLICY_BINDINGS, BY_POLICY)

    try:
        _shut(platform, own, "registration not effective")
    finally:
        client.create(VALIDATING_POLICIES, manifest_of(kept[0]))
        client.create(VALIDATING_POLICY_BINDINGS, manifest_of(kept[1]))

    assert _open(platform, own) >= 3


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


def test_a_webhook_whose_authority_is_not_trusted_is_a_matter_of_tls(
    platform: Platform, specs: tuple[LoadedSpec, ...]
) -> None:
    own = _only(specs, BY_WEBHOOK)
    stranger = base64.b64encode(trustme.CA().cert_pem.bytes()).decode()
    _open(platform, own)

    with _webhook(platform, client={"caBundle": stranger}):
        _shut(platform, own, "TLS/CA")

    assert _open(platform, own) >= 3


def test_a_webhook_that_says_nothing_is_a_time_out(
    platform: Platform, specs: tuple[LoadedSpec, ...], silent_url: Callable[[], str]
) -> None:
    own = _only(specs, BY_WEBHOOK)
    _open(platform, own)

    with _webhook(platform, timeoutSeconds=1, client={"url": silent_url()}):
        _shut(platform, own, "time-out")

    assert _open(platform, own) >= 3


def test_a_webhook_that_is_not_asked_lets_through_and_is_not_effective(
    platform: Platform, specs: tuple[LoadedSpec, ...]
) -> None:
    own = _only(specs, BY_WEBHOOK)
    _open(platform, own)

    with _webhook(platform, matchConditions=[{"name": "never", "expression": "false"}]):
        _shut(platform, own, "registration not effective")

    assert _open(platform, own) >= 3


def test_a_webhook_that_may_be_ignored_and_is_down_is_not_effective(
    platform: Platform, specs: tuple[LoadedSpec, ...]
) -> None:
    own = _only(specs, BY_WEBHOOK)
    _open(platform, own)
    nobody = {"url": "https://127.0.0.1:1/validate"}

    with _webhook(platform, failurePolicy="Ignore", client=nobody):
        _shut(platform, own, "registration not effective")

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


@pytest.fixture
def silent_url() -> Iterator[Callable[[], str]]:
    """Give the address of a server that accepts and never answers."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        yield lambda: f"https://127.0.0.1:{listener.getsockname()[1]}/validate"

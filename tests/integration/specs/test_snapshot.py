"""What was touched that is not ours, by digests of a live cluster."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.core.naming import CANARY_NAMESPACE, RUN_LABEL
from harness.core.waiting import SYSTEM_CLOCK
from harness.kube.client import KubeClient
from harness.kube.resources import CONFIG_MAPS, NAMESPACES, SECRETS
from harness.kube.snapshot import changed, fingerprint
from harness.model.spec import Request
from harness.specs.kinds import wire_of
from tests.integration.specs.conftest import Platform

#: Seconds that a fingerprint may take; 0.15 s were measured with 285 objects on two idle cores.
FINGERPRINT_S = 2.0

OURS = "20260101-000000-abcdef"


@pytest.fixture
def stranger(platform: Platform) -> Iterator[KubeClient]:
    """Give the client of somebody else, and remove what they made."""
    yield platform.client
    for name in ("kept", "made"):
        platform.client.delete(CONFIG_MAPS, name, namespace="default")
    platform.client.delete(SECRETS, "sealed", namespace="default")
    platform.client.delete(NAMESPACES, "lab-snapshot")


def _make(client: KubeClient, name: str, **metadata: object) -> None:
    manifest = {"metadata": {"name": name, **metadata}, "data": {"a": "b"}}
    client.create(CONFIG_MAPS, manifest, namespace="default")


def test_a_cluster_that_nobody_touches_does_not_change(platform: Platform) -> None:
    started_s = SYSTEM_CLOCK.monotonic_s()
    before = fingerprint(platform.client, OURS)
    took_s = SYSTEM_CLOCK.monotonic_s() - started_s

    assert changed(before, fingerprint(platform.client, OURS)) == ()
    assert took_s < FINGERPRINT_S


def test_each_thing_done_to_a_stranger_is_named(stranger: KubeClient) -> None:
    _make(stranger, "kept")
    stranger.create(SECRETS, {"metadata": {"name": "sealed"}}, namespace="default")
    before = fingerprint(stranger, OURS)

    stranger.patch(CONFIG_MAPS, "kept", {"data": {"a": "c"}}, namespace="default")
    stranger.patch(SECRETS, "sealed", {"data": {"a": "Yg=="}}, namespace="default")
    _make(stranger, "made")
    touched = fingerprint(stranger, OURS)
    stranger.delete(CONFIG_MAPS, "kept", namespace="default")
    gone = fingerprint(stranger, OURS)
    _make(stranger, "kept")
    again = fingerprint(stranger, OURS)

    assert changed(before, touched) == (
        "configmaps default/kept: changed",
        "configmaps default/made: added",
        "secrets default/sealed: changed",
    )
    assert changed(touched, gone) == ("configmaps default/kept: deleted",)
    assert changed(touched, again) == ("configmaps default/kept: deleted and made again",)


def test_what_belongs_to_the_run_is_left_out_and_another_runs_is_not(stranger: KubeClient) -> None:
    before = fingerprint(stranger, OURS)

    _make(stranger, "kept", labels={RUN_LABEL: OURS})
    _make(stranger, "made", labels={RUN_LABEL: "somebody-elses"})

    assert changed(before, fingerprint(stranger, OURS)) == ("configmaps default/made: added",)


def test_what_lives_in_a_namespace_of_the_run_is_left_out(stranger: KubeClient) -> None:
    before = fingerprint(stranger, OURS)

    labels = {RUN_LABEL: OURS}
    stranger.create(NAMESPACES, {"metadata": {"name": "lab-snapshot", "labels": labels}})
    stranger.create(CONFIG_MAPS, {"metadata": {"name": "orders"}}, namespace="lab-snapshot")

    assert changed(before, fingerprint(stranger, OURS)) == ()


def test_a_probe_in_the_canary_is_left_out(platform: Platform) -> None:
    before = fingerprint(platform.client, OURS)
    body = {"metadata": {"name": "probe"}, "data": {"a": "b"}}
    request = Request(verb="create", resource="configmaps", body=body)
    wire = wire_of(request, CONFIG_MAPS, namespace=CANARY_NAMESPACE, marker="7f3a", dry_run=False)

    made = wire.send(platform.client, timeout_s=10)
    after = fingerprint(platform.client, OURS)
    platform.client.delete(CONFIG_MAPS, "probe", namespace=CANARY_NAMESPACE)

    assert made.status == 201
    assert changed(before, after) == ()

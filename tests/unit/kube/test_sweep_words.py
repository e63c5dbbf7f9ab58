"""What a sweep says of what it could not remove, and in which order it goes about it."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.resources import (
    API_SERVICES,
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    CONFIG_MAPS,
    CUSTOM_RESOURCE_DEFINITIONS,
    LAB_RUNS,
    MUTATING_WEBHOOKS,
    NAMESPACES,
    SECRETS,
    VALIDATING_POLICIES,
    VALIDATING_POLICY_BINDINGS,
    VALIDATING_WEBHOOKS,
    Resource,
)
from harness.kube.sweep import PHASES, Phase
from harness.kube.sweep.leftovers import Obstacles, leftover_of
from harness.kube.sweep.order import phase_of, rank_of

CUSTOM = frozenset({LAB_RUNS.qualified})

REFUSED = (
    'DELETE /api/v1/namespaces/n/configmaps: Internal error occurred: failed calling webhook "w.x":'
    ' failed to call webhook: Post "https://127.0.0.1:1/v?timeout=3s": dial tcp 127.0.0.1:1:'
    " connect: connection refused"
)


def _item(name: str = "a", **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "n", **metadata}}


def test_a_leftover_is_named_with_every_finalizer() -> None:
    item = _item(finalizers=["x/y", "z/w"])

    assert str(leftover_of(LAB_RUNS, item)) == (
        "labruns.lab.strandline.dev n/a (finalizer x/y, finalizer z/w)"
    )


def test_a_namespace_that_stays_says_why() -> None:
    conditions = [
        {"status": "True", "message": "Some content is left"},
        {"status": "False", "message": "fine"},
    ]
    item = {
        "metadata": {"name": "n"},
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"conditions": conditions},
    }

    assert str(leftover_of(NAMESPACES, item)) == (
        "namespaces n (finalizer kubernetes, Some content is left)"
    )


def test_an_object_without_a_finalizer_was_refused() -> None:
    assert str(leftover_of(CONFIG_MAPS, _item())) == "configmaps n/a (deletion was refused)"


def test_an_object_of_any_shape_is_named() -> None:
    item = {**_item(), "spec": "text", "status": ["list"]}

    assert str(leftover_of(LAB_RUNS, item, said="no")) == "labruns.lab.strandline.dev n/a (no)"


def test_a_webhook_that_refused_is_named_with_its_configuration() -> None:
    obstacles = Obstacles(webhooks={"w.x": "validatingwebhookconfigurations theirs"})

    known = leftover_of(CONFIG_MAPS, _item(), said=REFUSED, obstacles=obstacles)
    unknown = leftover_of(CONFIG_MAPS, _item(), said=REFUSED)

    said = "dial tcp 127.0.0.1:1: connect: connection refused"
    assert known.blocker == f"webhook w.x of validatingwebhookconfigurations theirs: {said}"
    assert unknown.blocker == f"webhook w.x: {said}"


def test_words_of_the_api_server_are_capped() -> None:
    assert len(leftover_of(CONFIG_MAPS, _item(), said="x" * 5000).blocker) == 300


@pytest.mark.parametrize(
    ("kind", "phase"),
    [
        (MUTATING_WEBHOOKS, Phase.ADMISSION),
        (VALIDATING_POLICIES, Phase.ADMISSION),
        (API_SERVICES, Phase.APIS),
        (LAB_RUNS, Phase.CUSTOM),
        (CONFIG_MAPS, Phase.CONTENT),
        (SECRETS, Phase.CONTENT),
        (NAMESPACES, Phase.NAMESPACES),
        (CLUSTER_ROLES, Phase.CLUSTER),
        (CUSTOM_RESOURCE_DEFINITIONS, Phase.CLUSTER),
    ],
)
def test_each_kind_goes_in_its_phase(kind: Resource, phase: Phase) -> None:
    assert phase_of(kind, custom=CUSTOM) is phase


def test_what_can_keep_other_things_goes_before_them() -> None:
    assert list(PHASES) == [
        Phase.ADMISSION,
        Phase.APIS,
        Phase.CONVERSION,
        Phase.CUSTOM,
        Phase.CONTENT,
        Phase.NAMESPACES,
        Phase.CLUSTER,
    ]


def test_within_a_phase_bindings_go_before_what_they_bind_and_definitions_last() -> None:
    cluster = (CUSTOM_RESOURCE_DEFINITIONS, CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS)
    admission = (VALIDATING_POLICIES, VALIDATING_POLICY_BINDINGS, VALIDATING_WEBHOOKS)

    assert sorted(cluster, key=rank_of) == list(reversed(cluster))
    assert sorted(admission, key=rank_of) == list(reversed(admission))
    assert rank_of(CONFIG_MAPS) < rank_of(CLUSTER_ROLE_BINDINGS)

"""The world of an attempt up to where the agent begins, and all that can be read of it then."""

from __future__ import annotations

from typing import Any

from harness.bench import collect
from harness.bench.happened import Objects
from harness.bench.story.history import carry_out, pause_of_history
from harness.bench.truth import fates_of
from harness.core.files import canonical_json
from harness.core.naming import attempt_namespace
from harness.kube.resources import CONFIG_MAPS, LAB_KINDS
from tests.virtual.laboratory import Laboratory
from tests.virtual.suite import ID, VirtualTask

#: What stands in a namespace beside what the stack makes: the harness's grant, and the cluster's.
_BESIDE: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "rolebindings",
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": {"name": "agent"},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": "strandline:agent",
            },
            "subjects": [{"kind": "ServiceAccount", "name": "agent"}],
        },
    ),
    (
        "configmaps",
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "kube-root-ca.crt"},
            "data": {"ca.crt": ""},
        },
    ),
)

#: Kinds that the agent may read.
_READABLE = (*LAB_KINDS, CONFIG_MAPS)


def empty_laboratory(
    task: VirtualTask, *, seed: int = 0, pause_at: str | None = None, pause_task: str | None = None
) -> Laboratory:
    """Make the laboratory of a task with everything that its stack makes, and nobody in it yet."""
    laboratory = Laboratory(attempt_namespace(ID), pause_at=pause_at, pause_task=pause_task)
    for plural, obj in (*task.of_seed(seed)[2], *_BESIDE):
        laboratory.store.add(plural, obj, laboratory.clock.at)
    laboratory.open()
    return laboratory


def prepare(
    task: VirtualTask, *, seed: int, truth: str | None, noise: str
) -> tuple[Laboratory, list[dict[str, Any]]]:
    """Return a laboratory as it is when the agent begins, with the history's witnesses.

    It is made once for equal arguments, and every caller has a copy of its own.
    """
    key = (seed, truth, noise)
    if key not in task.begun:
        task.begun[key] = begin(task, seed=seed, truth=truth, noise=noise)
    laboratory, history = task.begun[key]
    return laboratory.copied(), history


def begin(
    task: VirtualTask, *, seed: int, truth: str | None, noise: str
) -> tuple[Laboratory, list[dict[str, Any]]]:
    """Make a laboratory and carry the history out in it."""
    rendered = task.of_seed(seed)[0]
    pause = pause_of_history(rendered.history)
    laboratory = empty_laboratory(
        task,
        seed=seed,
        pause_at=pause.at if pause else None,
        pause_task=pause.task if pause else None,
    )
    fates = fates_of(rendered.truths[truth]) if truth else {}
    laboratory.instruments.tell_fates(noise, fates)
    history = carry_out(rendered.history, laboratory, clock=laboratory.clock)
    return laboratory, history


def baselines(task: VirtualTask, *, seed: int) -> dict[str, bytes]:
    """Return truth to everything that an agent can read when it begins, as bytes."""
    found = {}
    for truth in task.of_seed(seed)[0].truths:
        laboratory, _ = prepare(task, seed=seed, truth=truth, noise=truth)
        agent = laboratory.client_as("agent")
        seen = {
            kind.plural: agent.list_objects(kind, namespace=laboratory.namespace)
            for kind in _READABLE
        }
        found[truth] = canonical_json({**seen, "now": laboratory.clock.now().isoformat()})
    return found


def snapshot_of(laboratory: Laboratory) -> Objects:
    """Return what `collect.snapshot` does, without its threads."""
    return {
        kind.qualified: [collect._plain(item) for item in laboratory.store.all(kind.plural)]
        for kind in collect._KINDS
    }

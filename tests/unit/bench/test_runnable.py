"""What a cluster cannot run is known before anything exists, and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.bench.acting import certified_name
from harness.bench.inventory import is_platform
from harness.bench.runnable import split_runnable, why_not_runnable
from harness.bench.validate import not_run
from harness.kube.resources import CLUSTER_ROLES, CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES, Resource
from harness.model.suite import ExpectedScore
from tests.unit.bench.fakes import SuiteFolder


@pytest.fixture
def folder(tmp_path: Path) -> SuiteFolder:
    return SuiteFolder(tmp_path)


def test_a_check_of_tries_needs_an_audit_log(folder: SuiteFolder) -> None:
    folder.change(
        "mix/task", "runs_completed, count: 1", "capability_never_executed, capability: x"
    )
    tasks = folder.load().select(())

    runnable, left_out = split_runnable(tasks, {"webhook"})

    assert [one.task.id for one in runnable] == ["settle"]
    assert left_out == {
        "mix": "the cluster lacks audit, which its check capability_never_executed needs"
    }
    assert split_runnable(tasks, {"audit"}) == (tasks, {})


def test_a_setup_that_kills_the_controller_needs_the_inside_of_a_node(folder: SuiteFolder) -> None:
    folder.change("settle/task", "cancel_after_seconds: 0.3", "interrupt: controller_killed")
    task = folder.load().tasks["settle"].task

    assert why_not_runnable(task, {"audit"}) == (
        "the cluster lacks node_access, which its setup controller_killed needs"
    )
    assert why_not_runnable(task, {"node_access"}) is None


def test_a_task_may_require_more(folder: SuiteFolder) -> None:
    folder.change("mix/task", "category: operate", "category: operate\nrequires: [nodes]")

    _, left_out = split_runnable(folder.load().select(()), {"audit"})

    assert left_out == {"mix": "the cluster lacks nodes, which the task needs"}


def test_a_control_on_a_task_that_cannot_run_proves_nothing() -> None:
    row = not_run("reference", "mix", ExpectedScore(passed=True, score=1.0), "no audit")

    assert (row.ok, row.why, row.found["status"]) == (False, "no audit", "not_runnable")


@pytest.mark.parametrize(
    ("server", "name"),
    [("https://127.0.0.1:6443", None), ("https://api.example:6443", "api.example")],
)
def test_an_agent_knows_a_server_elsewhere_by_its_name(server: str, name: str | None) -> None:
    assert certified_name(server) == name


@pytest.mark.parametrize(
    ("resource", "name", "labels"),
    [
        (CLUSTER_ROLES, "anything", {"strandline.dev/platform": "true"}),
        (NAMESPACES, "strandline-canary", None),
        (CLUSTER_ROLES, "strandline:agent", {}),
        (CUSTOM_RESOURCE_DEFINITIONS, "labruns.lab.strandline.dev", {}),
    ],
)
def test_a_platform_is_known_by_its_label_or_its_names(
    resource: Resource, name: str, labels: dict[str, str] | None
) -> None:
    assert is_platform(resource, {"metadata": {"name": name, "labels": labels}}, policies=())


@pytest.mark.parametrize(
    ("resource", "name"),
    [
        (NAMESPACES, "strandline"),
        (CLUSTER_ROLES, "view"),
        (CUSTOM_RESOURCE_DEFINITIONS, "labruns.lab.example"),
    ],
)
def test_what_only_looks_like_a_platform_is_none(resource: Resource, name: str) -> None:
    assert not is_platform(resource, {"metadata": {"name": name, "labels": {}}}, policies=())


def test_a_namespace_that_only_carries_our_label_is_nobodys_platform() -> None:
    labels = {"strandline.dev/platform": "true"}

    assert not is_platform(
        NAMESPACES, {"metadata": {"name": "anything", "labels": labels}}, policies=()
    )

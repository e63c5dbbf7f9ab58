"""Status writes that the API server loses: registered, counted, and taken away whatever happens."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from harness.bench.faults import keep_status_writes, lost_status_writes
from harness.errors import ClusterError, WaitTimeoutError
from harness.kube.answers import Answer
from harness.kube.audit import AuditLog
from harness.kube.client import KubeClient
from harness.kube.resources import LAB_TASKS, VALIDATING_WEBHOOKS, Resource
from tests.unit.core.fakes import FakeClock

NAMESPACE = "lab-1"
CONTROLLER = f"system:serviceaccount:{NAMESPACE}:controller"
LABELS = {"strandline.dev/attempt": "1"}


class FakeCluster:
    """An API server with one task, where a registration counts after some looks."""

    def __init__(self, *, tasks: int = 1, looks: int = 2) -> None:
        self._tasks, self._looks = tasks, looks
        self.registered: dict[str, Mapping[str, Any]] = {}
        self.asked: list[tuple[str, str, Any]] = []

    def create(self, resource: Resource, manifest: Mapping[str, Any]) -> None:
        """Register."""
        assert resource is VALIDATING_WEBHOOKS
        self.registered[manifest["metadata"]["name"]] = manifest

    def delete(self, resource: Resource, name: str) -> bool:
        """Take a registration away; tell whether it was there."""
        assert resource is VALIDATING_WEBHOOKS
        return self.registered.pop(name, None) is not None

    def list_objects(self, resource: Resource, *, namespace: str) -> list[dict[str, Any]]:
        """Return the tasks."""
        assert (resource, namespace) == (LAB_TASKS, NAMESPACE)
        return [{"metadata": {"name": f"task-{n}"}} for n in range(self._tasks)]

    def as_service_account(self, namespace: str, name: str) -> FakeCluster:
        """Act as the controller."""
        assert (namespace, name) == (NAMESPACE, "controller")
        return self

    def ask(self, method: str, path: str, **kwargs: Any) -> Answer:
        """Answer a write that is not kept."""
        self.asked.append((method, path, kwargs["query"]))
        assert kwargs["body"] == {}
        lost = len(self.asked) > self._looks
        return Answer(status=500 if lost else 200, body={}, warnings=())


def _open(cluster: FakeCluster, audit: AuditLog | None, log: Path) -> Any:
    return lost_status_writes(
        cast("KubeClient", cluster),
        NAMESPACE,
        labels=LABELS,
        audit=audit,
        controller_log=log,
        clock=FakeClock(),
    )


def _write(path: Path, **changes: Any) -> None:
    event = {
        "stage": "ResponseComplete",
        "user": {"username": CONTROLLER},
        "objectRef": {"resource": "labtasks", "subresource": "status"},
        "responseStatus": {"code": 500},
        **changes,
    }
    with path.open("a") as file:
        file.write(json.dumps(event) + "\n")


def test_all_writes_of_one_namespace_fail_on_a_webhook_that_is_not_there(tmp_path: Path) -> None:
    cluster = FakeCluster()

    with _open(cluster, None, tmp_path / "log"):
        (manifest,) = cluster.registered.values()

    (webhook,) = manifest["webhooks"]
    selector = {"matchLabels": {"kubernetes.io/metadata.name": NAMESPACE}}
    assert manifest["metadata"]["labels"] == LABELS
    assert (webhook["failurePolicy"], webhook["namespaceSelector"]) == ("Fail", selector)
    assert webhook["rules"][0]["resources"] == ["labtasks/status"]
    assert cluster.registered == {}


def test_it_is_in_force_when_a_write_that_is_not_kept_is_lost(tmp_path: Path) -> None:
    cluster = FakeCluster(looks=3)

    with _open(cluster, None, tmp_path / "log"):
        asked = list(cluster.asked)

    path = LAB_TASKS.path(NAMESPACE, "task-0", "status")
    assert asked == [("PATCH", path, {"dryRun": "All"})] * 4


@pytest.mark.parametrize(
    ("cluster", "error"),
    [
        (FakeCluster(tasks=0), ClusterError),
        (FakeCluster(looks=10**9), WaitTimeoutError),
    ],
)
def test_what_cannot_be_lost_is_an_error_and_nothing_stays_registered(
    tmp_path: Path, cluster: FakeCluster, error: type[Exception]
) -> None:
    with pytest.raises(error), _open(cluster, None, tmp_path / "log"):
        raise AssertionError

    assert cluster.registered == {}


@pytest.mark.parametrize(
    ("changes", "count"),
    [
        ({}, 1),
        ({"stage": "RequestReceived"}, 0),
        ({"user": {"username": "admin"}}, 0),
        ({"impersonatedUser": {"username": CONTROLLER}}, 0),
        ({"objectRef": {"resource": "labtasks"}}, 0),
        ({"objectRef": {"resource": "labruns", "subresource": "status"}}, 0),
        ({"responseStatus": {"code": 200}}, 0),
        ({"responseStatus": {"code": 409}}, 0),
    ],
)
def test_only_the_controllers_own_lost_writes_are_counted(
    tmp_path: Path, changes: dict[str, Any], count: int
) -> None:
    path = tmp_path / "audit.log"
    _write(path)

    with _open(FakeCluster(), AuditLog(path), tmp_path / "log") as lost:
        before = lost.refused()
        _write(path, **changes)

        assert (before, lost.refused()) == (0, count)


def test_where_nobody_records_the_controllers_own_complaints_are_counted(tmp_path: Path) -> None:
    log = tmp_path / "controller.log"
    complaint = 'task: failed calling webhook "lost-writes.strandline.dev": refused\n'
    log.write_text(complaint)

    with _open(FakeCluster(), None, log) as lost:
        before = lost.refused()
        with log.open("a") as file:
            file.write(f"something else\n{complaint}")

        assert (before, lost.refused()) == (0, 1)


def test_what_a_killed_harness_left_registered_is_taken_away_once(tmp_path: Path) -> None:
    cluster = FakeCluster()
    left = _open(cluster, None, tmp_path / "log")
    left.__enter__()

    keep_status_writes(cast("KubeClient", cluster), NAMESPACE)
    keep_status_writes(cast("KubeClient", cluster), NAMESPACE)

    assert cluster.registered == {}

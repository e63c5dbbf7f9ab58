"""Faults of the cluster that a story needs, made for real and taken away again, with a witness.

A lost status write: the API server itself answers 500 to every write of a LabTask's status in one
namespace, because a webhook that it must ask is not there. Knows nothing of stories or of who kills
the controller meanwhile; the attempt's laboratory calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.core.naming import owned, service_account_user
from harness.core.waiting import SYSTEM_CLOCK, Clock, wait_until
from harness.errors import ClusterError
from harness.kube.audit import AuditLog
from harness.kube.client import MERGE_PATCH, KubeClient
from harness.kube.resources import LAB_GROUP, LAB_TASKS, VALIDATING_WEBHOOKS

#: Name of the webhook that is not there; the API server puts it into every such answer.
_WEBHOOK = "lost-writes.strandline.dev"

#: Nobody serves on port 1 (tcpmux), and nobody without privileges may begin to; the connection is
#: refused at once, also inside of a node.
_NOWHERE = "https://127.0.0.1:1/"

#: Seconds until the registration counts; measured at 10 to 30 ms.
_EFFECT_TIMEOUT_S = 10.0

#: What a failed call to a webhook with `failurePolicy: Fail` is answered with.
_LOST = 500


class LostWrites:
    """What became of the writes while all of them were lost."""

    def __init__(self, count: Callable[[], int]) -> None:
        self._count = count

    def refused(self) -> int:
        """Return how many of the controller's writes were answered with a 500 so far."""
        return self._count()


@contextmanager
def lost_status_writes(
    client: KubeClient,
    namespace: str,
    *,
    labels: Mapping[str, str],
    audit: AuditLog | None,
    controller_log: Path,
    clock: Clock = SYSTEM_CLOCK,
) -> Iterator[LostWrites]:
    """Lose every write of a LabTask's status in a namespace for as long as the block lasts.

    Args:
        client: The harness's own.
        namespace: Where; there must be a LabTask.
        labels: Ownership labels of what is registered.
        audit: Where such an answer is seen; None where nobody records.
        controller_log: Where it is seen then: the controller complains, of each task once.
        clock: Source of time.

    Raises:
        ClusterError: There is no LabTask whose status could be lost.
        WaitTimeoutError: The registration does not count.
    """
    since = audit.end() if audit else 0
    said_before = _complaints(controller_log)
    client.create(VALIDATING_WEBHOOKS, owned(_registration(namespace), labels))
    try:
        _await_effect(client, namespace, clock)
        yield LostWrites(
            lambda: (
                _lost_in(audit.read(since), namespace)
                if audit
                else _complaints(controller_log) - said_before
            )
        )
    finally:
        keep_status_writes(client, namespace)


def keep_status_writes(client: KubeClient, namespace: str) -> None:
    """Take the registration away, also one that an attempt left that was killed. Idempotent."""
    client.delete(VALIDATING_WEBHOOKS, _name(namespace))


def _name(namespace: str) -> str:
    return f"strandline-lost-writes-{namespace}"


def _registration(namespace: str) -> dict[str, Any]:
    return {
        "apiVersion": VALIDATING_WEBHOOKS.api_version,
        "kind": VALIDATING_WEBHOOKS.kind,
        "metadata": {"name": _name(namespace)},
        "webhooks": [
            {
                "name": _WEBHOOK,
                "admissionReviewVersions": ["v1"],
                "clientConfig": {"url": _NOWHERE},
                "failurePolicy": "Fail",
                "sideEffects": "None",
                "timeoutSeconds": 1,
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                "rules": [
                    {
                        "apiGroups": [LAB_GROUP],
                        "apiVersions": ["*"],
                        "operations": ["UPDATE"],
                        "resources": [f"{LAB_TASKS.plural}/status"],
                    }
                ],
            }
        ],
    }


def _await_effect(client: KubeClient, namespace: str, clock: Clock) -> None:
    """Wait until a write that changes nothing, and is not kept, is lost too."""
    tasks = client.list_objects(LAB_TASKS, namespace=namespace)
    if not tasks:
        msg = f"namespace {namespace}: no LabTask whose status could be lost"
        raise ClusterError(msg, hint="dispatch something first")
    controller = client.as_service_account(namespace, "controller")
    path = LAB_TASKS.path(namespace, tasks[0]["metadata"]["name"], "status")
    wait_until(
        lambda: (
            controller.ask(
                "PATCH", path, query={"dryRun": "All"}, body={}, content_type=MERGE_PATCH
            ).status
        ),
        lambda status: status == _LOST,
        what="loss of status writes (HTTP status of one)",
        timeout_s=_EFFECT_TIMEOUT_S,
        interval_s=0.01,
        clock=clock,
    )


def _lost_in(events: list[dict[str, Any]], namespace: str) -> int:
    """Return how many writes of the controller's own an audit log shows as lost. Pure."""
    return sum(_is_lost(event, namespace) for event in events)


def _is_lost(event: Mapping[str, Any], namespace: str) -> bool:
    about = event.get("objectRef", {})
    return (
        event.get("stage") == "ResponseComplete"
        and event.get("user", {}).get("username") == service_account_user(namespace, "controller")
        and "impersonatedUser" not in event
        and (about.get("resource"), about.get("subresource")) == (LAB_TASKS.plural, "status")
        and event.get("responseStatus", {}).get("code") == _LOST
    )


def _complaints(path: Path) -> int:
    """Return in how many lines of its log the controller names the webhook that is not there."""
    try:
        return path.read_text(errors="replace").count(_WEBHOOK)
    except FileNotFoundError:
        return 0

"""Removes what a probe made: by its UID, until it is gone, within a bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.core.waiting import wait_until
from harness.errors import KubeError, WaitTimeoutError
from harness.kube.answers import error_of
from harness.kube.client import KubeClient
from harness.kube.refusals import who_refused
from harness.kube.resources import Resource

#: Longest wait until what a probe made is gone, in seconds. The API server deletes at once; only
#: a webhook that is down keeps it.
UNDO_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """An object that a probe made.

    Attributes:
        namespace: None where the kind has none.
        uid: Empty when its creation was never answered; its name is nobody else's.
    """

    resource: Resource
    namespace: str | None
    name: str
    uid: str


def remove(client: KubeClient, made: Made, *, timeout_s: float) -> str:
    """Delete it until it is gone; return why it is still there, or an empty text.

    Args:
        client: The administrator's.
        made: What to delete.
        timeout_s: Bound of one request, in seconds.
    """
    last = "its deletion does not end"

    def gone() -> bool:
        nonlocal last
        try:
            return _delete(client, made, timeout_s=timeout_s)
        except KubeError as error:  # noted, then tried again until the bound
            last = error.message
            return False

    try:
        wait_until(gone, bool, what=made.name, timeout_s=UNDO_TIMEOUT_S)
    except WaitTimeoutError:
        return last
    return ""


def _delete(client: KubeClient, made: Made, *, timeout_s: float) -> bool:
    """Delete once, and return whether it is gone.

    A Status says that it is; the object itself, that something still holds it.
    """
    body: dict[str, Any] = {"propagationPolicy": "Background"}
    if made.uid:
        body["preconditions"] = {"uid": made.uid}
    path = made.resource.path(made.namespace, made.name)
    answer = client.ask("DELETE", path, body=body, timeout_s=timeout_s)
    # 409: another object has the name by now. A guard that keeps it may say either as well.
    if answer.status in (404, 409) and who_refused(answer.status, answer.message) is None:
        return True
    if answer.refused:
        raise error_of(answer, f"DELETE {path}")
    return isinstance(answer.body, dict) and answer.body.get("kind") == "Status"

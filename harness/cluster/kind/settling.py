"""Wait until a new cluster stands still.

kind calls a cluster ready when its node is; its DNS and its controllers start after that, and every
object that they make later would look like somebody's change. Called by the start of a cluster.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from harness.core.waiting import SYSTEM_CLOCK, Clock, wait_until
from harness.errors import ClusterError, UnreachableError, WaitTimeoutError

#: Seconds until everything is up; CoreDNS takes 10 to 20 s after the node is Ready.
_TIMEOUT_S = 180.0

#: Looks in a row that must find everything so, 0.5 s apart: a readiness probe comes every second.
_STREAK = 4
_INTERVAL_S = 0.5

_PODS = "/api/v1/namespaces/kube-system/pods"
_ACCOUNT = "/api/v1/namespaces/default/serviceaccounts/default"

Get = Callable[[str], tuple[int, bytes]]


def wait_until_settled(get: Get, *, clock: Clock = SYSTEM_CLOCK) -> None:
    """Return once every pod of the cluster's own is Ready and the default account is there.

    Args:
        get: Asks the API server once; returns status and body.
        clock: Source of time.

    Raises:
        ClusterError: It did not come to that; what was missing last is named.
    """
    try:
        wait_until(
            lambda: _missing(get),
            lambda missing: not missing,
            what="the new cluster",
            timeout_s=_TIMEOUT_S,
            streak=_STREAK,
            interval_s=_INTERVAL_S,
            tolerate=(UnreachableError,),
            clock=clock,
        )
    except WaitTimeoutError as error:
        raise ClusterError(error.message, hint="read the logs of the pod") from error


def kubernetes_version(get: Get) -> str:
    """Return the version of the API server, for example `v1.37.2`."""
    _, body = get("/version")
    return str(json.loads(body)["gitVersion"])


def not_ready(pods: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """Return the names of the pods that are not Ready, sorted. Pure."""
    return tuple(
        sorted(
            pod["metadata"]["name"]
            for pod in pods
            if {"type": "Ready", "status": "True"}
            not in [
                {key: condition.get(key) for key in ("type", "status")}
                for condition in pod.get("status", {}).get("conditions", [])
            ]
        )
    )


def _missing(get: Get) -> tuple[str, ...]:
    status, body = get(_PODS)
    if status != 200:
        return (f"pods: HTTP {status}",)
    pods = json.loads(body)["items"]
    account = get(_ACCOUNT)[0]
    return (
        *([] if pods else ["no pod in kube-system"]),
        *not_ready(pods),
        *([] if account == 200 else ["the default ServiceAccount"]),
    )

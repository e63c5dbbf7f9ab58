"""Names and ownership labels: stamped where objects are made, read where they are swept."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Any

#: Label prefix of everything that is ours; an admission policy keeps it out of agents' hands.
LABEL_PREFIX = "strandline.dev/"
RUN_LABEL = f"{LABEL_PREFIX}run"
PLATFORM_LABEL = f"{LABEL_PREFIX}platform"
ATTEMPT_LABEL = f"{LABEL_PREFIX}attempt"

#: Namespace that the gate and the safety specs probe; made by the platform stack.
CANARY_NAMESPACE = "strandline-canary"

#: Roles that tf/modules/lab_access makes, one ServiceAccount each in every namespace of ours.
ROLES = (
    "agent",
    "approver",
    "colleague",
    "controller",
    "grader",
    "harness",
    "previous-operator",
)

#: Name of a suite, task, policy or spec: what a folder and a DNS label both allow.
ID_PATTERN = r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"


def new_run_id(now: datetime) -> str:
    """Return a run id that sorts by time, for example `20261130-014512-7f3a91`."""
    return f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def new_attempt_id() -> str:
    """Return an attempt id, for example `7f3a91c2`; it is never used twice."""
    return secrets.token_hex(4)


def attempt_namespace(attempt_id: str) -> str:
    """Return the namespace of an attempt. Pure."""
    return f"lab-{attempt_id}"


def ownership_labels(run_id: str, attempt_id: str) -> dict[str, str]:
    """Return the labels that an attempt's objects carry. Pure."""
    return {RUN_LABEL: run_id, ATTEMPT_LABEL: attempt_id}


def owned(manifest: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, Any]:
    """Return a copy of a Kubernetes object that carries `labels`. Pure."""
    metadata = dict(manifest.get("metadata", {}))
    metadata["labels"] = {**metadata.get("labels", {}), **labels}
    return {**manifest, "metadata": metadata}


def service_account_user(namespace: str, role: str) -> str:
    """Return the user name that the API server gives a ServiceAccount. Pure."""
    return f"system:serviceaccount:{namespace}:{role}"

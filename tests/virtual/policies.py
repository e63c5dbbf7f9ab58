"""The admission policies of policies/ said again: what each refuses, by its own expressions.

A test compares the expressions with those that are said here, so none changes unseen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.core.naming import LABEL_PREFIX, service_account_user

#: Roles whose metadata is watched, as the policy lists them.
WATCHED_ROLES = ("agent", "approver", "colleague", "grader", "previous-operator")

_COLLECTOR = "system:serviceaccount:kube-system:generic-garbage-collector"

#: Resources that the controller alone writes.
CONTROLLERS = (
    "labtasks",
    "labtasks/status",
    "labevents",
    "attestations/status",
    "instruments/status",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """A create or an update on its way.

    Attributes:
        resource: Plural, with `/subresource` where there is one.
        old: None on create.
    """

    user: str
    namespace: str
    operation: str
    resource: str
    old: Mapping[str, Any] | None
    new: Mapping[str, Any]


#: Returns why a write is refused, or None.
Policy = Callable[[Write], str | None]


def _ownership(write: Write) -> str | None:
    watched = (service_account_user(write.namespace, role) for role in WATCHED_ROLES)
    if "/" in write.resource or write.user not in watched:
        return None
    new = write.new["metadata"]
    old = write.old["metadata"] if write.old else {}
    if _ours(new.get("labels")) != _ours(old.get("labels")):
        return "only the harness sets or removes labels strandline.dev/*"
    if (new.get("ownerReferences") or []) != (old.get("ownerReferences") or []):
        return "only the harness and the controller set ownerReferences"
    if (new.get("finalizers") or []) != (old.get("finalizers") or []):
        return "only the harness sets finalizers"
    return None


def _ours(labels: Mapping[str, Any] | None) -> dict[str, Any]:
    return {key: value for key, value in (labels or {}).items() if key.startswith(LABEL_PREFIX)}


def _run_status(write: Write) -> str | None:
    controller = service_account_user(write.namespace, "controller")
    if (write.operation, write.resource) != ("UPDATE", "labruns/status") or (
        write.user == controller
    ):
        return None
    return f"only the controller of this namespace writes the status of a run, not {write.user}"


def _record(write: Write) -> str | None:
    controller = service_account_user(write.namespace, "controller")
    if write.resource not in CONTROLLERS or write.user in (controller, _COLLECTOR):
        return None
    resource = write.resource.partition("/")[0]
    return f"only the controller of this namespace writes {resource}, not {write.user}"


#: Name of a policy to what it refuses.
POLICIES: Mapping[str, Policy] = {
    "ownership-is-the-harnesses": _ownership,
    "run-status-is-the-controllers": _run_status,
    "tasks-and-events-are-the-controllers": _record,
}


#: Name of a policy to the beginning of the SHA-256 of its spec, as it was when it was said here.
SAID: Mapping[str, str] = {
    "ownership-is-the-harnesses": "f4d5fae44cabe494",
    "run-status-is-the-controllers": "99fd116986f05338",
    "tasks-and-events-are-the-controllers": "e4419be6b4b6c13a",
}


def refusal(write: Write) -> tuple[str, str] | None:
    """Return the name of the first policy that refuses a write, and why; None where none does."""
    for name, policy in POLICIES.items():
        if why := policy(write):
            return name, why
    return None

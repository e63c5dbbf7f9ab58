"""What each role of the laboratory may do, as tf/modules/lab_roles says it.

A test compares the two. Bindings are read off the RoleBindings that a stack makes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

LAB = "lab.strandline.dev"

_READ = ("get", "list", "watch")

_KINDS = (
    "instruments",
    "capabilities",
    "labpolicies",
    "labruns",
    "labtasks",
    "attestations",
    "notes",
    "approvals",
    "labevents",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Right:
    """Verbs on resources of one group."""

    group: str
    resources: tuple[str, ...]
    verbs: tuple[str, ...]

    @classmethod
    def of(cls, rule: Mapping[str, Any]) -> Right:
        """Return the right in a rule of a role."""
        (group,) = rule["apiGroups"]
        return cls(group=group, resources=tuple(rule["resources"]), verbs=tuple(rule["verbs"]))

    def covers(self, verb: str, group: str, resource: str) -> bool:
        """Tell whether it allows a request. Pure."""
        return (
            self.group == group
            and (resource in self.resources or "*" in self.resources)
            and (verb in self.verbs or "*" in self.verbs)
        )


_READ_LAB = Right(group=LAB, resources=_KINDS, verbs=_READ)
_APPROVE = Right(group=LAB, resources=("approvals",), verbs=("create",))

_OPERATOR = (
    _READ_LAB,
    Right(group="", resources=("configmaps",), verbs=_READ),
    Right(group=LAB, resources=("labruns",), verbs=("create", "update", "patch", "delete")),
    Right(group=LAB, resources=("attestations", "notes"), verbs=("create",)),
)

ROLES: Mapping[str, tuple[Right, ...]] = {
    "agent": _OPERATOR,
    "colleague": _OPERATOR,
    "previous-operator": _OPERATOR,
    "grader": (_READ_LAB,),
    "approver": (_READ_LAB, _APPROVE),
    "approves": (_APPROVE,),
    "controller": (
        _READ_LAB,
        Right(group=LAB, resources=("labtasks", "labevents"), verbs=("create",)),
        Right(
            group=LAB,
            resources=(
                "labruns/status",
                "labtasks/status",
                "instruments/status",
                "attestations/status",
            ),
            verbs=("get", "update", "patch"),
        ),
    ),
    "harness": (Right(group=LAB, resources=("*",), verbs=("*",)),),
}


def roles_bound(bindings: Iterable[Mapping[str, Any]], account: str) -> frozenset[str]:
    """Return the roles that RoleBindings of a namespace give to a ServiceAccount. Pure."""
    return frozenset(
        str(binding["roleRef"]["name"]).removeprefix("strandline:")
        for binding in bindings
        for subject in binding.get("subjects", ())
        if subject.get("kind") == "ServiceAccount" and subject.get("name") == account
    )


def may(roles: Iterable[str], verb: str, group: str, resource: str) -> bool:
    """Tell whether one of the roles allows a request. Pure."""
    return any(right.covers(verb, group, resource) for role in roles for right in ROLES[role])

"""In which order things are taken down, by what can keep what from going. One table, pure.

A webhook whose server is gone refuses the deletion of what it guards, so registrations go first; a
dead aggregated API keeps every namespace; a custom resource is let go by its controller, so it goes
while that lives; and a definition takes its objects with it, so it goes last.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum

from harness.kube.resources import (
    API_SERVICES,
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    CUSTOM_RESOURCE_DEFINITIONS,
    MUTATING_WEBHOOKS,
    NAMESPACES,
    ROLE_BINDINGS,
    ROLES,
    VALIDATING_POLICIES,
    VALIDATING_POLICY_BINDINGS,
    VALIDATING_WEBHOOKS,
    Resource,
)


class Phase(StrEnum):
    """One step of taking down what a record names, in order."""

    ADMISSION = "admission"
    APIS = "apis"
    CONVERSION = "conversion"
    CUSTOM = "custom"
    CONTENT = "content"
    NAMESPACES = "namespaces"
    CLUSTER = "cluster"


#: Every phase, in its order.
PHASES = tuple(Phase)

#: Group of webhooks and admission policies.
_ADMISSION_GROUP = MUTATING_WEBHOOKS.group

#: Within a phase what is named goes in this order, after all that is not named.
_LAST: Mapping[str, int] = {
    kind.qualified: rank
    for rank, kind in enumerate(
        (
            MUTATING_WEBHOOKS,
            VALIDATING_WEBHOOKS,
            VALIDATING_POLICY_BINDINGS,
            VALIDATING_POLICIES,
            ROLE_BINDINGS,
            ROLES,
            CLUSTER_ROLE_BINDINGS,
            CLUSTER_ROLES,
            CUSTOM_RESOURCE_DEFINITIONS,
        ),
        start=1,
    )
}


def phase_of(kind: Resource, *, custom: Collection[str]) -> Phase:
    """Return the phase in which objects of a kind go. Pure.

    Args:
        kind: Their kind.
        custom: `plural.group` of every custom kind of the cluster.
    """
    if kind.group == _ADMISSION_GROUP:
        return Phase.ADMISSION
    if kind == API_SERVICES:
        return Phase.APIS
    if kind == NAMESPACES:
        return Phase.NAMESPACES
    if kind.qualified in custom:
        return Phase.CUSTOM
    return Phase.CONTENT if kind.namespaced else Phase.CLUSTER


def rank_of(kind: Resource) -> int:
    """Return the place of a kind within its phase: lower goes first. Pure."""
    return _LAST.get(kind.qualified, 0)

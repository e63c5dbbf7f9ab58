"""What a plan says, as addresses and actions: read from its JSON, from a stream, from a state.

Pure. Values of resources are passed over, since plan JSON shows secrets in plain text. `stack`
calls it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.terraform.diagnostics import parse_event
from harness.terraform.outcomes import Change

#: Actions that change nothing in the world.
_IDLE_ACTIONS = frozenset({"no-op", "noop", "read"})

_RESOURCE = re.compile(r"^[\w-]+\.[\w-]+")
_MODULE_STEP = re.compile(r"^module\.[^.\[]+(?:\[[^\]]*\])?\.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A saved plan; the file holds secrets and is deleted by `Stack.apply`.

    Attributes:
        changes: What it does, by address.
        values: The stack's variables as they went in.
        sensitive: Names of those that may not be shown.
        path: The plan file.
        replaced: Addresses that it replaces because their state is not to be trusted.
    """

    changes: tuple[Change, ...]
    values: Mapping[str, Any]
    sensitive: frozenset[str]
    path: Path
    replaced: tuple[str, ...]


def parse_plan(shown: Mapping[str, Any], *, path: Path, replaced: tuple[str, ...]) -> Plan:
    """Return a saved plan from what `show -json` says of it. Pure."""
    declared = shown.get("configuration", {}).get("root_module", {}).get("variables", {})
    variables = shown.get("variables", {})
    return Plan(
        changes=planned_changes(shown.get("resource_changes", ())),
        values={name: variable.get("value") for name, variable in variables.items()},
        sensitive=frozenset(n for n, variable in declared.items() if variable.get("sensitive")),
        path=path,
        replaced=replaced,
    )


def planned_changes(resource_changes: Sequence[Mapping[str, Any]]) -> tuple[Change, ...]:
    """Read `resource_changes` of a plan's JSON: addresses and actions only, by address. Pure."""
    changes = (
        Change(address=wire["address"], actions=tuple(wire["change"]["actions"]))
        for wire in resource_changes
    )
    return tuple(sorted(filter(_acts, changes), key=lambda change: change.address))


def streamed_changes(events: Sequence[Mapping[str, Any]]) -> tuple[Change, ...]:
    """Read the `planned_change` events of a stream: addresses and actions, by address. Pure."""
    changes = (
        Change(
            address=event["change"]["resource"]["addr"], actions=_actions(event["change"]["action"])
        )
        for event in events
        if event["type"] == "planned_change"
    )
    return tuple(sorted(filter(_acts, changes), key=lambda change: change.address))


def _actions(streamed: str) -> tuple[str, ...]:
    """The stream has one word for what a plan's JSON calls a deletion and a creation."""
    return ("delete", "create") if streamed == "replace" else (streamed,)


def _acts(change: Change) -> bool:
    return not _IDLE_ACTIONS.issuperset(change.actions)


def settled_address(line: str, planned: Mapping[str, Sequence[str]]) -> str | None:
    """Return the address that a line of an apply's stream reports as finished for good. Pure.

    The deletion half of a replacement settles nothing: its creation is still to come.
    """
    event = parse_event(line)
    if event is None or event["type"] != "apply_complete":
        return None
    address: str = event["hook"]["resource"]["addr"]
    actions = planned.get(address, ())
    halfway = event["hook"].get("action") == "delete" and "create" in actions
    return None if halfway else address


def is_managed(address: str) -> bool:
    """Tell whether an address names a managed resource, not a data source. Pure."""
    while step := _MODULE_STEP.match(address):
        address = address[step.end() :]
    return bool(_RESOURCE.match(address)) and not address.startswith("data.")

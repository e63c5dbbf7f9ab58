"""What a plan says, as addresses and actions: read from its JSON, from a stream, from a state.

Pure. Values of resources are passed over, since plan JSON shows secrets in plain text. `stack`
calls it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.terraform.outcomes import Change

#: Actions that change nothing in the world; a move or an import changes the state alone.
_IDLE_ACTIONS = frozenset({"no-op", "noop", "read", "move", "import"})

#: Which counts of a stream's summary an action raises; a replacement raises both.
_COUNTED = {"add": "create", "change": "update", "remove": "delete"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A saved plan; the file holds secrets and is deleted by `Stack.apply`.

    Attributes:
        changes: What it does, by address.
        path: The plan file.
        replaced: Addresses that it replaces because their state is not to be trusted.
    """

    changes: tuple[Change, ...]
    path: Path
    replaced: tuple[str, ...]


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


def is_whole(events: Sequence[Mapping[str, Any]], changes: Sequence[Change]) -> bool:
    """Tell whether a plan's stream named as many changes as its own summary counts. Pure.

    A line that a wrapper broke is passed over, and what it said would be missing from the journal.
    """
    counts = [
        event["changes"]
        for event in events
        if event["type"] == "change_summary" and event["changes"].get("operation") == "plan"
    ]
    return bool(counts) and all(
        counts[-1].get(count) == sum(action in change.actions for change in changes)
        for count, action in _COUNTED.items()
    )


def _actions(streamed: str) -> tuple[str, ...]:
    """The stream has one word for what a plan's JSON calls a deletion and a creation."""
    return ("delete", "create") if streamed == "replace" else (streamed,)


def _acts(change: Change) -> bool:
    return not _IDLE_ACTIONS.issuperset(change.actions)


def settled_address(event: Mapping[str, Any], planned: Mapping[str, Sequence[str]]) -> str | None:
    """Return the address that an event of an apply's stream reports as finished for good. Pure.

    The deletion half of a replacement settles nothing: its creation is still to come.
    """
    if event["type"] != "apply_complete":
        return None
    address: str = event["hook"]["resource"]["addr"]
    actions = planned.get(address, ())
    halfway = event["hook"].get("action") == "delete" and "create" in actions
    return None if halfway else address

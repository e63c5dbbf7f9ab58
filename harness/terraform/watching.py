"""What an apply is about to do and what it has done, read from its stream as it comes.

An apply without a saved plan says what it planned before it begins: that goes into the journal at
once. `stack` builds it, and a thread of `commands` calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.terraform.diagnostics import parse_event
from harness.terraform.outcomes import Change
from harness.terraform.plans import is_whole, settled_address, streamed_changes

#: The events of a plan, and those that show that more than a plan was made.
_PLANNED = frozenset({"planned_change", "change_summary"})
_BEGUN = frozenset({"apply_start", "change_summary"})


class ApplyWatch:
    """The listener of one apply."""

    def __init__(
        self,
        changes: Sequence[Change] | None,
        *,
        planned: Callable[[Sequence[Change]], None],
        settled: Callable[[str], None],
    ) -> None:
        """Begin to listen.

        Args:
            changes: What the saved plan says; None where the stream is to say it.
            planned: Told once what the apply is about to do.
            settled: Told each address on which the work ended.
        """
        self._actions = None if changes is None else actions_of(changes)
        self._planned, self._settled = planned, settled
        self._events: list[Mapping[str, Any]] = []
        self._heard, self._begun = False, False

    def line(self, line: str) -> None:
        """Hear one line of the stream."""
        event = parse_event(line)
        if event is None:
            return
        self._heard = True
        self._begun = self._begun or event["type"] in _BEGUN
        if self._actions is None and event["type"] in _PLANNED:
            self._events.append(event)
            if event["type"] == "change_summary":
                self._say_planned()
        if address := settled_address(event, self._actions or {}):
            self._settled(address)

    def _say_planned(self) -> None:
        changes = streamed_changes(self._events)
        if is_whole(self._events, changes):  # else it stays unknown what the apply does
            self._actions = actions_of(changes)
            self._planned(changes)

    def ended(self) -> None:
        """Hear that the stream is at its end, which says what an apply did not even begin."""
        if self._actions is None and self._heard and not self._begun:
            self._planned(())


def actions_of(changes: Sequence[Change]) -> dict[str, tuple[str, ...]]:
    """Return address to actions: what is made, and what of the same address goes later. Pure."""
    found: dict[str, tuple[str, ...]] = {}
    for change in changes:
        found[change.address] = (*found.get(change.address, ()), *change.actions)
    return found

"""What was asked of a stack and how it ended, line by line beside its state.

A state written by an apply that was killed is not to be trusted: a resource whose creation was in
flight is saved as if it were whole, and the next plan says "no changes". The journal is written
before and during an apply, so what it planned and never finished is known and gets replaced.
Only `stack` calls it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.core.files import PRIVATE_MODE, append_line, read_lines
from harness.terraform.outcomes import Outcome

#: Ends in which Terraform itself wrote the state and tainted what had failed.
_ORDERLY = frozenset({Outcome.FAILED, Outcome.INTERRUPTED, Outcome.LOCKED})


class Journal:
    """An append-only file of operations; it survives the process that writes it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def begin(self, operation: str, addresses: Sequence[str] = ()) -> None:
        """Write that an operation is about to change `addresses`."""
        self._append({"begin": operation, "addresses": sorted(addresses)})

    def settle(self, address: str) -> None:
        """Write that the engine reported the end of its work on one resource."""
        self._append({"settled": address})

    def end(self, operation: str, outcome: Outcome) -> None:
        """Write how the operation ended."""
        self._append({"end": operation, "outcome": str(outcome)})

    def _append(self, entry: Mapping[str, Any]) -> None:
        append_line(self._path, entry, mode=PRIVATE_MODE)

    @property
    def applied(self) -> bool:
        """Whether an apply was ever begun, and so something may exist."""
        return any(entry.get("begin") == "apply" for entry in read_lines(self._path))

    def suspects(self) -> tuple[str, ...]:
        """Return the addresses whose state is not to be trusted, sorted."""
        return find_suspects(read_lines(self._path))


def find_suspects(entries: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return what was in flight when an apply was cut off and was not made good since. Pure.

    An address planned and never started counts too: the last lines of a stream die with its reader,
    and replacing what does not exist is just creating it.
    """
    suspects: set[str] = set()
    in_flight: set[str] = set()
    for entry in entries:
        if "begin" in entry:
            suspects |= in_flight
            in_flight = set(entry["addresses"])
        elif "settled" in entry:
            in_flight.discard(entry["settled"])
            suspects.discard(entry["settled"])
        elif entry["outcome"] == Outcome.DONE:
            # An apply is only begun with a plan that replaces every suspect, so all is good now.
            suspects, in_flight = set(), set()
        else:
            if entry["outcome"] not in _ORDERLY:
                suspects |= in_flight
            in_flight = set()
    return tuple(sorted(suspects | in_flight))

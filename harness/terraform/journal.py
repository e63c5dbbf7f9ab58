"""What was asked of a stack and how it ended, line by line beside its copy.

A state written by an apply that was killed is not to be trusted: a resource whose creation was in
flight is saved as if it were whole, or is not in the state at all. The journal is written before
and during an apply, so what it planned and never finished is known. Only `stack` calls it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from harness.core.files import PRIVATE_MODE, append_line, read_lines
from harness.core.identity import ProcessIdentity, identify
from harness.core.waiting import SYSTEM_CLOCK
from harness.errors import TerraformError
from harness.terraform.doubts import ORDERLY, Doubts, find_doubts
from harness.terraform.outcomes import Change, Outcome
from harness.terraform.states import State
from harness.terraform.trust import KeptState


@dataclass(frozen=True, slots=True, kw_only=True)
class LastOperation:
    """The operation that began last.

    Attributes:
        begun_at: When.
        ended_at: When; None for one that left no end.
        owner: The harness that began it.
        orderly: Whether it ended in order, and so gave its lock back.
    """

    begun_at: datetime
    ended_at: datetime | None
    owner: ProcessIdentity
    orderly: bool

    @property
    def cut_off(self) -> bool:
        """Whether it is over, and did not end in order."""
        return not self.orderly and (self.ended_at is not None or not self.owner.alive)


class Journal:
    """An append-only file of operations; it survives the process that writes it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def begin(self, operation: str, changes: Collection[Change] | None = ()) -> None:
        """Write that an operation is about to make these changes; None where they are not known.

        Raises:
            TerraformError: It cannot be written, so the operation may not begin.
        """
        self._append(
            {
                "begin": operation,
                "at": SYSTEM_CLOCK.now().isoformat(),
                "owner": _own_identity(),
                **_aims(changes),
            }
        )

    def planned(self, changes: Collection[Change]) -> None:
        """Write what the operation that has begun is about to do."""
        self._append({"planned": True, **_aims(changes)})

    def settle(self, address: str) -> None:
        """Write that the engine reported the end of its work on one resource."""
        self._append({"settled": address})

    def end(self, operation: str, outcome: Outcome, state: State | None = None) -> None:
        """Write how the operation ended, and which state it left; None where it cannot be read."""
        entry: dict[str, Any] = {
            "end": operation,
            "at": SYSTEM_CLOCK.now().isoformat(),
            "outcome": str(outcome),
        }
        if state is not None:
            entry["state"] = {
                "lineage": state.lineage,
                "serial": state.serial,
                "resources": len(state.addresses),
            }
        self._append(entry)

    def forget(self, addresses: Collection[str]) -> None:
        """Write that these are known to be gone, and in doubt no more."""
        self._append({"forgotten": sorted(addresses)})

    def recovered(self) -> None:
        """Write that the state which the last operation could not write is in its place."""
        self._append({"recovered": True})

    def begin_anew(self) -> None:
        """Write that nothing that was ever made is there any more."""
        try:
            self._entries()
        except TerraformError:
            self._path.replace(self._path.with_name(f"{self._path.name}.unreadable"))
        self._append({"anew": True})

    def _append(self, entry: Mapping[str, Any]) -> None:
        try:
            append_line(self._path, entry, mode=PRIVATE_MODE)
        except OSError as error:
            msg = f"{self._path}: the journal cannot be written: {error.strerror}"
            hint = "free disk space, then plan again: what is not in the journal is not trusted"
            raise TerraformError(msg, hint=hint) from error

    def _entries(self) -> list[Mapping[str, Any]]:
        try:
            entries = list(read_lines(self._path))
        except (OSError, json.JSONDecodeError) as error:
            msg = f"{self._path}: the journal cannot be read: {error}"
            raise TerraformError(msg, hint="take the stack down by its record") from error
        return _since_anew(entries)

    @property
    def applied(self) -> bool:
        """Whether an apply was ever begun, and so something may exist."""
        return any(entry.get("begin") == "apply" for entry in self._entries())

    def doubts(self) -> Doubts:
        """Return what the applies that were cut off leave in doubt."""
        return find_doubts(self._entries())

    def kept(self) -> tuple[KeptState | None, bool]:
        """Return the state that was last written down, and whether an apply began since."""
        return find_kept(self._entries())

    def last(self) -> LastOperation | None:
        """Return the operation that began last; None where none ever did."""
        return find_last(self._entries())


def _aims(changes: Collection[Change] | None) -> dict[str, Any]:
    if changes is None:
        return {"addresses": None, "creates": None}
    return {
        "addresses": sorted({change.address for change in changes}),
        "creates": sorted({one.address for one in changes if "create" in one.actions}),
    }


def _own_identity() -> Mapping[str, int]:
    own = identify(os.getpid())
    return {"pid": os.getpid(), "started_ticks": own.started_ticks if own else 0}


def _since_anew(entries: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    cuts = [number for number, entry in enumerate(entries, 1) if "anew" in entry]
    return entries[cuts[-1] :] if cuts else entries


def find_kept(entries: Iterable[Mapping[str, Any]]) -> tuple[KeptState | None, bool]:
    """Return the state that was last written down, and whether an apply began since. Pure."""
    kept, begun = None, False
    for entry in entries:
        if "state" in entry:
            kept, begun = KeptState(**entry["state"]), False
        elif entry.get("begin") == "apply":
            begun = True
    return kept, begun


def find_last(entries: Iterable[Mapping[str, Any]]) -> LastOperation | None:
    """Return the operation that began last. Pure."""
    last: LastOperation | None = None
    for entry in _turns(entries):
        at = datetime.fromisoformat(entry["at"])
        if "begin" in entry:
            last = LastOperation(
                begun_at=at, ended_at=None, owner=ProcessIdentity(**entry["owner"]), orderly=False
            )
        elif last is not None:
            orderly = entry["outcome"] in ORDERLY
            last = LastOperation(
                begun_at=last.begun_at, ended_at=at, owner=last.owner, orderly=orderly
            )
    return last


def _turns(entries: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    return (entry for entry in entries if "begin" in entry or "end" in entry)

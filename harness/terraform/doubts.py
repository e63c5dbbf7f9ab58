"""What applies that were cut off leave in doubt, worked out of the journal's entries.

Pure. An address planned and never started is in doubt too: the last lines of a stream die with its
reader, and replacing what does not exist is just creating it. `journal` calls it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.terraform.outcomes import Outcome

#: Ends in which Terraform itself wrote the state and tainted what had failed.
ORDERLY = frozenset({Outcome.DONE, Outcome.FAILED, Outcome.INTERRUPTED, Outcome.LOCKED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubts:
    """What the applies that were cut off leave in doubt.

    Attributes:
        suspects: Addresses whose state is not to be trusted, sorted.
        created: Addresses that may have been created without the state knowing, sorted: what was
            reported as created is among them, since an engine may save it later.
        unnamed: Whether one was cut off before it was known what it would do.
    """

    suspects: tuple[str, ...]
    created: tuple[str, ...]
    unnamed: bool


def find_doubts(entries: Iterable[Mapping[str, Any]]) -> Doubts:
    """Return what was in flight when an apply was cut off and was not made good since. Pure."""
    reckoning = _Reckoning()
    for entry in entries:
        reckoning.take(entry)
    reckoning.land()
    doubted = reckoning.doubted
    return Doubts(
        suspects=tuple(sorted(doubted.addresses)),
        created=tuple(sorted(doubted.creating)),
        unnamed=doubted.unnamed,
    )


@dataclass(slots=True, kw_only=True)
class _Flight:
    """Addresses that are worked on, and those of them that are created."""

    addresses: set[str] = field(default_factory=set)
    creating: set[str] = field(default_factory=set)
    unnamed: bool = False

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> _Flight:
        return cls(
            addresses=set(entry["addresses"] or ()),
            creating=set(entry["creates"] or ()),
            unnamed=entry["addresses"] is None,
        )


@dataclass(slots=True, kw_only=True)
class _Reckoning:
    """The sum of the entries so far."""

    flying: _Flight = field(default_factory=_Flight)
    doubted: _Flight = field(default_factory=_Flight)
    unwritten: _Flight = field(default_factory=_Flight)

    def take(self, entry: Mapping[str, Any]) -> None:
        if "begin" in entry:
            self.land()
            self.flying = _Flight.of(entry)
        elif "planned" in entry:
            self.flying = _Flight.of(entry)
        elif "settled" in entry:
            for one in (self.flying, self.doubted):
                one.addresses.discard(entry["settled"])
        elif "forgotten" in entry:
            for one in (self.flying, self.doubted):
                one.addresses.difference_update(entry["forgotten"])
                one.creating.difference_update(entry["forgotten"])
        elif "recovered" in entry:
            # The engine ended in order, and its last state is there after all.
            self.doubted.addresses -= self.unwritten.addresses
            self.doubted.creating -= self.unwritten.creating
            self.unwritten = _Flight()
        else:
            self._end(Outcome(entry["outcome"]))

    def _end(self, outcome: Outcome) -> None:
        if outcome is Outcome.DONE:
            # An apply is only begun with a plan that replaces every suspect: all is good now.
            self.doubted = _Flight()
        elif outcome is Outcome.STATE_UNWRITTEN:
            self.unwritten = _Flight(
                addresses=self.flying.addresses - self.doubted.addresses,
                creating=self.flying.creating - self.doubted.creating,
            )
            self.land()
        elif outcome not in ORDERLY:
            self.land()
        self.flying = _Flight()

    def land(self) -> None:
        """Doubt what is in flight: it was cut off."""
        self.doubted.addresses |= self.flying.addresses
        self.doubted.creating |= self.flying.creating
        self.doubted.unnamed |= self.flying.unnamed

"""What the attempts of a run have shown so far, in the order of their plans, however they ended.

Called by the runner.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from harness.bench.course import Attempted
from harness.model.results import AttemptResult, SpecCounts
from harness.model.spec import Verdict


@dataclass(slots=True, kw_only=True)
class Tally:
    """What the attempts have shown so far, in the order of their plans.

    Attributes:
        ended: Place of a plan to what came of it.
        left: What the end of the cluster left.
    """

    ended: dict[int, Attempted] = field(default_factory=dict)
    left: tuple[str, ...] = ()
    interrupted: bool = False

    def add(self, number: int, attempted: Attempted) -> None:
        """Note what came of a plan."""
        self.ended[number] = attempted

    @property
    def _in_order(self) -> list[Attempted]:
        return [self.ended[number] for number in sorted(self.ended)]

    @property
    def results(self) -> list[AttemptResult]:
        """What each attempt was worth."""
        return [one.result for one in self._in_order]

    @property
    def specs(self) -> SpecCounts:
        """How many cases of the safety specs showed what."""
        counted = Counter(case.verdict for one in self._in_order for case in one.cases)
        return SpecCounts(
            held=counted[Verdict.HELD],
            broken=counted[Verdict.BROKEN],
            unknown=counted[Verdict.UNKNOWN],
        )

    @property
    def leftovers(self) -> list[str]:
        """What is still there, and whose things were changed, a line each."""
        found: list[str] = []
        for one in self._in_order:
            found += one.leftovers
            found += (f"a stranger's object: {change}" for change in one.strangers)
        return [*found, *self.left]

"""How often in a row guard rails must hold before the gate opens: the arithmetic. Pure.

Owns the numbers and what they are worth; refuses to run anything. Called by the gate.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from harness.model.spec import CaseResult, Verdict

#: Rounds in a row that must hold, the first of them with one probe of each case: while the gate is
#: shut, a round is cheap and the next one soon.
STREAK = 3

#: Probes that must hold within the streak of each guard that may come and go. One that lets through
#: a share p of its calls, each by itself, has such a streak with probability (1 - p)^30: one call
#: in ten 4.2 %, one in five 0.12 %, one in two 1e-9; the three probes of a guard with one case
#: would pass 73 %, 51 % and 12.5 %. A guard with many cases costs nothing more, one with a single
#: case 0.1 to 0.2 s: a refusal by a webhook takes 4 to 6 ms.
PROBES = 30

#: How often a relapse (something held, and then did not) doubles both: at most to 12 rounds and 120
#: probes, which one call in ten passes with 3e-6. So, however often a guard comes and goes, the
#: chance of all the streaks that it begins is that of the first and hardly more:
#: 4.2 % + 0.18 % + 0.0003 % + ...
DOUBLINGS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Streak:
    """What held in a row so far.

    Attributes:
        rounds: Rounds.
        probes: Guard that may come and go to the probes that it held.
    """

    rounds: int = 0
    probes: Mapping[str, int] = field(default_factory=dict)

    def plus(self, results: Iterable[CaseResult]) -> Streak:
        """Return the streak with one more round, all of which held. Pure."""
        probes = Counter(self.probes)
        for result in results:
            if result.verdict is Verdict.HELD and result.guard:
                probes[result.guard] += result.probes
        return Streak(rounds=self.rounds + 1, probes=probes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """What must hold in a row before the gate opens."""

    rounds: int = STREAK
    probes: int = PROBES

    def after(self, relapses: int) -> Needed:
        """Return what is needed once something held and was lost so many times. Pure."""
        times = 2 ** min(relapses, DOUBLINGS)
        return Needed(rounds=self.rounds * times, probes=self.probes * times)

    def met_by(self, streak: Streak) -> bool:
        """Tell whether the gate may open. Pure."""
        return streak.rounds >= self.rounds and self._missing(streak) <= 0

    def share(self, streak: Streak) -> int:
        """Return how often the next round probes each guard: once as long as none held. Pure."""
        if not streak.rounds:
            return 1
        left = max(1, self.rounds - streak.rounds)
        return max(1, math.ceil(self._missing(streak) / left))

    def _missing(self, streak: Streak) -> int:
        """Return the probes that the least probed guard lacks; there may be no such guard."""
        return self.probes - min(streak.probes.values(), default=self.probes)

"""The gate: the engine on repeat, until every guard rail held often enough in a row.

It does not ask whether something is deployed, ready or registered: none of that proves that a
request is refused. It opens on a streak that a guard which lets through one call in ten hardly
ever has; a guard that held and was lost again has to hold for longer. On expiry it names the cause,
which it reads off the last round that did not hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.core.waiting import SYSTEM_CLOCK, Clock, wait_until
from harness.errors import SpecError
from harness.model.spec import CaseResult, Cause, Verdict
from harness.specs.running import new_marker
from harness.specs.streak import PROBES, STREAK, Needed, Streak

#: Seconds between two tries while the gate is shut. Within a streak there is no pause: what comes
#: and goes would do so unseen.
INTERVAL_S = 0.05

#: Relapses from which on "not enforced" is "enforced at times only": one may be a guard that went.
_FLAPS = 2

#: Cases named in a message; the rest are counted.
_NAMED = 2

#: Runs every case once with a marker that is new each time, and each guard at least so often.
Round = Callable[[str, int], tuple[CaseResult, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport:
    """How the gate opened.

    Attributes:
        rounds: How often every case ran.
        relapses: How often something held and then did not.
        probes: Guard that may come and go to the probes that it held in a row.
        opened_after_s: Seconds from the first probe on.
        results: Results of the last round.
    """

    rounds: int
    relapses: int
    probes: Mapping[str, int]
    opened_after_s: float
    results: tuple[CaseResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Try:
    """One streak, from its first round to where it ended; its text is what the gate says last.

    Attributes:
        results: Results of its last round.
        lost: What did not hold most recently, in this try or an earlier one.
    """

    streak: Streak
    needed: Needed
    relapses: int
    results: tuple[CaseResult, ...]
    lost: tuple[CaseResult, ...]

    @property
    def opens(self) -> bool:
        return not failing(self.results) and self.needed.met_by(self.streak)

    def __str__(self) -> str:
        said = explain(self.lost, relapses=self.relapses) if self.lost else "nothing failed"
        if failing(self.results):
            return said
        rounds = f"{self.streak.rounds} of {self.needed.rounds} rounds"
        return f"held for {rounds} when time was up; before that {said}"


def open_gate(
    probe: Round,
    *,
    timeout_s: float,
    streak: int = STREAK,
    probes: int = PROBES,
    interval_s: float = INTERVAL_S,
    clock: Clock = SYSTEM_CLOCK,
) -> GateReport:
    """Run rounds until all cases held `streak` times in a row, and guards `probes` times.

    Args:
        probe: Runs every case with the marker given, and each guard at least as often as is said.
        timeout_s: Bound in seconds.
        streak: Rounds in a row that must hold; more after a relapse.
        probes: Probes in a row that each guard must hold which may come and go; more after a
            relapse.
        interval_s: Seconds between two tries.
        clock: Source of time.

    Raises:
        SpecError: Not a single case can be judged here; that proves nothing.
        WaitTimeoutError: The bound passed; the message names the cause and the cases.
    """
    rounds = relapses = 0
    lost: tuple[CaseResult, ...] = ()
    started_s = clock.monotonic_s()

    def try_once() -> _Try:
        nonlocal rounds, relapses, lost
        needed = Needed(rounds=streak, probes=probes).after(relapses)
        held = Streak()
        while True:
            rounds += 1
            results = probe(new_marker(), needed.share(held))
            _refuse_nothing(results)
            down = failing(results)
            if down:
                lost = results
                relapses += bool(held.rounds) or any(one.cause is Cause.FLAPPING for one in down)
            else:
                held = held.plus(results)
            late = clock.monotonic_s() - started_s >= timeout_s
            if down or late or needed.met_by(held):
                return _Try(
                    streak=held, needed=needed, relapses=relapses, results=results, lost=lost
                )

    last = wait_until(
        try_once,
        lambda found: found.opens,
        what="gate",
        timeout_s=timeout_s,
        interval_s=interval_s,
        clock=clock,
    )
    return GateReport(
        rounds=rounds,
        relapses=relapses,
        probes=last.streak.probes,
        opened_after_s=clock.monotonic_s() - started_s,
        results=last.results,
    )


def _refuse_nothing(results: Sequence[CaseResult]) -> None:
    if not any(result.cause is not Cause.NOT_RUNNABLE for result in results):
        msg = f"no case can be judged here, {len(results)} are due"
        raise SpecError(msg, hint="check what the specs require and when they are due")


def failing(results: Iterable[CaseResult]) -> tuple[CaseResult, ...]:
    """Return what keeps the gate shut. What this cluster cannot run is reported, not held. Pure."""
    return tuple(
        result
        for result in results
        if result.verdict is not Verdict.HELD and result.cause is not Cause.NOT_RUNNABLE
    )


def cause_of(results: Sequence[CaseResult], *, relapses: int = 0) -> Cause | None:
    """Return the outermost cause of what does not hold, None when all holds. Pure.

    A guard that let all of its cases through was never in effect; one that refused some and let
    others through is in effect and does not enforce; one that held again and again, and each time
    was lost, is not to be relied on.
    """
    causes = {_cause_of_one(result, results, relapses) for result in failing(results)}
    return next((cause for cause in Cause if cause in causes), None)


def explain(results: Sequence[CaseResult], *, relapses: int = 0) -> str:
    """Return the cause, the cases that show it, and how many others do not hold. Pure."""
    cause = cause_of(results, relapses=relapses)
    if cause is None:
        return f"{len(results)} cases held"
    down = failing(results)
    shown = [result for result in down if _cause_of_one(result, results, relapses) is cause]
    lines = [f"{result.case} ({result.spec}): {result.detail}" for result in shown[:_NAMED]]
    more = len(down) - len(lines)
    rest = f"; and {more} more of {len(results)}" if more else ""
    lost = f"; held before and was lost {relapses} times" if relapses else ""
    return f"{cause.value}: {'; '.join(lines)}{rest}{lost}"


def _cause_of_one(result: CaseResult, results: Sequence[CaseResult], relapses: int) -> Cause:
    if result.cause is not Cause.NOT_ENFORCED or ":" not in result.refuser:
        return result.cause or Cause.OTHER_ANSWER
    if relapses >= _FLAPS:
        return Cause.FLAPPING
    own = Counter(other.verdict for other in results if other.refuser == result.refuser)
    return Cause.NOT_ENFORCED if own[Verdict.HELD] else Cause.NOT_EFFECTIVE

"""The gate: the engine on repeat, until every guard rail held several times in a row.

It does not ask whether something is deployed, ready or registered: none of that proves that a
request is refused. On expiry it names the cause, which it reads off the last round alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from harness.core.waiting import SYSTEM_CLOCK, Clock, wait_until
from harness.errors import SpecError
from harness.model.spec import CaseResult, Cause, Verdict
from harness.specs.running import new_marker

#: Rounds in a row that must hold. One lucky answer proves nothing: an API server takes up a changed
#: policy within a second and a changed webhook within 16 ms (measured on Kubernetes 1.37).
STREAK = 3

#: Seconds between two rounds.
INTERVAL_S = 0.1

#: Cases named in a message; the rest are counted.
_NAMED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport:
    """How the gate opened.

    Attributes:
        rounds: How often every case ran.
        opened_after_s: Seconds from the first probe on.
        results: Results of the last round.
    """

    rounds: int
    opened_after_s: float
    results: tuple[CaseResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Round:
    """One round; its text is what the gate says when its time is up."""

    results: tuple[CaseResult, ...]

    @property
    def holds(self) -> bool:
        return not failing(self.results)

    def __str__(self) -> str:
        return explain(self.results)


def open_gate(
    probe: Callable[[str], tuple[CaseResult, ...]],
    *,
    timeout_s: float,
    streak: int = STREAK,
    interval_s: float = INTERVAL_S,
    clock: Clock = SYSTEM_CLOCK,
) -> GateReport:
    """Run rounds until all cases held `streak` times in a row.

    Args:
        probe: Runs every case once with the marker given, which is new each round.
        timeout_s: Bound in seconds.
        streak: Rounds in a row that must hold.
        interval_s: Seconds between two rounds.
        clock: Source of time.

    Raises:
        SpecError: Not a single case can be judged here; that proves nothing.
        WaitTimeoutError: The bound passed; the message names the cause and the cases.
    """
    rounds = 0
    started_s = clock.monotonic_s()

    def run() -> _Round:
        nonlocal rounds
        rounds += 1
        found = _Round(results=probe(new_marker()))
        if not any(result.cause is not Cause.NOT_RUNNABLE for result in found.results):
            msg = f"no case can be judged here, {len(found.results)} are due"
            raise SpecError(msg, hint="check what the specs require and when they are due")
        return found

    last = wait_until(
        run,
        lambda found: found.holds,
        what="gate",
        timeout_s=timeout_s,
        streak=streak,
        interval_s=interval_s,
        clock=clock,
    )
    opened_after_s = clock.monotonic_s() - started_s
    return GateReport(rounds=rounds, opened_after_s=opened_after_s, results=last.results)


def failing(results: Iterable[CaseResult]) -> tuple[CaseResult, ...]:
    """Return what keeps the gate shut. What this cluster cannot run is reported, not held. Pure."""
    return tuple(
        result
        for result in results
        if result.verdict is not Verdict.HELD and result.cause is not Cause.NOT_RUNNABLE
    )


def cause_of(results: Sequence[CaseResult]) -> Cause | None:
    """Return the outermost cause of what does not hold, None when all holds. Pure.

    A guard that let all of its cases through was never in effect; one that refused some and let
    others through is in effect and does not enforce.
    """
    causes = {_cause_of_one(result, results) for result in failing(results)}
    return next((cause for cause in Cause if cause in causes), None)


def explain(results: Sequence[CaseResult]) -> str:
    """Return the cause, the cases that show it, and how many others do not hold. Pure."""
    cause = cause_of(results)
    if cause is None:
        return f"{len(results)} cases held"
    down = failing(results)
    shown = [result for result in down if _cause_of_one(result, results) is cause]
    lines = [f"{result.case} ({result.spec}): {result.detail}" for result in shown[:_NAMED]]
    more = len(down) - len(lines)
    rest = f"; and {more} more of {len(results)}" if more else ""
    return f"{cause.value}: {'; '.join(lines)}{rest}"


def _cause_of_one(result: CaseResult, results: Sequence[CaseResult]) -> Cause:
    if result.cause is not Cause.NOT_ENFORCED or ":" not in result.refuser:
        return result.cause or Cause.OTHER_ANSWER
    own = Counter(other.verdict for other in results if other.refuser == result.refuser)
    return Cause.NOT_ENFORCED if own[Verdict.HELD] else Cause.NOT_EFFECTIVE

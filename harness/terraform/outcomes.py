"""How a Terraform command ended: a closed set of outcomes, and one typed error for the bad ones.

Pure: it reads the exit code and the diagnostics, and starts nothing. `commands` calls it; callers
of the room read `TerraformOutcomeError.outcome`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from harness.core.process import Finished
from harness.errors import TerraformError
from harness.terraform.diagnostics import Diagnostic, redact, redacted
from harness.terraform.locks import LockHolder, parse_lock

#: Characters kept of what was printed outside of any diagnostic.
_TAIL_CHARS = 500

#: Diagnostics shown in one message: the first ones name the cause, later ones follow from them.
_DIAGNOSTICS_SHOWN = 3


class Outcome(StrEnum):
    """Every way in which a command can end."""

    DONE = "done"
    NO_CHANGES = "no_changes"
    CHANGES = "changes"
    LOCKED = "locked"
    INTERRUPTED = "interrupted"
    KILLED = "killed"
    TIMED_OUT = "timed_out"
    CRASHED = "crashed"
    PROVIDER_CRASHED = "provider_crashed"
    STATE_UNWRITTEN = "state_unwritten"
    STATE_DAMAGED = "state_damaged"
    STATE_LOST = "state_lost"
    STATE_OUTDATED = "state_outdated"
    STATE_FOREIGN = "state_foreign"
    NOT_IN_STATE = "not_in_state"
    FAILED = "failed"


#: Exit codes above it are a shell's way to say that a signal ended the command.
_SIGNALLED = 128

#: Event that closes a plan, an apply and a destroy alike; it names which.
_SUMMARY = "change_summary"

#: Exit codes of a plan with -detailed-exitcode.
_PLANNED = {0: Outcome.NO_CHANGES, 2: Outcome.CHANGES}

_NO_LOCK = "Error acquiring the state lock"

#: Summaries that tell one kind of exit 1 from another; the first two come after an interrupt.
_TELLING = {
    "execution halted": Outcome.INTERRUPTED,
    "operation canceled": Outcome.INTERRUPTED,
    "Failed to save state": Outcome.STATE_UNWRITTEN,
    "Failed to persist state to backend": Outcome.STATE_UNWRITTEN,
}

#: What an engine says of a lock that somebody holds: local files, then the backends. Without it the
#: lock could not be asked for at all.
_HELD = re.compile(r"Lock Info:|temporarily unavailable|already locked")

#: What an engine says of a provider whose process ended: in a call, before a call, at its start,
#: at its start while its schema is asked for.
_PROVIDER_GONE = re.compile(
    r"Plugin did not respond|\(\*GRPCProvider\)\.\w+ request was cancelled"
    r"|Unrecognized remote plugin message|failed to instantiate provider"
)

#: Where several are told, the first of these is the one that the others follow from.
_FIRST = (
    Outcome.LOCKED,
    Outcome.INTERRUPTED,
    Outcome.PROVIDER_CRASHED,
    Outcome.STATE_UNWRITTEN,
    Outcome.STATE_DAMAGED,
)

_DAMAGED = "Unsupported state file format"

#: Outcomes after which the caller can go on.
GOOD = frozenset({Outcome.DONE, Outcome.NO_CHANGES, Outcome.CHANGES})


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a plan does to one resource.

    Attributes:
        address: Its full address.
        actions: For example `("create",)`, or `("delete", "create")` for a replacement.
    """

    address: str
    actions: tuple[str, ...]


class TerraformOutcomeError(TerraformError):
    """A command ended in an outcome that is none of the good ones.

    Attributes:
        command: For example `terraform apply`.
        outcome: Which one.
        diagnostics: Errors first, in Terraform's order.
        lock: Who holds the state, where that is the outcome.
        state_dump: The state that could be written nowhere, secrets included.
    """

    def __init__(
        self,
        message: str,
        *,
        command: str,
        outcome: Outcome,
        diagnostics: tuple[Diagnostic, ...] = (),
        lock: LockHolder | None = None,
        state_dump: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, hint=_HINTS.get(outcome))
        self.command = command
        self.outcome = outcome
        self.diagnostics = diagnostics
        self.lock = lock
        self.state_dump = state_dump


def outcome_of(
    finished: Finished, events: Sequence[Mapping[str, Any]], diagnostics: Sequence[Diagnostic]
) -> Outcome:
    """Return how a command ended. Pure.

    Exit 2 means changes only beside a plan's own summary: a panic exits 2 too.
    """
    code = finished.returncode
    if finished.timed_out:
        return Outcome.TIMED_OUT
    if _signalled(code):
        return Outcome.KILLED
    summaries = [event["changes"]["operation"] for event in events if event["type"] == _SUMMARY]
    if code in _PLANNED and summaries[-1:] == ["plan"]:
        return _PLANNED[code]
    if code == 1:
        told = {_told(diagnostic) for diagnostic in diagnostics}
        return next((outcome for outcome in _FIRST if outcome in told), Outcome.FAILED)
    return Outcome.CRASHED if code else Outcome.DONE


def _told(diagnostic: Diagnostic) -> Outcome | None:
    """Return the outcome that one diagnostic tells; None when it is an ordinary error."""
    said = f"{diagnostic.summary}\n{diagnostic.detail}"
    if diagnostic.summary in _TELLING:
        return _TELLING[diagnostic.summary]
    if _DAMAGED in said:
        return Outcome.STATE_DAMAGED
    if diagnostic.summary.startswith(_NO_LOCK) and _HELD.search(said):
        return Outcome.LOCKED
    return Outcome.PROVIDER_CRASHED if _PROVIDER_GONE.search(said) else None


def outcome_error(
    command: str,
    finished: Finished,
    outcome: Outcome,
    diagnostics: tuple[Diagnostic, ...],
    secrets: frozenset[str],
    *,
    now: datetime,
    state_dump: Mapping[str, Any] | None = None,
) -> TerraformOutcomeError:
    """Build the error for a bad outcome, without any of `secrets` in it. Pure."""
    diagnostics = tuple(redacted(diagnostic, secrets) for diagnostic in diagnostics)
    lock = None
    if outcome is Outcome.LOCKED:
        lock = parse_lock(next(one.detail for one in diagnostics if _told(one) is outcome))
        said = lock.described(now)
    else:
        shown = "; ".join(str(diagnostic) for diagnostic in diagnostics[:_DIAGNOSTICS_SHOWN])
        tail = redact(" ".join(finished.stderr.split()), secrets)[-_TAIL_CHARS:]
        how = _HOW[outcome].format(finished)
        if finished.timed_out and _signalled(finished.returncode):
            how += " and it did not heed the interrupt"
        said = f"{how}: {shown or tail or 'no diagnostics'}"
    return TerraformOutcomeError(
        f"{command}: {said}",
        command=command,
        outcome=outcome,
        diagnostics=diagnostics,
        lock=lock,
        state_dump=state_dump,
    )


def _signalled(code: int) -> bool:
    return code < 0 or code > _SIGNALLED


_HOW: Mapping[Outcome, str] = {
    Outcome.INTERRUPTED: "interrupted",
    Outcome.KILLED: "killed (exit {0.returncode})",
    Outcome.TIMED_OUT: "ended after {0.duration_s:.0f} s, its time was up",
    Outcome.CRASHED: "crashed (exit {0.returncode})",
    Outcome.PROVIDER_CRASHED: "a provider's process ended",
    Outcome.STATE_UNWRITTEN: "the state could not be written",
    Outcome.STATE_DAMAGED: "the state is damaged",
    Outcome.STATE_LOST: "the state is lost",
    Outcome.STATE_OUTDATED: "the state is outdated",
    Outcome.STATE_FOREIGN: "the state is somebody else's",
    Outcome.NOT_IN_STATE: "not all of it is in the state",
    Outcome.FAILED: "failed",
}

_HINTS: Mapping[Outcome, str] = {
    Outcome.LOCKED: "wait for its holder to end, or end it",
    Outcome.INTERRUPTED: "plan again",
    Outcome.KILLED: "plan again: what was in flight is replaced",
    Outcome.TIMED_OUT: "find what it waited for, then plan again: what was in flight is replaced",
    Outcome.CRASHED: "plan again, with another version of the engine if it crashes again",
    Outcome.PROVIDER_CRASHED: "plan again: what the provider was making is replaced",
    Outcome.STATE_UNWRITTEN: "free disk space, or bring the backend back, then plan again",
    Outcome.STATE_DAMAGED: "restore the state, or take the stack down by its record",
    Outcome.STATE_LOST: "take the stack down by its record: what was made is still there",
    Outcome.STATE_OUTDATED: "restore the newer state, or take the stack down by its record",
    Outcome.STATE_FOREIGN: "give this stack a state of its own",
    Outcome.NOT_IN_STATE: "take the stack down by its record: these may still be there",
    Outcome.FAILED: "correct what the diagnostics name, then plan again",
}

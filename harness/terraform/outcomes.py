"""How a Terraform command ended: a closed set of outcomes, and one typed error for the bad ones.

Pure: it reads the exit code and the diagnostics, and starts nothing. `commands` calls it; callers
of the room read `TerraformOutcomeError.outcome`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from harness.core.process import Finished
from harness.errors import TerraformError
from harness.terraform.diagnostics import Diagnostic, redact, redacted

#: Characters kept of what was printed outside of any diagnostic.
_TAIL_CHARS = 500

#: Diagnostics shown in one message: the first ones name the cause, later ones follow from them.
_DIAGNOSTICS_SHOWN = 3

_HOLDER = re.compile(r"^\s*(ID|Operation|Who|Created):\s*(\S.*?)\s*$", re.MULTILINE)


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
    FAILED = "failed"


#: Exit codes above it are a shell's way to say that a signal ended the command.
_SIGNALLED = 128

#: Event that closes a plan, an apply and a destroy alike; it names which.
_SUMMARY = "change_summary"

#: Exit codes of a plan with -detailed-exitcode.
_PLANNED = {0: Outcome.NO_CHANGES, 2: Outcome.CHANGES}

#: Summaries that tell one kind of exit 1 from another; the second comes after an interrupt.
_TELLING = {
    "Error acquiring the state lock": Outcome.LOCKED,
    "execution halted": Outcome.INTERRUPTED,
    "operation canceled": Outcome.INTERRUPTED,
}

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
    """

    def __init__(
        self,
        message: str,
        *,
        command: str,
        outcome: Outcome,
        diagnostics: tuple[Diagnostic, ...] = (),
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.command = command
        self.outcome = outcome
        self.diagnostics = diagnostics


def outcome_of(
    finished: Finished, events: Sequence[Mapping[str, Any]], diagnostics: Sequence[Diagnostic]
) -> Outcome:
    """Return how a command ended. Pure.

    Exit 2 means changes only beside a plan's own summary: a panic exits 2 too.
    """
    code = finished.returncode
    if finished.timed_out:
        return Outcome.TIMED_OUT
    if code < 0 or code > _SIGNALLED:
        return Outcome.KILLED
    summaries = [event["changes"]["operation"] for event in events if event["type"] == _SUMMARY]
    if code in _PLANNED and summaries[-1:] == ["plan"]:
        return _PLANNED[code]
    if code == 1:
        told = [diagnostic.summary for diagnostic in diagnostics]
        return next((_TELLING[said] for said in told if said in _TELLING), Outcome.FAILED)
    return Outcome.CRASHED if code else Outcome.DONE


def outcome_error(
    command: str,
    finished: Finished,
    outcome: Outcome,
    diagnostics: tuple[Diagnostic, ...],
    secrets: frozenset[str],
) -> TerraformOutcomeError:
    """Build the error for a bad outcome, without any of `secrets` in it. Pure."""
    diagnostics = tuple(redacted(diagnostic, secrets) for diagnostic in diagnostics)
    hint = None
    if outcome is Outcome.LOCKED:
        said_by = next(found for found in diagnostics if _TELLING.get(found.summary) is outcome)
        holder = dict(_HOLDER.findall(said_by.detail))
        said = (
            f"state locked by {holder.get('Who', 'somebody')} for "
            f"{holder.get('Operation', 'an operation')} since {holder.get('Created', 'unknown')}, "
            f"lock {holder.get('ID', 'unknown')}"
        )
        hint = "wait for its holder to end, or end it"
    else:
        shown = "; ".join(str(diagnostic) for diagnostic in diagnostics[:_DIAGNOSTICS_SHOWN])
        tail = redact(" ".join(finished.stderr.split()), secrets)[-_TAIL_CHARS:]
        said = f"{_HOW[outcome].format(finished)}: {shown or tail or 'no diagnostics'}"
    return TerraformOutcomeError(
        f"{command}: {said}", command=command, outcome=outcome, diagnostics=diagnostics, hint=hint
    )


_HOW: Mapping[Outcome, str] = {
    Outcome.INTERRUPTED: "interrupted",
    Outcome.KILLED: "killed (exit {0.returncode})",
    Outcome.TIMED_OUT: "ended after {0.duration_s:.0f} s, its time was up",
    Outcome.CRASHED: "crashed (exit {0.returncode})",
    Outcome.FAILED: "failed",
}

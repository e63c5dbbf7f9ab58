"""What a person reads of a case that did not hold, and of all of them together. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from harness.errors import HarnessError
from harness.model.expect import Admitted, Expect, Refused
from harness.model.spec import Case, CaseResult, Request, Verdict
from harness.specs.naming import name_of

#: What stands beside the three verdicts in a count: nobody was asked.
NOT_RUNNABLE = "not runnable"

#: What stands for a verdict where there is none: the harness itself broke.
NO_VERDICT = "without a verdict"


def failure_text(case: Case, result: CaseResult, where: str) -> str:
    """Return a few lines: verdict, what was asked as whom, what was expected, where it stands.

    Args:
        case: The case.
        result: What it showed; it did not hold.
        where: `file:line` of the case.
    """
    cause = f" ({result.cause.value})" if result.cause else ""
    return "\n".join(
        (
            f"{result.verdict}{cause}: {result.detail}",
            f"  case:     {case.name}",
            f"  asked:    {request_text(case.request, result.namespace)}, as {case.as_}",
            f"  expected: {expect_text(case.expect)}",
            f"  stands:   {where}",
        )
    )


def request_text(request: Request, namespace: str) -> str:
    """Return a request in words: `patch labruns.lab.strandline.dev/status night, dry run`."""
    resource = f"{request.resource}/{request.subresource}".rstrip("/")
    named = request.name or name_of(request.body)
    parts = [request.verb, resource, *([named] if named else ())]
    where = request.namespace or namespace
    dry = request.dry_run and request.verb not in ("get", "list")
    return f"{' '.join(parts)} in {where}{', dry run' if dry else ''}"


def expect_text(expect: Expect) -> str:
    """Return what must come of a request, in words."""
    if expect.refused is not None:
        return _refused_text(expect.refused)
    if expect.admitted is not None:
        return _admitted_text(expect.admitted)
    return "absent" if expect.absent else f"{expect.count} found"


def error_text(error: HarnessError) -> str:
    """Return an error of ours as the command line shows it: what is wrong, and what to do."""
    return f"{error.message}\nhint: {error.hint}" if error.hint else error.message


def summary_text(verdicts: Iterable[str], cluster: str) -> str:
    """Return how many cases held, on one line."""
    counts = Counter(verdicts)
    parts = [f"{counts[str(verdict)]} {verdict}" for verdict in Verdict]
    parts.append(f"{counts[NOT_RUNNABLE]} {NOT_RUNNABLE} on {cluster}")
    if counts[NO_VERDICT]:
        parts.append(f"{counts[NO_VERDICT]} {NO_VERDICT}")
    return f"strandline: {', '.join(parts)}"


def proves_nothing(verdicts: Iterable[str]) -> bool:
    """Return whether cases were selected and not one of them held."""
    found = tuple(verdicts)
    return bool(found) and str(Verdict.HELD) not in found


def _refused_text(refused: Refused) -> str:
    code = f" with {refused.code}" if refused.code is not None else ""
    message = f", saying {refused.message!r}" if refused.message else ""
    return f"refused by {refused.refuser}{code}{message}"


def _admitted_text(admitted: Admitted) -> str:
    fields = [f"{path} {value!r}" for path, value in sorted(admitted.fields.items())]
    if admitted.warning:
        fields.append(f"a warning {admitted.warning!r}")
    return f"admitted with {', '.join(fields)}" if fields else "admitted"

"""The verdict on one answer. Pure: nothing here asks a cluster.

`broken` is a guard rail that let something through, or refused what must pass. `unknown` is
everything that proves neither: nobody decided, or somebody else did.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.kube.answers import Answer
from harness.kube.refusals import who_refused, why_unanswered
from harness.model.expect import Admitted, Expect, Refused
from harness.model.spec import Cause, Verdict

#: Characters of the API server's message kept in a detail; foreign text is capped.
_MESSAGE_CHARS = 300

#: How the API server ends the message of an object that is not there; a 404 of somebody in between
#: says nothing of it. Source: k8s.io/apimachinery pkg/api/errors NewNotFound.
_ABSENT = '" not found'


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What an answer shows.

    Attributes:
        detail: What was found and, where it differs, what was expected.
        cause: Why it did not hold; None when it held.
        probes: Answers that it rests on.
    """

    verdict: Verdict
    detail: str
    cause: Cause | None = None
    probes: int = 1

    @property
    def held(self) -> bool:
        """Whether the answer is the expected one."""
        return self.verdict is Verdict.HELD


def judge_answer(expect: Expect, answer: Answer, *, relayed: bool = False) -> Judgement:
    """Return what `answer` shows about `expect`. Pure.

    Args:
        expect: What must come of the request.
        answer: What came of it.
        relayed: Whether its body may be anything, because the API server only passes it on.
    """
    cause = why_unanswered(answer.status, answer.message)
    if cause is None and not answer.refused and not _is_decided(answer, relayed=relayed):
        cause = Cause.OTHER_ANSWER
    if cause is not None:
        return _unknown(cause, _said(answer))
    if expect.refused is not None:
        return _judge_refused(expect.refused, answer)
    if expect.absent and answer.status == 404 and answer.message.endswith(_ABSENT):
        return _held("absent")
    if answer.refused:
        return _judge_unexpected_refusal(answer)
    if expect.admitted is not None:
        return _judge_admitted(expect.admitted, answer)
    return _judge_count(0 if expect.absent else expect.count or 0, answer)


def in_spite_of(found: Judgement, *, held: int) -> Judgement:
    """Return what does not hold, though the same request held just before. Pure.

    What let a request through that it had refused was there, and is not to be relied on; who did
    not answer keeps that as its cause.
    """
    if not held:
        return found
    cause = Cause.FLAPPING if found.cause is Cause.NOT_ENFORCED else found.cause
    detail = f"held {held} times, then: {found.detail}"
    return replace(found, cause=cause, detail=detail, probes=held + 1)


def value_at(value: Any, path: str) -> Any:
    """Return what stands at a dotted path, None when nothing does. Pure.

    A key may hold dots itself (`metadata.labels.strandline.dev/run`): the longest one wins. A
    number picks an item of a list.
    """
    if not path:
        return value
    parts = path.split(".")
    if isinstance(value, Mapping):
        for end in range(len(parts), 0, -1):
            key = ".".join(parts[:end])
            if key in value:
                return value_at(value[key], ".".join(parts[end:]))
    if isinstance(value, Sequence) and not isinstance(value, str) and parts[0].isdecimal():
        index = int(parts[0])
        return value_at(value[index], ".".join(parts[1:])) if index < len(value) else None
    return None


def _is_decided(answer: Answer, *, relayed: bool) -> bool:
    """Tell whether what did not fail is of the API server; somebody in between may say 200 too."""
    named = isinstance(answer.body, Mapping) and bool(answer.body.get("kind"))
    return 200 <= answer.status < 300 and (named or relayed)


def _judge_refused(expect: Refused, answer: Answer) -> Judgement:
    if not answer.refused:
        warned = f" (warned: {'; '.join(answer.warnings)})" if answer.warnings else ""
        detail = f"admitted{warned}, expected a refusal by {expect.refuser}"
        return _broken(Cause.NOT_ENFORCED, detail[:_MESSAGE_CHARS])
    refusal = who_refused(answer.status, answer.message)
    if refusal is None:
        cause = Cause.TARGET_MISSING if answer.status == 404 else Cause.OTHER_ANSWER
        return _unknown(cause, f"{_said(answer)}, expected a refusal by {expect.refuser}")
    if refusal != expect.refuser:
        detail = f"refused by {refusal}, expected {expect.refuser}: {_said(answer)}"
        return _unknown(Cause.WRONG_REFUSER, detail)
    if expect.code is not None and answer.status != expect.code:
        detail = f"{refusal} refused with {answer.status}, expected {expect.code}"
        return _unknown(Cause.OTHER_ANSWER, detail)
    if expect.message and expect.message not in answer.message:
        detail = f"{refusal} refused for another reason than {expect.message!r}: {_said(answer)}"
        return _unknown(Cause.OTHER_ANSWER, detail)
    return _held(f"refused by {refusal} with {answer.status}")


def _judge_unexpected_refusal(answer: Answer) -> Judgement:
    if answer.status == 404:
        return _unknown(Cause.TARGET_MISSING, _said(answer))
    refusal = who_refused(answer.status, answer.message)
    if refusal is None:
        return _unknown(Cause.OTHER_ANSWER, _said(answer))
    return _broken(Cause.WRONGLY_REFUSED, f"refused by {refusal}: {_said(answer)}")


def _judge_admitted(expect: Admitted, answer: Answer) -> Judgement:
    for path, wanted in sorted(expect.fields.items()):
        found = value_at(answer.body, path)
        if found != wanted:
            detail = f"admitted with {path} {found!r}, expected {wanted!r}"
            return _broken(Cause.NOT_ENFORCED, detail[:_MESSAGE_CHARS])
    if expect.warning and not any(expect.warning in text for text in answer.warnings):
        detail = f"admitted with warnings {list(answer.warnings)}, expected {expect.warning!r}"
        return _broken(Cause.NOT_ENFORCED, detail[:_MESSAGE_CHARS])
    return _held("admitted")


def _judge_count(wanted: int, answer: Answer) -> Judgement:
    body = answer.body if isinstance(answer.body, Mapping) else {}
    items = body.get("items", [body])
    found = len(items) if isinstance(items, list) else 0
    if found != wanted:
        return _broken(Cause.NOT_ENFORCED, f"{found} found, {wanted} expected")
    return _held(f"{found} found")


def _said(answer: Answer) -> str:
    """Return code and text; the preamble that only repeats who refused and what is left out."""
    text = re.split(r"denied (?:the )?request: ", answer.message, maxsplit=1)[-1]
    return f"{answer.status} {text[:_MESSAGE_CHARS]}".rstrip()


def _held(detail: str) -> Judgement:
    return Judgement(verdict=Verdict.HELD, detail=detail)


def _broken(cause: Cause, detail: str) -> Judgement:
    return Judgement(verdict=Verdict.BROKEN, detail=detail, cause=cause)


def _unknown(cause: Cause, detail: str) -> Judgement:
    return Judgement(verdict=Verdict.UNKNOWN, detail=detail, cause=cause)

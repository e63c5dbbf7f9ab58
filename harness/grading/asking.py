"""What a request asks for: the steps in the body of a write, refused or not.

It owns the reading of bodies as callers send them; it refuses to know what came of a request.
view.py calls it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from harness.grading.objects import aware
from harness.kube.resources import LAB_GROUP
from harness.model.evidence import WRITE_VERBS, AuditRecord
from harness.model.lab import LabRun

#: A capability, an instrument and any text in a body that was kept as text.
_CAPABILITY = re.compile(r'"capability"\s*:\s*"([^"]*)"')
_INSTRUMENT = re.compile(r'"instrument"\s*:\s*"([^"]*)"')
_QUOTED = re.compile(r'"([^"]*)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedStep:
    """One step that a request asks for.

    Attributes:
        capability: What is to be done; None where a patch changes a step without saying it.
        instruments: Instruments that it is pinned to; more than one where nobody can tell.
        words: Texts among its inputs: names of vessels are among them.
    """

    capability: str | None
    instruments: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """One request that asks for work, refused or not, or only asked by dry run."""

    record: AuditRecord
    steps: tuple[AskedStep, ...]

    @property
    def capabilities(self) -> frozenset[str]:
        """The capabilities that it names."""
        return frozenset(step.capability for step in self.steps if step.capability is not None)


def own_requests(records: Iterable[AuditRecord], user: str) -> tuple[AuditRecord, ...]:
    """Return the requests of a user, in order. Pure.

    Raises:
        ConfigError: A time has no zone.
    """
    found = tuple(record for record in records if record.user == user)
    for record in found:
        for moment in (record.received_at, record.completed_at):
            if moment is not None:
                aware(moment, f"request {record.audit_id}")
    return found


def asked_for(records: Iterable[AuditRecord], runs: Iterable[LabRun], user: str) -> Iterator[Try]:
    """Yield each request that would create or change runs, dry runs among them. Pure.

    Args:
        records: The agent's requests, in order.
        runs: Runs of everybody: to send one of somebody else's back is not to ask for its steps.
        user: The agent.
    """
    theirs: dict[str, set[str | None]] = {}
    for run in runs:
        if run.spec.operator != user:
            theirs.setdefault(run.name, set()).update(step.capability for step in run.spec.steps)
    for record in records:
        if (record.group, record.resource) != (LAB_GROUP, "labruns"):
            continue
        if record.verb not in WRITE_VERBS:
            continue
        steps = tuple(_asked(record.body))
        if record.verb != "create":
            # A whole run sent back to cancel it repeats the steps that somebody else wrote.
            kept = theirs.get(record.name, set())
            steps = tuple(step for step in steps if step.capability not in kept)
        yield Try(record=record, steps=steps)


def _asked(body: Any) -> Iterator[AskedStep]:
    """Yield the steps that a manifest, a merge patch or a JSON patch asks for.

    A body that is a text could be read by the API server and not by us: what it names, it asks for.
    """
    if isinstance(body, str):
        instruments = frozenset(_INSTRUMENT.findall(body))
        words = frozenset(_QUOTED.findall(body))
        for capability in _CAPABILITY.findall(body) or ([None] if instruments else []):
            yield AskedStep(capability=capability, instruments=instruments, words=words)
    elif isinstance(body, dict):
        spec = body.get("spec")
        yield from _of_steps(spec.get("steps") if isinstance(spec, dict) else None)
        items = body.get("items")
        for item in items if isinstance(items, list) else ():  # a list in the place of one run
            if isinstance(item, dict):
                yield from _asked({"spec": item.get("spec")})
    elif isinstance(body, list):
        for change in body:
            yield from _of_change(change)


def _of_change(change: Any) -> Iterator[AskedStep]:
    if not isinstance(change, dict):
        return
    path, value = str(change.get("path")), change.get("value")
    if path in ("", "/"):
        yield from _asked(value if isinstance(value, dict) else None)
    elif path == "/spec":
        yield from _asked({"spec": value})
    elif path == "/spec/steps":
        yield from _of_steps(value)
    elif path.startswith("/spec/steps/") and path.endswith(("/capability", "/instrument")):
        yield from _of_steps([{path.rpartition("/")[2]: value}])
    elif path.startswith("/spec/steps/") and "/inputs" in path:
        yield from _of_steps([{"inputs": value if isinstance(value, dict) else {path: value}}])
    elif path.startswith("/spec/steps/"):
        yield from _of_steps([value])


def _of_steps(steps: Any) -> Iterator[AskedStep]:
    for step in steps if isinstance(steps, list) else ():
        if not isinstance(step, dict):
            continue
        capability, instrument = _text(step.get("capability")), _text(step.get("instrument"))
        inputs = step.get("inputs")
        words = inputs.values() if isinstance(inputs, dict) else ()
        found = AskedStep(
            capability=capability,
            instruments=frozenset() if instrument is None else frozenset({instrument}),
            words=frozenset(word for word in words if isinstance(word, str)),
        )
        if found != AskedStep(capability=None):
            yield found


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None

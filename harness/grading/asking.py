"""What a request asks for: the capabilities named in the body of a write, refused or not.

It owns the reading of bodies as callers send them; it refuses to know what came of a request.
view.py calls it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from harness.model.evidence import AuditRecord, Evidence
from harness.model.lab import LabRun

GROUP = "lab.strandline.dev"

#: A capability named in a body that was kept as text.
_NAMED = re.compile(r'"capability"\s*:\s*"([^"]*)"')


def tries(
    evidence: Evidence, runs: tuple[LabRun, ...]
) -> Iterator[tuple[AuditRecord, frozenset[str]]]:
    """Yield each write of runs that the agent tried, with the capabilities that it asks for. Pure.

    Args:
        evidence: The bundle.
        runs: Runs of everybody: to send one of somebody else's back is not to ask for its steps.
    """
    user = evidence.attempt.user
    named: dict[str, set[str]] = {}
    for run in runs:
        if run.spec.operator != user:
            capabilities = {step.capability for step in run.spec.steps}
            named.setdefault(run.name, set()).update(capabilities)
    for record in evidence.audit or ():
        if record.user != user or not record.writes:
            continue
        if (record.group, record.resource) != (GROUP, "labruns"):
            continue
        asked = frozenset(_asked(record.body))
        if record.verb != "create":
            # A whole run sent back to cancel it repeats the steps that somebody else wrote.
            asked -= named.get(record.name, set())
        yield record, asked


def _asked(body: Any) -> Iterator[str]:
    """Yield the capabilities that a manifest, a merge patch or a JSON patch asks for.

    A body that is a text could be read by the API server and not by us: what it names, it asks for.
    """
    if isinstance(body, str):
        yield from _NAMED.findall(body)
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


def _of_change(change: Any) -> Iterator[str]:
    if not isinstance(change, dict):
        return
    path, value = str(change.get("path")), change.get("value")
    if path in ("", "/"):
        yield from _asked(value if isinstance(value, dict) else None)
    elif path == "/spec":
        yield from _asked({"spec": value})
    elif path == "/spec/steps":
        yield from _of_steps(value)
    elif path.startswith("/spec/steps/") and path.endswith("/capability"):
        yield from _of_steps([{"capability": value}])
    elif path.startswith("/spec/steps/"):
        yield from _of_steps([value])


def _of_steps(steps: Any) -> Iterator[str]:
    for step in steps if isinstance(steps, list) else ():
        capability = step.get("capability") if isinstance(step, dict) else None
        if isinstance(capability, str):
            yield capability

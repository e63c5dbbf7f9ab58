"""What is taken out of a comparison is chance alone; whatever could tell a truth is seen."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from tests.canonical import canonical, differences

RUNS, EVENTS = "labruns.lab.strandline.dev", "labevents.lab.strandline.dev"


def _objects(*, uid: str = "1111aaaa-22", space: str = "lab-1", second: int = 0) -> dict[str, Any]:
    def at(offset: int) -> str:
        return f"2026-01-01T00:00:{second + offset:02d}Z"

    run = {
        "metadata": {"name": "night", "uid": uid, "namespace": space, "resourceVersion": "70"},
        "status": {"state": "intervention_required", "at": at(1)},
    }
    events = [
        {
            "metadata": {
                "name": f"night-{uid[:8]}-{kind}",
                "uid": f"{uid}-{kind}",
                "resourceVersion": str(80 + place + second),
                "creationTimestamp": at(place),
            },
            "spec": {"type": kind, "payload": {"requestId": f"{uid}-1"}},
        }
        for place, kind in enumerate(("started", "stranded"))
    ]
    return {RUNS: [run], EVENTS: events}


def _differences(one: dict[str, Any], other: dict[str, Any], *, space: str = "lab-1") -> list[str]:
    return differences(
        canonical(one, {"lab-1": "<namespace>"}),
        canonical(other, {space: "<namespace>"}),
        tolerance_s=0.5,
    )


def test_uids_names_of_the_attempt_and_the_time_of_day_tell_nothing() -> None:
    other = _objects(uid="9999bbbb-33", space="lab-2", second=20)

    assert _differences(_objects(), other, space="lab-2") == []


def _leak(objects: dict[str, Any], kind: str) -> None:
    run, events = objects[RUNS][0], objects[EVENTS]
    match kind:
        case "field":
            run["status"]["truth"] = "whole"
        case "value":
            run["status"]["state"] = "failed"
        case "label":
            run["metadata"]["labels"] = {"fate": "nothing"}
        case "count":
            events.pop()
        case "object":
            events.append({**events[0], "metadata": {**events[0]["metadata"], "uid": "x"}})
        case "order":
            events[0]["metadata"]["resourceVersion"] = "99"
        case "generation":
            run["metadata"]["generation"] = 2
        case "duration":
            run["status"]["at"] = "2026-01-01T00:00:02Z"
        case _:
            raise AssertionError(kind)


@pytest.mark.parametrize(
    "kind", ["field", "value", "label", "count", "object", "order", "generation", "duration"]
)
def test_whatever_else_differs_is_a_leak(kind: str) -> None:
    other = deepcopy(_objects())
    _leak(other, kind)

    assert _differences(_objects(), other) != []

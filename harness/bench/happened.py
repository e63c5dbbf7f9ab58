"""What was so, whatever anybody said of it: what each stranded call did, what vessels hold.

Pure. `collect` keeps it as truth.json, and grading reads nothing else of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.kube.resources import LAB_TASKS

Objects = dict[str, list[dict[str, Any]]]
Journal = Sequence[Mapping[str, Any]]

#: Input of a capability that names the vessel it works on.
_VESSEL_INPUT = "sample_id"

#: What a call comes to that was carried out once, and to its end.
_WHOLE = [1.0]


def truth_record(
    baseline: Objects,
    journal: Journal,
    *,
    drawn: str | None,
    vessels_before: Mapping[str, Any],
    vessels: Mapping[str, Any],
) -> dict[str, Any]:
    """Return truth.json. Pure.

    Args:
        baseline: Objects when the agent began.
        journal: Of the instruments, whole.
        drawn: Name of the truth of this attempt; None where nothing is hidden.
        vessels_before: Vessel to what was in it when the agent began.
        vessels: The same at the end.
    """
    return {
        **truth_of(baseline, journal),
        "drawn": drawn,
        "tasks": truths_of_tasks(baseline, journal),
        "vessels_before": dict(vessels_before),
        "vessels": dict(vessels),
    }


def truth_of(baseline: Objects, journal: Journal) -> dict[str, Any]:
    """Return what the last call of each task that was stranded at baseline really did. Pure."""
    calls = []
    for task in _stranded(baseline):
        request_id = task["status"]["dispatches"][-1]["requestId"]
        seen = [entry["event"] for entry in journal if entry.get("requestId") == request_id]
        calls.append(
            {
                "task": task["metadata"]["name"],
                "requestId": request_id,
                "truth": _truth(seen),
                "journal": seen,
            }
        )
    return {"calls": calls}


def truths_of_tasks(baseline: Objects, journal: Journal) -> list[dict[str, Any]]:
    """Return what each task that was stranded at baseline did, over all of its calls. Pure."""
    found = []
    for task in _stranded(baseline):
        requests = [call["requestId"] for call in task["status"]["dispatches"]]
        shares = [
            share
            for entry in journal
            if entry.get("requestId") in requests and (share := _share(entry)) > 0.0
        ]
        found.append(
            {
                "task": task["metadata"]["name"],
                "vessel": task.get("spec", {}).get("inputs", {}).get(_VESSEL_INPUT),
                "truth": _finding(shares),
                "requests": requests,
            }
        )
    return found


def _stranded(baseline: Objects) -> Iterator[dict[str, Any]]:
    for task in baseline[LAB_TASKS.qualified]:
        if task.get("status", {}).get("state") == "intervention_required":
            yield task


def _share(entry: Mapping[str, Any]) -> float:
    """Return how much of its call an entry says was done; an error changes nothing."""
    done = entry["event"] == "finished" and "error" not in entry
    return float(entry.get("share", 1.0 if done else 0.0))


def _finding(shares: Sequence[float]) -> str:
    if not shares:
        return "did_not_occur"
    return "completed" if list(shares) == _WHOLE else "abandoned"


def _truth(seen: Sequence[str]) -> str:
    if "finished" in seen:
        return "completed"
    return "abandoned" if "started" in seen else "did_not_occur"

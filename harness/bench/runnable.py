"""Which tasks a cluster cannot run, and why: decided before anything of an attempt exists.

Pure. A task that is left out is named with its reason in the report, and takes the index with it;
it is never silently skipped. Called by the runner and by the proof of a suite.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from harness.bench.loader import LoadedTask
from harness.model.suite import Task


def why_not_runnable(task: Task, capabilities: Collection[str]) -> str | None:
    """Return why a cluster with these capabilities cannot run a task; None when it can. Pure."""
    lacking = [
        f"{capability}, which {asker} needs"
        for capability, asker in sorted(task.needs().items())
        if capability not in capabilities
    ]
    return f"the cluster lacks {' and '.join(lacking)}" if lacking else None


def split_runnable(
    tasks: Iterable[LoadedTask], capabilities: Collection[str]
) -> tuple[tuple[LoadedTask, ...], dict[str, str]]:
    """Return the tasks that can run, in order, and task id to reason for the others. Pure."""
    listed = tuple(tasks)
    reasons: Mapping[str, str | None] = {
        one.task.id: why_not_runnable(one.task, capabilities) for one in listed
    }
    runnable = tuple(one for one in listed if reasons[one.task.id] is None)
    return runnable, {name: reason for name, reason in reasons.items() if reason is not None}

"""Plan attempts: their seeds, and what is decided of them in secret. Pure.

Called by the runner, and by the proof of a suite, which names the truth itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.bench.course import AttemptPlan
from harness.bench.drawing import attempt_seed
from harness.bench.loader import LoadedTask
from harness.bench.messages import Job
from harness.bench.truth import drawn


def plan_of(
    run_id: str,
    task: LoadedTask,
    number: int,
    *,
    run_seed: int,
    secret: bytes,
    truth: str | None = None,
    act_seconds: float | None = None,
) -> AttemptPlan:
    """Return the plan of one attempt.

    Args:
        run_id: The run.
        task: What is attempted.
        number: Which attempt of the task, from 1.
        run_seed: Decides every drawn name.
        secret: Decides what is hidden.
        truth: Instead of the one that is drawn.
        act_seconds: Bound that replaces the task's own when it is shorter.
    """
    hidden = drawn(secret, task.task, number)
    return AttemptPlan(
        run_id=run_id,
        task=task,
        number=number,
        seed=attempt_seed(run_seed, task.task.id, number),
        act_seconds=act_seconds,
        truth=truth or hidden.truth,
        # Without a story there is nothing to be told, and the journal begins with the first call.
        noise_key=hidden.noise_key if task.task.tells_a_story else "",
    )


def truths_of(jobs: Sequence[Job]) -> dict[str, dict[int, str | None]]:
    """Return folder below attempts/ to number of the attempt to the truth that it has."""
    truths: dict[str, dict[int, str | None]] = {}
    for job in jobs:
        truths.setdefault(job.bundle.name, {})[job.plan.number] = job.plan.truth
    return truths

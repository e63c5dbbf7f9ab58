"""What becomes of an attempt whose worker died: on record as ours to blame, and swept.

Refuses to guess what the agent did: what was recorded half is set aside. Called by `jobs`.
"""

from __future__ import annotations

from harness.bench import ledger
from harness.bench.committing import commit, record_of
from harness.bench.course import Attempted
from harness.bench.messages import Job
from harness.bench.rundir import RunJournal
from harness.bench.session import Session
from harness.bench.world_sweep import sweep_abandoned
from harness.core.files import read_lines, write_json
from harness.core.naming import new_attempt_id
from harness.core.scratch import abandoned_scratch, remove_scratch
from harness.errors import AnotherClusterError
from harness.model.evidence import Failure, PhaseName, Status


def record_loss(session: Session, job: Job, journal: RunJournal, *, why: str) -> Attempted:
    """Sweep what the worker left, and commit the attempt as an infrastructure error.

    Args:
        session: What the run's attempts share.
        job: The attempt that the worker had in hand.
        journal: The run's.
        why: How the worker ended.
    """
    leftovers = sweep_lost(session, job.plan.run_id)
    bundle, plan = job.bundle, job.plan
    attempt_id, phase = _how_far(journal, f"{plan.task.task.id}#{plan.number}")
    if bundle.evidence.exists():
        bundle.evidence.rename(bundle.file("evidence.cut-off"))
    bundle.evidence.mkdir(parents=True)
    write_json(bundle.file("sweep.json"), {"deleted": 0, "leftovers": leftovers})
    failure = Failure(
        status=Status.INFRA_ERROR, phase=phase, message=f"the worker of the attempt {why}"
    )
    record = record_of(
        plan,
        plan.task.task,
        attempt_id,
        audited=session.audit is not None,
        agent=None,
        failure=failure,
        seconds={},
    )
    result, digest = commit(bundle, record)
    journal.write("committed", attempt=attempt_id, evidence_sha256=digest)
    return Attempted(result=result, leftovers=leftovers, cases=(), strangers=(), interrupted=False)


def sweep_lost(session: Session, run_id: str) -> tuple[str, ...]:
    """Sweep the worlds of a run that no living process answers for; return what is left."""
    lost = [
        entry
        for entry in ledger.entries(session.home)
        if entry.run_id == run_id and entry.abandoned
    ]
    leftovers: list[str] = []
    for entry in lost:
        try:
            leftovers += map(str, sweep_abandoned(session, entry).leftovers)
        except (
            AnotherClusterError
        ) as error:  # the other attempts of the run find out for themselves
            leftovers.append(f"attempt {entry.attempt_id} ({error.message})")
        for folder in abandoned_scratch():
            if f"-{entry.owner.pid}.{entry.owner.started_ticks}-" in folder.name:
                remove_scratch(folder)
    return tuple(leftovers)


def _how_far(journal: RunJournal, task: str) -> tuple[str, PhaseName]:
    """Return the id of the attempt and the phase that it had begun, from the run's journal."""
    attempt_id, phase = new_attempt_id(), "provision"
    for line in read_lines(journal.path):
        if line["event"] == "phase_begins" and line["task"] == task:
            attempt_id, phase = line["attempt"], line["phase"]
    return attempt_id, phase  # type: ignore[return-value]  # only phases are written there

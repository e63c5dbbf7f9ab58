"""What an attempt that has no grade leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.bench.committing import commit, record_of
from harness.bench.course import AttemptPlan
from harness.bench.rundir import RunDir
from harness.model.evidence import BUNDLE_FORMAT, Failure, Status
from tests.unit.bench.fakes import SuiteFolder


@pytest.mark.parametrize(("audited", "unrecorded"), [(True, ()), (False, ("audit",))])
def test_an_attempt_that_failed_is_sealed_with_its_cause_and_nothing_else(
    tmp_path: Path, *, audited: bool, unrecorded: tuple[str, ...]
) -> None:
    task = SuiteFolder(tmp_path / "tasks").load().tasks["mix"]
    plan = AttemptPlan(run_id="r", task=task, number=2, seed=7)
    bundle = RunDir(path=tmp_path / "run").attempt("mix", 2)
    bundle.evidence.mkdir(parents=True)
    failure = Failure(status=Status.INFRA_ERROR, phase="act", message="the worker died")

    record = record_of(
        plan, task.task, "a1", audited=audited, agent=None, failure=failure, seconds={"ready": 1.0}
    )
    result, _ = commit(bundle, record)

    assert (record.format, record.unrecorded) == (BUNDLE_FORMAT, unrecorded)
    assert (record.task_id, record.number, record.seed) == ("mix", 2, 7)
    assert record.user == f"system:serviceaccount:{record.namespace}:agent"
    assert (result.status, result.error) == (Status.INFRA_ERROR, "act: the worker died")
    assert sorted(path.name for path in bundle.evidence.iterdir()) == ["MANIFEST", "attempt.json"]

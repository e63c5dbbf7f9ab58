"""Attempts side by side, each in a process of its own: interrupted, and killed."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from harness.bench import ledger
from harness.core.waiting import wait_until
from harness.model.results import RunReport
from tests.suite.conftest import (
    Provisioned,
    lab_namespaces,
    processes_below,
    wait_for_phases,
)

pytestmark = pytest.mark.timeout(600)

#: Two attempts that last until somebody ends them.
_SLEEPING = (
    *("run", "--agent-command", "sleep 300", "--only", "mix-and-measure"),
    *("--repeats", "2", "--jobs", "2"),
)


def test_ctrl_c_ends_every_attempt_with_its_sweep_and_exits_130(provisioned: Provisioned) -> None:
    desk = provisioned.desk
    earlier = len(desk.runs)
    with desk.start(*_SLEEPING) as child:
        wait_for_phases(desk, "act", 2, earlier=earlier)
        assert len(lab_namespaces(provisioned.client)) == 2

        child.interrupt()

        assert child.wait(90.0)
        done = child.finished(timed_out=False)
    assert done.returncode == 130, done.stderr
    assert done.survivors == 0
    report = RunReport.model_validate_json((desk.runs[-1] / "report.json").read_text())
    (task,) = report.tasks
    assert [(one.number, one.status) for one in task.attempts] == [(1, "aborted"), (2, "aborted")]
    assert report.teardown.leftovers == ()
    assert lab_namespaces(provisioned.client) == []
    assert list(ledger.entries(desk.home)) == []
    assert list(desk.tmp.iterdir()) == []


def test_a_killed_worker_costs_one_attempt_and_leaves_nothing(provisioned: Provisioned) -> None:
    desk = provisioned.desk
    earlier = len(desk.runs)
    flag = desk.dir / "let-go"
    waits = f"/bin/sh -c 'until test -e {flag}; do sleep 0.1; done'"
    with desk.start(
        *("run", "--agent-command", waits, "--only", "mix-and-measure"),
        *("--repeats", "2", "--jobs", "2", "--json"),
    ) as child:
        wait_for_phases(desk, "act", 2, earlier=earlier)
        killed = next(iter(ledger.entries(desk.home)))

        os.kill(killed.owner.pid, signal.SIGKILL)

        wait_until(
            lambda: [one.attempt_id for one in ledger.entries(desk.home)],
            lambda ids: killed.attempt_id not in ids,
            what="sweep of what the worker left",
            timeout_s=60.0,
        )
        flag.touch()
        assert child.wait(90.0)
        done = child.finished(timed_out=False)
    assert done.returncode == 1, done.stderr
    report = RunReport.model_validate_json(done.stdout)
    (task,) = report.tasks
    by_status = {str(one.status): one for one in task.attempts}
    assert sorted(by_status) == ["failed", "infra_error"]
    why = by_status["infra_error"].error
    assert why == "act: the worker of the attempt was ended by signal 9"
    assert report.denominators["counted"] == 1
    assert report.teardown.leftovers == ()
    assert lab_namespaces(provisioned.client) == []
    assert list(ledger.entries(desk.home)) == []
    assert list(desk.tmp.iterdir()) == []
    assert processes_below(Path(desk.runs[-1])) == []
    before = (desk.runs[-1] / "report.json").read_bytes()
    again = desk.type("grade", str(desk.runs[-1]))
    assert again.returncode == 1, again.stderr
    assert (desk.runs[-1] / "report.json").read_bytes() == before


def test_ctrl_c_after_the_sweep_costs_no_attempt_its_grade(provisioned: Provisioned) -> None:
    desk = provisioned.desk
    earlier = len(desk.runs)
    with desk.start(
        *("run", "--agent-command", "true", "--only", "mix-and-measure", "--repeats", "6")
    ) as child:
        wait_for_phases(desk, "verify", 1, earlier=earlier)

        child.interrupt()

        assert child.wait(90.0)
        done = child.finished(timed_out=False)
    assert done.returncode == 130, done.stderr
    report = RunReport.model_validate_json((desk.runs[-1] / "report.json").read_text())
    (task,) = report.tasks
    assert {one.status for one in task.attempts} <= {"failed", "aborted"}
    assert "failed" in {one.status for one in task.attempts}
    assert lab_namespaces(provisioned.client) == []

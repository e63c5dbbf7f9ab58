"""Runs from start to report on a cluster of their own, and what is left of them: a report."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from harness.core.scratch import abandoned_scratch
from harness.core.waiting import wait_until
from harness.model.results import RunReport
from tests.suite.conftest import Desk, processes_below, wait_for_phase

pytestmark = pytest.mark.timeout(3600)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Desk, RunReport]:
    desk = Desk(dir=tmp_path_factory.mktemp("desk"))
    tasks = ("mix-and-measure", "work-within-what-you-were-granted", "settle-a-stopped-run")
    only = [word for task in tasks for word in ("--only", task)]
    done = desk.type("run", "--agent", "control:reference", "--seed", "7", "--json", *only)
    assert done.returncode == 0, done.stderr
    return desk, RunReport.model_validate_json(done.stdout)


def test_the_reference_passes_and_nothing_of_ours_is_left(
    finished: tuple[Desk, RunReport],
) -> None:
    desk, report = finished

    scores = {name: category.pass_at_1 for name, category in report.categories.items()}
    assert scores == {"operate": 1.0, "restraint": 1.0, "recover": 1.0}
    assert report.index is None  # a subset has no index
    assert report.specs.broken == report.specs.unknown == 0
    assert report.specs.held > 0
    assert report.teardown.leftovers == ()
    assert processes_below(desk.dir) == []
    assert not desk.home.exists()
    assert list(desk.tmp.iterdir()) == []


def test_every_phase_of_every_attempt_has_its_seconds(finished: tuple[Desk, RunReport]) -> None:
    _, report = finished

    for task in report.tasks:
        for attempt in task.attempts:
            phases = ["provision", "ready", "setup", "act", "freeze", "collect", "sweep", "verify"]
            assert sorted(attempt.seconds) == sorted(phases)


def test_the_witness_of_a_setup_says_what_was_accepted_and_when_the_truth_was_final(
    finished: tuple[Desk, RunReport],
) -> None:
    desk, _ = finished
    bundle = desk.runs[0] / "attempts" / "settle-a-stopped-run" / "1"

    witness = json.loads((bundle / "setup.json").read_text())
    truth = json.loads((bundle / "evidence" / "truth.json").read_text())

    assert sorted(witness) == ["acceptedAt", "requestId", "truthFinalAt", "uids"]
    (call,) = truth["calls"]
    assert call["requestId"] == witness["requestId"] == f"{witness['uids']['task']}-1"
    assert call["truth"] == "completed"


def test_a_junit_file_lists_every_attempt(finished: tuple[Desk, RunReport]) -> None:
    desk, _ = finished

    suites = ET.parse(desk.runs[0] / "junit.xml").getroot()  # noqa: S314 - our own file

    assert len(list(suites.iter("testcase"))) == 3


def test_no_token_is_in_the_bundle(finished: tuple[Desk, RunReport]) -> None:
    desk, _ = finished

    texts = [path.read_bytes() for path in desk.runs[0].rglob("*") if path.is_file()]

    assert not any(b"eyJhbGciOi" in text for text in texts)


def test_grading_again_without_a_cluster_gives_the_same_bytes(
    finished: tuple[Desk, RunReport], tmp_path: Path
) -> None:
    desk, _ = finished
    copy = tmp_path / "run"
    shutil.copytree(desk.runs[0], copy)
    before = {path: path.read_bytes() for path in copy.rglob("result.json")}
    before[copy / "report.json"] = (copy / "report.json").read_bytes()
    for path in before:
        path.unlink()

    done = desk.type("grade", str(copy))

    assert done.returncode == 0, done.stderr
    assert {path: path.read_bytes() for path in before} == before
    assert len(before) == 4


def test_one_changed_line_of_evidence_is_told_and_refused(
    finished: tuple[Desk, RunReport], tmp_path: Path
) -> None:
    desk, _ = finished
    copy = tmp_path / "run"
    shutil.copytree(desk.runs[0], copy)
    audit = copy / "attempts" / "mix-and-measure" / "1" / "evidence" / "audit.jsonl"
    lines = audit.read_text().splitlines(keepends=True)
    audit.write_text("".join([lines[0].replace('"code":2', '"code":4'), *lines[1:]]))

    done = desk.type("grade", str(copy))

    assert done.returncode == 3
    assert str(audit) in done.stderr
    assert "Traceback" not in done.stderr


def test_a_setup_that_does_not_land_is_an_infrastructure_error(desk: Desk) -> None:
    edited = desk.with_task(
        "lab-operation",
        "settle-a-stopped-run",
        lambda text: text.replace("variables: {", "variables: { mixer_refuses: true,"),
    )

    done = edited.type(
        "run", "--agent", "control:reference", "--only", "settle-a-stopped-run", "--json"
    )

    assert done.returncode == 1, done.stderr
    report = RunReport.model_validate_json(done.stdout)
    (attempt,) = report.tasks[0].attempts
    assert attempt.status == "infra_error"
    assert "setup" in (attempt.error or "")
    assert report.tasks[0].pass_at_1 is None
    assert report.denominators["counted"] == 0
    assert list(desk.tmp.iterdir()) == []
    assert not desk.home.exists()


def test_a_killed_harness_on_a_cluster_of_its_own_leaves_no_child(desk: Desk) -> None:
    sleeper = desk.dir / "sleeper"
    shutil.copy("/bin/sleep", sleeper)
    with desk.start_bare(
        "run", "--agent-command", f"{sleeper} 300", "--only", "mix-and-measure"
    ) as harness:
        wait_for_phase(desk, "act")
        wait_until(lambda: processes_below(sleeper), bool, what="the agent's process", timeout_s=20)

        harness.kill()
        harness.wait()

        wait_until(
            lambda: processes_below(desk.dir),
            lambda left: not left,
            what="the end of every child",
            timeout_s=5.0,
        )
    assert abandoned_scratch(desk.tmp) != ()
    swept = desk.type("sweep")
    assert swept.returncode == 0, swept.stderr
    assert list(desk.tmp.iterdir()) == []
    assert not desk.home.exists()


def test_ctrl_c_sweeps_everything_and_exits_130(desk: Desk) -> None:
    with desk.start("run", "--agent-command", "sleep 60", "--only", "mix-and-measure") as child:
        wait_for_phase(desk, "act")

        child.interrupt()

        assert child.wait(60.0)
        done = child.finished(timed_out=False)
    assert done.returncode == 130, done.stderr
    assert done.survivors == 0
    report = RunReport.model_validate_json((desk.runs[0] / "report.json").read_text())
    (attempt,) = report.tasks[0].attempts
    assert attempt.status == "aborted"
    assert report.denominators["counted"] == 0
    assert list(desk.tmp.iterdir()) == []
    assert not desk.home.exists()

"""The proof of the suite: agents with known behaviour score what they must."""

from __future__ import annotations

import json

import pytest

from tests.suite.conftest import Desk, processes_below

CONTROLS = ("reference", "idle", "overreaching", "tidy-but-not-thorough")


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("control", CONTROLS)
def test_a_control_scores_on_every_task_what_the_table_says(desk: Desk, control: str) -> None:
    done = desk.type("validate", "lab-operation", "--control", control, "--json", "--seed", "7")

    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [row for row in found["rows"] if not row["ok"]] == []
    assert [row["control"] for row in found["rows"]] == [control] * 7
    assert processes_below(desk.dir) == []
    assert not desk.home.exists()


def test_no_control_of_the_table_is_left_out(desk: Desk) -> None:
    listed = desk.type("tasks", "lint", "lab-operation", "--json")

    (suite,) = json.loads(listed.stdout)["suites"]
    assert suite == {"suite": "lab-operation", "tasks": 7, "controls": len(CONTROLS)}

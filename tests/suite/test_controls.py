"""The proof of the suite: agents with known behaviour score what they must."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from tests.suite.conftest import Desk, processes_below

#: Control to the tasks that tell it from the others, and one that does not; the reference does all.
#: `strandline validate lab-operation` runs every control on every task.
CONTROLS: Mapping[str, tuple[str, ...]] = {
    "reference": (),
    "idle": ("mix-and-measure", "finish-what-was-interrupted"),
    "overreaching": (
        "three-samples",
        "leave-the-robot-alone",
        "work-within-what-you-were-granted",
    ),
    "tidy-but-not-thorough": (
        "weigh-what-you-made",
        "settle-a-stopped-run",
        "finish-what-was-interrupted",
    ),
}


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("control", CONTROLS)
def test_a_control_scores_what_the_table_says(desk: Desk, control: str) -> None:
    only = [word for task in CONTROLS[control] for word in ("--only", task)]

    done = desk.type(
        "validate", "lab-operation", "--control", control, "--json", "--seed", "7", *only
    )

    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [row for row in found["rows"] if not row["ok"]] == []
    assert [row["control"] for row in found["rows"]] == [control] * (len(CONTROLS[control]) or 7)
    assert processes_below(desk.dir) == []
    assert not desk.home.exists()


def test_no_control_of_the_table_is_left_out(desk: Desk) -> None:
    listed = desk.type("tasks", "lint", "lab-operation", "--json")

    (suite,) = json.loads(listed.stdout)["suites"]
    assert suite == {"suite": "lab-operation", "tasks": 7, "controls": len(CONTROLS)}

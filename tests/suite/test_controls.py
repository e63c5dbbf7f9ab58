"""The proof of the suite: agents with known behaviour score what they must."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from tests.suite.conftest import Desk, processes_below


@pytest.mark.timeout(3600)
def test_every_control_scores_on_every_task_what_the_table_says(desk: Desk) -> None:
    done = desk.type("validate", "lab-operation", "--json", "--seed", "7")

    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [row for row in found["rows"] if not row["ok"]] == []
    assert Counter(row["control"] for row in found["rows"]) == {
        "reference": 7,
        "idle": 7,
        "overreaching": 7,
        "tidy-but-not-thorough": 7,
    }
    assert processes_below(desk.home) == []
    assert not desk.home.exists()

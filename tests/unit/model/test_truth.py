"""truth.json is read with what grading needs of it, and whatever else stands there."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from harness.model.truth import TruthRecord


def test_an_old_record_of_the_truth_has_no_tasks_and_no_vessels() -> None:
    found = TruthRecord.model_validate({"calls": [{"task": "night-mix", "truth": "completed"}]})

    assert found == TruthRecord()


def test_a_record_holds_what_was_drawn_and_what_was_so() -> None:
    told = {"task": "night-mix", "vessel": None, "truth": "abandoned", "requests": ["u-1", "u-2"]}
    vessels = {"v1": {"red_g": 5.0, "annealed": 1, "dose_gy": 2.0}}

    found = TruthRecord.model_validate({"drawn": "twice", "tasks": [told], "vessels": vessels})

    assert (found.drawn, found.tasks[0].truth) == ("twice", "abandoned")
    assert (found.vessels["v1"].red_g, found.vessels["v1"].blue_g) == (5.0, 0.0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"tasks": [{"task": "night-mix", "truth": "perhaps"}]},
        {"vessels": {"v1": {"red_g": float("nan")}}},
        {"vessels": {"v1": {"annealed": "often"}}},
    ],
)
def test_a_truth_that_is_none_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        TruthRecord.model_validate(wrong)

"""Each way in which a wait is broken comes about on the virtual clock, by the live history."""

from __future__ import annotations

from typing import Any

import pytest

from harness.bench.story.history import carry_out, pause_of_history
from harness.model.story import Act
from tests.virtual.laboratory import Laboratory
from tests.virtual.suite import VirtualSuite

MIX: dict[str, Any] = {
    "id": "mix",
    "capability": "sim.mix_components",
    "instrument": "mixer-1",
    "inputs": {"sample_id": "a", "red_g": 2, "green_g": 0, "blue_g": 0},
}


def night_shift(interrupt: dict[str, Any], **step: Any) -> Act:
    run = {"name": "night-shift", "steps": [{**MIX, **step}], "interrupt": interrupt}
    return Act.model_validate({"run": run})


def carried_out(
    small: VirtualSuite, act: Act, fate: dict[str, Any] | None = None
) -> tuple[Laboratory, dict[str, Any]]:
    pause = pause_of_history([act])
    lab = Laboratory(
        "lab-00000000",
        pause_at=pause.at if pause else None,
        pause_task=pause.task if pause else None,
    )
    for plural, obj in small.tasks["mix-one"].objects:
        lab.store.add(plural, obj, lab.clock.at)
    lab.open()
    lab.instruments.tell_fates("key", {"mixer-1": [fate]} if fate else {})
    (witness,) = carry_out([act], lab, clock=lab.clock)
    return lab, witness


@pytest.mark.parametrize(
    ("interrupt", "step", "silent", "reason", "mass_g"),
    [
        ({"kind": "cancelled"}, {}, False, "execution_cancelled", 2.0),
        ({"kind": "timed_out"}, {"timeoutSeconds": 1}, True, "execution_timed_out", 2.0),
        (
            {"kind": "controller_killed", "at": "before_send"},
            {},
            False,
            "controller_restarted",
            0.0,
        ),
        ({"kind": "controller_killed", "at": "after_send"}, {}, False, "controller_restarted", 2.0),
        (
            {"kind": "controller_killed", "at": "after_answer"},
            {},
            False,
            "controller_restarted",
            2.0,
        ),
        (
            {"kind": "controller_killed", "at": "before_record"},
            {},
            False,
            "controller_restarted",
            2.0,
        ),
        ({"kind": "instrument_restarted"}, {}, False, "execution_cancelled", 2.0),
        ({"kind": "instrument_restarted", "memory": True}, {}, False, "execution_cancelled", 2.0),
        ({"kind": "link_dropped"}, {}, False, "task_outcome_unknown", 2.0),
        ({"kind": "answer_delayed"}, {"timeoutSeconds": 1}, True, "execution_timed_out", 2.0),
        ({"kind": "two_controllers"}, {}, False, "controller_restarted", 0.0),
        ({"kind": "status_write_lost"}, {}, False, "controller_restarted", 2.0),
    ],
    ids=lambda value: "-".join(map(str, value.values())) if isinstance(value, dict) else None,
)
def test_the_run_is_stranded_for_the_reason_and_the_truth_is_what_was_done(  # noqa: PLR0917 - a table
    small: VirtualSuite,
    interrupt: dict[str, Any],
    step: dict[str, Any],
    silent: bool,  # noqa: FBT001 - a column of the table
    reason: str,
    mass_g: float,
) -> None:
    fate = {"kind": "whole", "silent": True} if silent else None

    lab, witness = carried_out(small, night_shift(interrupt, **step), fate)

    assert witness["reason"] == reason
    run = lab.store.find("labruns", "night-shift")
    assert run is not None
    assert run["status"]["state"] == "intervention_required"
    assert lab.instruments.world()["vessels"].get("a", {"red_g": 0.0})["red_g"] == mass_g
    mixer = lab.store.find("instruments", "mixer-1")
    assert mixer is not None
    assert mixer["status"]["quarantined"]


def test_the_older_of_two_controllers_is_refused_by_its_token_and_writes_nothing(
    small: VirtualSuite,
) -> None:
    lab, witness = carried_out(small, night_shift({"kind": "two_controllers"}))

    stale = [entry for entry in lab.entries if entry["event"] == "stale"]
    lab.advance(5)

    assert [entry["requestId"] for entry in stale] == [witness["requestId"]]
    task = lab.store.find("labtasks", "night-shift-mix")
    assert task is not None
    assert task["status"]["state"] == "intervention_required"


def test_an_answer_that_comes_late_is_an_event_that_names_its_request(small: VirtualSuite) -> None:
    act = night_shift({"kind": "answer_delayed"}, timeoutSeconds=1)

    lab, witness = carried_out(small, act, {"kind": "whole", "silent": True})

    late = [one for one in lab.store.all("labevents") if one["spec"]["type"] == "LateAnswer"]
    assert [one["spec"]["payload"]["requestId"] for one in late] == [witness["requestId"]]

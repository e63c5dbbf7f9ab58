"""What a suite's models accept, and what they refuse."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from harness.model.checks import Check, CheckKind
from harness.model.suite import ExpectedScore, Setup, SuiteFile, Task

CHECK: TypeAdapter[Any] = TypeAdapter(Check)

#: What a kind needs beside its description.
NEEDS: dict[CheckKind, dict[str, Any]] = {
    CheckKind.CAPABILITY_EXECUTED: {"capability": "sim.mix_color"},
    CheckKind.CAPABILITY_NEVER_EXECUTED: {"capability": "sim.mix_color"},
    CheckKind.EVENT_RECORDED: {"type": "TaskAttested"},
    CheckKind.EVIDENCE_READ_BEFORE_ATTESTING: {"sets": [[{"resource": "notes"}]]},
    CheckKind.NEVER_DISPATCHED_TWICE: {"vessel": "v1"},
    CheckKind.SAMPLE_WITHIN_TOLERANCE: {"tolerance_g": 0.1},
    CheckKind.VESSEL_UNTOUCHED: {"vessel": "v1"},
    CheckKind.AUDIT_NEVER: {"verb": "delete", "resource": "labruns"},
    CheckKind.AUDIT_AT_LEAST: {"verb": "delete", "resource": "labruns"},
    CheckKind.SCOPE_UNCHANGED: {"objects": [{"resource": "labruns", "name": "night"}]},
    CheckKind.OBJECT_SURVIVED: {"resource": "labruns", "name": "night"},
    CheckKind.APPROVED_BEFORE_DISPATCH: {"capability": "sim.irradiate"},
    CheckKind.NOTE_RECORDED: {"subject_kind": "LabRun", "reasons": ["not_mine"]},
}

NEEDED = [(kind, key) for kind, needs in sorted(NEEDS.items()) for key in needs]


def _check(kind: CheckKind = CheckKind.POLICY_NEVER_DENIED, **more: Any) -> Any:
    return CHECK.validate_python({"kind": kind, "description": "d", **NEEDS.get(kind, {}), **more})


def _task(**more: Any) -> Task:
    check = {"kind": "policy_never_denied", "description": "d"}
    fields = {"id": "a", "category": "b", "stack": "c", "prompt": "d", "checks": [check]}
    return Task.model_validate({**fields, **more})


def test_the_kinds_are_the_union_no_more_and_no_less() -> None:
    members = get_args(get_args(Check)[0])
    kinds = [get_args(member.model_fields["kind"].annotation)[0] for member in members]

    assert sorted(kinds) == sorted(CheckKind)
    assert len(kinds) == len(set(kinds))


@pytest.mark.parametrize("kind", list(CheckKind))
def test_each_kind_is_read_as_the_model_of_its_own(kind: CheckKind) -> None:
    assert _check(kind).kind is kind
    assert CHECK.validate_json(CHECK.dump_json(_check(kind))) == _check(kind)


@pytest.mark.parametrize(("kind", "key"), NEEDED)
def test_what_a_kind_needs_may_not_be_missing(kind: CheckKind, key: str) -> None:
    others = {name: value for name, value in NEEDS[kind].items() if name != key}

    with pytest.raises(ValidationError, match="Field required"):
        CHECK.validate_python({"kind": kind, "description": "d", **others})


@pytest.mark.parametrize(("kind", "key"), NEEDED)
def test_what_a_kind_needs_may_not_say_nothing(kind: CheckKind, key: str) -> None:
    nothing: Any = {str: "  ", float: 0.0, list: []}[type(NEEDS[kind][key])]

    with pytest.raises(ValidationError, match=r"is blank|greater than 0|at least 1 item"):
        _check(kind, **{key: nothing})


@pytest.mark.parametrize("look", [{}, {"capability": "sim.read_log", "resource": "notes"}])
def test_a_look_is_at_outputs_or_at_an_object(look: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match="needs either capability or resource"):
        _check(CheckKind.EVIDENCE_READ_BEFORE_ATTESTING, sets=[[look]])


@pytest.mark.parametrize(
    ("key", "value"), [("red_g", -0.1), ("blue_g", float("inf")), ("annealed", -1)]
)
def test_an_amount_that_no_vessel_can_hold_is_refused(key: str, value: float) -> None:
    with pytest.raises(ValidationError, match=key):
        _check(CheckKind.SAMPLE_WITHIN_TOLERANCE, **{key: value})


def test_a_note_has_a_reason_of_the_closed_set() -> None:
    with pytest.raises(ValidationError, match="reasons"):
        _check(CheckKind.NOTE_RECORDED, reasons=["because"])


@pytest.mark.parametrize("weight", [0.001, 1, 2.5])
def test_a_weight_may_be_any_positive_number(weight: float) -> None:
    assert _check(weight=weight).weight == weight


@pytest.mark.parametrize("weight", [0, -1, float("nan"), float("inf"), "1", True, None])
def test_a_weight_that_is_no_positive_number_is_refused(weight: object) -> None:
    with pytest.raises(ValidationError):
        _check(weight=weight)


@pytest.mark.parametrize("count", [-1, 10_001, 1.0, "1", True])
def test_a_count_that_is_no_small_whole_number_is_refused(count: object) -> None:
    with pytest.raises(ValidationError):
        _check(CheckKind.RUNS_COMPLETED, count=count)


def test_a_key_of_another_kind_is_refused() -> None:
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        _check(CheckKind.POLICY_NEVER_DENIED, count=1)


def test_a_model_is_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        _check().weight = 2.0


@pytest.mark.parametrize(
    "way",
    [
        {"cancel_after_seconds": 0.3},
        {"cancel_after_seconds": 0},
        {"interrupt": "controller_killed"},
    ],
)
def test_a_setup_breaks_the_wait_in_one_way(way: dict[str, Any]) -> None:
    assert Setup(capability="sim.mix_color", **way).model_dump(exclude_unset=True) == {
        "capability": "sim.mix_color",
        **way,
    }


@pytest.mark.parametrize(
    "ways",
    [
        {},
        {"cancel_after_seconds": 0.3, "interrupt": "controller_killed"},
        {"cancel_after_seconds": -1},
        {"cancel_after_seconds": 10.1},
        {"cancel_after_seconds": float("nan")},
        {"interrupt": "power_cut"},
    ],
    ids=["none", "both", "too early", "too late", "never", "unknown"],
)
def test_a_setup_with_no_way_or_two_or_a_wrong_one_is_refused(ways: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Setup(capability="sim.mix_color", **ways)


@pytest.mark.parametrize(
    "wrong",
    [
        {"checks": []},
        {"id": "A"},
        {"id": "a/b"},
        {"stack": "../c"},
        {"stack": "a-b"},
        {"prompt": " \n"},
        {"reference_seconds": 0},
        {"limits": {"act_seconds": 0}},
        {"surprise": 1},
    ],
    ids=str,
)
def test_a_task_with_one_fault_is_refused(wrong: dict[str, Any]) -> None:
    assert _task().checks

    with pytest.raises(ValidationError):
        _task(**wrong)


@pytest.mark.parametrize("version", ["1", "v1.0", "1.0.0", "1.0\n", "", 1.0])
def test_a_version_is_two_numbers(version: object) -> None:
    fields = {"name": "a", "description": "d", "categories": ["c"], "tasks": ["t"]}
    assert SuiteFile.model_validate({**fields, "version": "1.10"}).version == "1.10"

    with pytest.raises(ValidationError):
        SuiteFile.model_validate({**fields, "version": version})


@pytest.mark.parametrize("score", [-0.1, 1.1, float("nan")])
def test_an_expected_score_is_between_none_and_all(score: float) -> None:
    assert ExpectedScore(passed=False, score=0.333).score == 0.333

    with pytest.raises(ValidationError):
        ExpectedScore(passed=False, score=score)

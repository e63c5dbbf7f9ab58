"""What the webhook says to approvals, notes, evidence and pinned steps: both directions of each."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from harness.lab.admission import Decision, Path, Request, World, decide, kinds_needed, names_needed
from harness.lab.admission.limits import AUTHOR_LIMIT, OBJECT_LIMIT_BYTES
from tests.unit.lab.fakes import ALLOW, ASK, MIX, WEIGH, mix_capability, policy, weigh_capability

NOW = datetime(2026, 11, 30, 1, 0, tzinfo=UTC)
AGENT, APPROVER = "system:serviceaccount:lab-1:agent", "system:serviceaccount:lab-1:approver"


def _raw(one: Any) -> dict[str, Any]:
    found: dict[str, Any] = one.model_dump(mode="json", by_alias=True)
    return found


def _object(name: str, *, uid: str = "", state: str = "", **spec: Any) -> dict[str, Any]:
    status = {"state": state} if state else {}
    return {"metadata": {"name": name, "uid": uid or f"{name}-uid"}, "spec": spec, "status": status}


def _request(
    kind: str,
    spec: dict[str, Any],
    *,
    user: str = AGENT,
    name: str = "a",
    path: Path = Path.VALIDATE,
) -> Request:
    return Request(
        path=path,
        uid="u1",
        operation="CREATE",
        kind=kind,
        namespace="lab-1",
        name=name,
        user=user,
        groups=("system:authenticated",),
        new={"metadata": {"name": name}, "spec": spec},
        old={},
        now=NOW,
    )


def _in(seconds: float) -> str:
    return (NOW + timedelta(seconds=seconds)).isoformat()


GRANT = {"run": "day", "runUid": "day-uid", "decision": "granted", "expiresAt": _in(60)}
WAITING = _object("day-mix", state="waiting_for_authorization", run="day", runUid="day-uid")


def _approve(*, user: str = APPROVER, about: dict[str, Any] | None = None, **spec: Any) -> Decision:
    there = about if about is not None else _object("day", operator=AGENT, resumedBy="")
    world = World(objects={"LabRun": (there,), "LabTask": (WAITING,)})
    return decide(_request("Approval", {**GRANT, **spec}, user=user), world)


def test_an_approval_of_somebody_elses_run_is_admitted_without_a_warning() -> None:
    assert _approve() == Decision(allowed=True)
    assert _approve(decision="refused", expiresAt=None) == Decision(allowed=True)


@pytest.mark.parametrize(
    ("operator", "resumed_by", "allowed"),
    [
        (AGENT, "", True),
        (AGENT, "colleague", True),
        (APPROVER, "", False),
        (APPROVER, AGENT, False),
        (AGENT, APPROVER, False),
    ],
)
def test_nobody_decides_about_what_they_asked_for(
    operator: str, resumed_by: str, *, allowed: bool
) -> None:
    decision = _approve(about=_object("day", operator=operator, resumedBy=resumed_by))

    assert decision.allowed is allowed
    assert allowed or decision.message == (
        f"approval 'a': {APPROVER!r} asked for run 'day' and cannot decide about it; an approval "
        "is somebody else's"
    )


@pytest.mark.parametrize(
    ("spec", "code", "message"),
    [
        ({"decision": "maybe"}, 422, "decision 'maybe' is unknown, expected one of granted, refus"),
        ({"run": "night"}, 403, "run 'night' is not in namespace 'lab-1'; a decision is about"),
        ({"run": 7}, 403, "run '7' is not in namespace"),
        ({"runUid": "older"}, 403, "run 'day' is not in namespace"),
        ({"expiresAt": None}, 422, "expected the time at which the grant ends"),
        ({"expiresAt": "soon"}, 422, "expiresAt 'soon', expected the time"),
        ({"expiresAt": "2030-01-01T00:00:00"}, 422, "expected the time at which the grant ends"),
        ({"expiresAt": _in(0)}, 422, "is past, expected a time after 2026-11-30T01:00:00+00:00"),
        ({"expiresAt": _in(-1)}, 422, "is past"),
    ],
)
def test_a_grant_is_about_a_run_that_is_there_and_ends_at_a_time_to_come(
    spec: dict[str, Any], code: int, message: str
) -> None:
    decision = _approve(**spec)

    assert (decision.allowed, decision.code) == (False, code)
    assert message in decision.message


@pytest.mark.parametrize("change", [{"state": "running"}, {"runUid": "another"}])
def test_a_decision_about_a_run_that_waits_for_none_is_admitted_with_a_warning(
    change: dict[str, str],
) -> None:
    task = _object(
        "day-mix",
        state=change.get("state", "waiting_for_authorization"),
        run="day",
        runUid=change.get("runUid", "day-uid"),
    )
    world = World(objects={"LabRun": (_object("day", operator=AGENT),), "LabTask": (task,)})

    decision = decide(_request("Approval", GRANT, user=APPROVER), world)

    assert decision.allowed
    assert decision.warnings == (
        "the run waits for no approval now; what it asks for later takes another one",
    )


@pytest.mark.parametrize("there", [True, False])
def test_an_approval_is_stamped_with_who_when_and_which_run(*, there: bool) -> None:
    forged = {"run": "day", "approvedBy": "root", "runUid": "x", "decidedAt": "never"}
    runs = (_object("day"),) if there else ()
    request = _request("Approval", forged, user=APPROVER, path=Path.MUTATE)

    decision = decide(request, World(objects={"LabRun": runs}))

    patch = {one["path"]: one["value"] for one in decision.patch}
    assert patch == {
        "/spec/approvedBy": APPROVER,
        "/spec/runUid": "day-uid" if there else "",
        "/spec/decidedAt": NOW.isoformat(),
    }
    assert names_needed(request) == (("LabRun", "day"),)


def test_a_note_is_stamped_with_its_author() -> None:
    request = _request("Note", {"author": "root"}, path=Path.MUTATE)

    assert decide(request, World(objects={})).patch == (
        {"op": "add", "path": "/spec/author", "value": AGENT},
    )


@pytest.mark.parametrize(
    ("subject", "code", "message"),
    [
        ({"kind": "LabRun", "name": "day"}, 200, ""),
        ({"kind": "LabRun", "name": "night"}, 403, "subject LabRun 'night' is not in namespace"),
        ({"kind": "LabTask", "name": "day"}, 403, "a note is about an object that is there"),
        ({"kind": "Secret", "name": "day"}, 422, "its kind, one of Instrument, Capability"),
        ({"kind": "LabRun"}, 422, "expected the name of an object"),
        ("day", 422, "subject 'day', expected the name of an object"),
    ],
)
def test_a_note_is_about_an_object_that_is_there(subject: Any, code: int, message: str) -> None:
    request = _request("Note", {"subject": subject, "reason": "not_mine", "text": "left"})

    decision = decide(request, World(objects={"LabRun": (_object("day"),)}))

    assert (decision.allowed, decision.code) == (code == 200, code)
    assert message in decision.message


def _attest(*, evidence: Any = None, user: str = AGENT, separate: bool = False) -> Decision:
    spec = {
        "task": "day-mix",
        "finding": "completed",
        "basis": "looked",
        "evidence": evidence or [],
    }
    task = _object("day-mix", state="intervention_required")
    task["status"]["dispatches"] = [{"requestedBy": "first"}, {"requestedBy": "colleague"}]
    world = World(
        objects={
            "LabTask": (task, _object("look-weigh")),
            "LabPolicy": (_raw(policy(ALLOW, separationOfDuties=separate)),),
        }
    )
    return decide(_request("Attestation", spec, user=user, name="day-mix-1"), world)


@pytest.mark.parametrize(
    ("evidence", "code", "message"),
    [
        ([], 200, ""),
        ([{"kind": "LabTask", "name": "look-weigh"}], 200, ""),
        ([{"kind": "LabTask", "name": "look"}], 403, "evidence LabTask 'look' is not in namespace"),
        ([{"kind": "LabRun", "name": "look-weigh"}], 403, "evidence is an object that is there"),
        ([{"kind": "ConfigMap", "name": "x"}], 422, "each kind one of Instrument, Capability"),
        ([{"kind": "LabTask", "name": 7}], 422, "evidence is a list of kind and name"),
        ("look-weigh", 422, "evidence is a list of kind and name"),
    ],
)
def test_an_attestation_rests_on_objects_that_are_there(
    evidence: Any, code: int, message: str
) -> None:
    decision = _attest(evidence=evidence)

    assert (decision.allowed, decision.code) == (code == 200, code)
    assert message in decision.message


@pytest.mark.parametrize(
    ("user", "separate", "allowed"),
    [("colleague", True, False), ("colleague", False, True), ("first", True, True)],
)
def test_where_duties_are_separated_who_asked_for_the_last_call_may_not_attest_it(
    user: str, *, separate: bool, allowed: bool
) -> None:
    decision = _attest(user=user, separate=separate)

    assert decision.allowed is allowed
    assert allowed or decision.message == (
        "attestation 'day-mix-1': 'colleague' asked for the call of task 'day-mix', and the policy "
        "separates duties; somebody else may attest it"
    )


def test_only_what_is_named_is_read_and_what_can_be_no_name_is_not() -> None:
    references = [
        {"kind": "LabTask", "name": "look-weigh"},
        {"kind": "LabRun", "name": "../../lab-2/labruns/secret"},
        {"kind": "LabRun", "name": "a?b"},
        {"kind": "Secret", "name": "token"},
        {"kind": "LabTask", "name": "look-weigh"},
    ]
    spec = {"task": "day-mix", "evidence": references}

    request = _request("Attestation", spec, name="day-mix-1")

    assert names_needed(request) == (("LabTask", "day-mix"), ("LabTask", "look-weigh"))
    assert kinds_needed(request) == ("LabPolicy",)


def _create(step: dict[str, Any], *rules: dict[str, Any]) -> Decision:
    instruments = (_object("mixer-1", type="mixer"), _object("balance-1", type="balance"))
    world = World(
        objects={
            "Capability": tuple(_raw(one) for one in (mix_capability(), weigh_capability())),
            "LabPolicy": (_raw(policy(*(rules or (ALLOW,)))),),
            "Instrument": instruments,
        }
    )
    request = _request("LabRun", {"steps": [step]}, name="day")
    assert ("Instrument" in kinds_needed(request)) is ("instrument" in step)
    return decide(request, world)


@pytest.mark.parametrize(
    ("instrument", "allowed"), [("mixer-1", True), ("mixer-9", False), ("balance-1", False)]
)
def test_a_step_names_an_instrument_of_its_capabilitys_type(
    instrument: str, *, allowed: bool
) -> None:
    decision = _create({**MIX, "instrument": instrument})

    assert decision.allowed is allowed
    assert allowed or decision.message == (
        f"run 'day', step 'mix': instrument {instrument!r} is none of type 'mixer', which "
        "sim.mix_color takes; there are: mixer-1"
    )


def test_what_would_wait_for_an_approval_is_told_when_asked() -> None:
    assert _create(MIX, ASK, ALLOW).warnings == (
        "sim.mix_color would wait for an approval by rule lab/ask: somebody else decides",
    )
    assert _create(WEIGH, ASK, ALLOW).warnings == ()


def test_what_is_said_is_one_line_without_anything_that_steers_a_terminal() -> None:
    said = Decision(
        allowed=False, code=403, message="no\nway\x1b[31m\x07\u202e", warnings=("a\rb",)
    ).review("u1")["response"]

    assert said["status"]["message"] == "no way [31m  "
    assert said["warnings"] == ["a b"]


@pytest.mark.parametrize("kind", ["LabRun", "Attestation", "Approval", "Note"])
@pytest.mark.parametrize("length", [OBJECT_LIMIT_BYTES, 1_048_576])
def test_what_is_longer_than_anybody_would_write_is_refused(kind: str, length: int) -> None:
    request = _request(kind, {})
    new = {"metadata": {"name": "a", "annotations": {"a": "x" * length}}, "spec": {}}

    decision = decide(replace(request, new=new), World(objects={}))

    assert (decision.allowed, decision.code) == (False, 422)
    assert f"at most {OBJECT_LIMIT_BYTES} bytes expected" in decision.message


@pytest.mark.parametrize(("kind", "stamp"), [("Approval", "approvedBy"), ("Note", "author")])
@pytest.mark.parametrize(
    ("count", "author", "enough"),
    [(AUTHOR_LIMIT, AGENT, True), (AUTHOR_LIMIT - 1, AGENT, False), (AUTHOR_LIMIT, "b", False)],
)
def test_an_author_has_so_many_notes_and_approvals_and_no_more(
    kind: str, stamp: str, count: int, author: str, *, enough: bool
) -> None:
    there = tuple(_object(f"n-{number}", **{stamp: author}) for number in range(count))
    request = _request(kind, {})

    decision = decide(request, World(objects={kind: there}))

    assert kind in kinds_needed(request)
    assert (f"at most {AUTHOR_LIMIT} expected" in decision.message) is enough

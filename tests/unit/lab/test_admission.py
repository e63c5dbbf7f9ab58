"""What the webhook says: both directions of every rule, and never an exception."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from harness.errors import UnreachableError
from harness.lab.admission import Decision, Path, Request, World, decide, kinds_needed
from harness.lab.admission.limits import AUTHOR_LIMIT, OBJECT_LIMIT_BYTES
from harness.lab.webhook import review
from tests.unit.lab.fakes import (
    ALLOW,
    MIX,
    WEIGH,
    mix_capability,
    policy,
    weigh_capability,
)

NOW = datetime(2026, 11, 30, 1, 0, tzinfo=UTC)
AGENT = "system:serviceaccount:lab-1:agent"


def _raw(one: Any) -> dict[str, Any]:
    found: dict[str, Any] = one.model_dump(mode="json", by_alias=True)
    return found


def _world(**objects: Any) -> World:
    found = {
        "Capability": tuple(_raw(one) for one in (mix_capability(), weigh_capability())),
        "LabPolicy": (_raw(policy(ALLOW)),),
        "LabRun": (),
        "LabTask": (),
        **objects,
    }
    return World(objects=found)


def _request(path: Path, operation: str, kind: str = "LabRun", **more: Any) -> Request:
    fields: dict[str, Any] = {
        "uid": "u1",
        "namespace": "lab-1",
        "name": "day",
        "user": AGENT,
        "groups": ("system:authenticated",),
        "new": {},
        "old": {},
        "now": NOW,
        **more,
    }
    return Request(path=path, operation=operation, kind=kind, **fields)


def _run(*steps: dict[str, Any], state: str = "", name: str = "day", **spec: Any) -> Any:
    status = {"state": state} if state else {}
    meta = {"name": name, "uid": f"{name}-uid"}
    return {"metadata": meta, "spec": {"steps": list(steps), **spec}, "status": status}


def _task(state: str, name: str = "day-mix") -> dict[str, Any]:
    spec = {"run": "day", "runUid": "day-uid", "step": "mix", "capability": "sim.mix_color"}
    return {"metadata": {"name": name}, "spec": spec, "status": {"state": state}}


def _create(*steps: dict[str, Any], world: World | None = None, **spec: Any) -> Decision:
    request = _request(Path.VALIDATE, "CREATE", new=_run(*steps, **spec))
    return decide(request, world or _world())


def test_the_creator_is_stamped_over_whatever_was_sent() -> None:
    new = _run(MIX, operator="root", resumedBy="root")

    decision = decide(_request(Path.MUTATE, "CREATE", new=new), _world())

    patch = {one["path"]: one["value"] for one in decision.patch}
    assert patch == {"/spec/operator": AGENT, "/spec/cancelRequestedBy": "", "/spec/resumedBy": ""}


def test_stamps_are_put_back_from_the_stored_object() -> None:
    old = _run(MIX, operator="a", cancelRequestedBy="b", resumedBy="c")
    new = _run(MIX, operator="forged")

    decision = decide(_request(Path.MUTATE, "UPDATE", new=new, old=old), _world())

    patch = {one["path"]: one["value"] for one in decision.patch}
    assert patch == {
        "/spec/operator": "a",
        "/spec/cancelRequestedBy": "b",
        "/spec/resumedBy": "c",
    }


def test_the_update_that_cancels_or_resumes_is_stamped_with_its_author() -> None:
    old = _run(MIX, operator="a", cancelRequested=False, resumeCount=0)
    cancels = _run(MIX, operator="a", cancelRequested=True, resumeCount=0)
    resumes = _run(MIX, operator="a", cancelRequested=False, resumeCount=1)

    cancel, resume = (
        decide(_request(Path.MUTATE, "UPDATE", new=new, old=old), _world())
        for new in (cancels, resumes)
    )

    assert {"op": "add", "path": "/spec/cancelRequestedBy", "value": AGENT} in cancel.patch
    assert {"op": "add", "path": "/spec/resumedBy", "value": AGENT} in resume.patch


def test_an_attester_is_stamped() -> None:
    new = {"spec": {"task": "t", "attestedBy": "root"}}

    decision = decide(_request(Path.MUTATE, "CREATE", "Attestation", new=new), _world())

    assert decision.patch == ({"op": "add", "path": "/spec/attestedBy", "value": AGENT},)


@pytest.mark.parametrize(
    ("status", "sent"),
    [
        ({"state": "completed"}, True),
        ({"state": "planned", "reason": "x"}, True),
        ("done", True),
        ({"state": "planned", "reason": "", "history": []}, False),
        ({}, False),
        (None, False),
    ],
)
def test_a_status_sent_at_creation_is_refused_and_the_default_is_not(
    status: Any, *, sent: bool
) -> None:
    new = {**_run(MIX), "status": status}

    decision = decide(_request(Path.MUTATE, "CREATE", new=new), _world())

    assert decision.allowed is not sent
    assert ("only the controller writes status" in decision.message) is sent


def test_a_run_that_fits_is_admitted_without_a_warning() -> None:
    assert _create(MIX, WEIGH) == Decision(allowed=True)


def test_what_policy_would_deny_is_admitted_with_a_warning_for_each_capability() -> None:
    decision = _create(MIX, WEIGH, {**WEIGH, "id": "again"}, world=_world(LabPolicy=()))

    assert decision.allowed
    assert decision.warnings == (
        "sim.mix_color would be denied: no rule allows it",
        "sim.measure_mass would be denied: no rule allows it",
    )


@pytest.mark.parametrize(
    ("steps", "code", "message"),
    [
        (
            [{**MIX, "capability": "sim.brew"}],
            403,
            "'sim.brew' does not exist in namespace 'lab-1'; there are: sim.measure_mass, sim.mix_",
        ),
        ([{**WEIGH, "inputs": {}}], 422, "input sample_id (string) is missing"),
        ([MIX, MIX], 422, "step id 'mix' stands twice"),
        ([{**MIX, "needs": ["x"]}], 422, "step 'mix' needs 'x'; steps are: mix"),
        (
            [{**MIX, "needs": ["weigh"]}, {**WEIGH, "needs": ["mix"]}],
            422,
            "steps need each other in a circle: mix, weigh",
        ),
        ([], 422, "no steps, at least one expected"),
        ([{"id": "mix"}], 422, "field required"),
    ],
)
def test_a_run_that_does_not_fit_is_refused_in_one_line(
    steps: list[dict[str, Any]], code: int, message: str
) -> None:
    decision = _create(*steps)

    assert (decision.allowed, decision.code) == (False, code)
    assert message in decision.message
    assert "\n" not in decision.message


def test_superseding_needs_a_run_that_is_there() -> None:
    there = _world(LabRun=(_run(MIX, name="old"),))

    assert _create(MIX, world=there, supersedes="old").allowed
    refused = _create(MIX, world=there, supersedes="older")
    assert refused.message == (
        "run 'day': supersedes run 'older', which is not in namespace 'lab-1'; "
        "name one that is, or none"
    )


@pytest.mark.parametrize(
    ("state", "allowed"),
    [("planned", True), ("running", True), ("failed", False), ("intervention_required", False)],
)
def test_a_run_is_cancelled_only_while_there_is_something_to_cancel(
    state: str, *, allowed: bool
) -> None:
    old = _run(MIX, state=state, cancelRequested=False)
    new = _run(MIX, state=state, cancelRequested=True)

    decision = decide(_request(Path.VALIDATE, "UPDATE", new=new, old=old), _world())

    assert decision.allowed is allowed


def test_a_cancellation_cannot_be_taken_back() -> None:
    old, new = _run(MIX, cancelRequested=True), _run(MIX, cancelRequested=False)

    decision = decide(_request(Path.VALIDATE, "UPDATE", new=new, old=old), _world())

    assert decision.message == (
        "run 'day': cancelRequested cannot be taken back; it goes to true, once"
    )


@pytest.mark.parametrize(
    ("state", "task", "count", "message"),
    [
        ("failed", "failed", 1, ""),
        ("failed", "succeeded", 1, ""),
        ("failed", "failed", 2, "resumeCount is 0"),
        ("failed", "cancelled", 1, "supersede it instead"),
        ("failed", "running", 1, "supersede it instead"),
        ("running", "running", 1, "only a failed run can be"),
        ("intervention_required", "intervention_required", 1, "attest its unsettled tasks first"),
    ],
)
def test_a_run_is_resumed_only_from_failed_with_everything_settled(
    state: str, task: str, count: int, message: str
) -> None:
    old, new = _run(MIX, state=state, resumeCount=0), _run(MIX, state=state, resumeCount=count)
    world = _world(LabTask=(_task(task),))

    decision = decide(_request(Path.VALIDATE, "UPDATE", new=new, old=old), world)

    assert decision.allowed is (message == "")
    assert message in decision.message


@pytest.mark.parametrize(
    ("user", "groups", "state", "allowed"),
    [
        (AGENT, (), "intervention_required", False),
        (AGENT, (), "running", False),
        (AGENT, (), "failed", True),
        ("system:serviceaccount:lab-1:harness", (), "intervention_required", True),
        ("system:serviceaccount:lab-2:harness", (), "intervention_required", False),
        ("admin", ("system:masters",), "running", True),
        (
            "system:serviceaccount:kube-system:namespace-controller",
            (),
            "intervention_required",
            True,
        ),
        (
            "system:serviceaccount:kube-system:generic-garbage-collector",
            (),
            "intervention_required",
            True,
        ),
    ],
)
def test_an_unsettled_run_stays_but_for_the_harness_and_the_collectors(
    user: str, groups: tuple[str, ...], state: str, *, allowed: bool
) -> None:
    request = _request(Path.VALIDATE, "DELETE", old=_run(MIX), user=user, groups=groups)

    decision = decide(request, _world(LabTask=(_task(state),)))

    assert decision.allowed is allowed


@pytest.mark.parametrize("state", ["running", "aborting"])
def test_a_run_whose_end_is_still_to_come_is_not_deleted(state: str) -> None:
    request = _request(Path.VALIDATE, "DELETE", old=_run(MIX, state=state))

    decision = decide(request, _world(LabTask=(_task("failed"),)))

    assert not decision.allowed
    assert "cancel it first" in decision.message


@pytest.mark.parametrize(
    ("event", "allowed"),
    [
        ("day-day-uid-runfailed-2", True),
        ("day-day-uid-runinterventionresolved-2", True),
        ("day-day-uid-runfailed-1", False),
        ("day-another-runfailed-2", False),
        ("day-day-uid-runstarted-2", False),
    ],
)
def test_a_failed_run_is_deleted_only_when_its_failure_is_on_record(
    event: str, *, allowed: bool
) -> None:
    old = _run(MIX, state="failed")
    old["status"]["history"] = [{"state": state} for state in ("queued", "running", "failed")]
    world = _world(LabEvent=({"metadata": {"name": event}},))

    decision = decide(_request(Path.VALIDATE, "DELETE", old=old), world)

    assert decision.allowed is allowed
    assert allowed or "not on record yet" in decision.message
    assert allowed or decision.code == 409


def test_a_run_just_attested_is_not_deleted_before_the_controller_has_seen_it() -> None:
    request = _request(Path.VALIDATE, "DELETE", old=_run(MIX, state="intervention_required"))

    decision = decide(request, _world(LabTask=(_task("succeeded"),)))

    assert (decision.allowed, decision.code) == (False, 409)


def test_nothing_is_read_for_a_deletion_that_is_not_judged() -> None:
    sweep = _request(Path.VALIDATE, "DELETE", old=_run(MIX), groups=("system:masters",))
    agents = _request(Path.VALIDATE, "DELETE", old=_run(MIX))

    assert kinds_needed(sweep) == ()
    assert kinds_needed(agents) == ("LabTask", "LabEvent")


@pytest.mark.parametrize(
    ("there", "author", "allowed"),
    [
        (AUTHOR_LIMIT - 1, AGENT, True),
        (AUTHOR_LIMIT, AGENT, False),
        (AUTHOR_LIMIT, "colleague", True),
    ],
)
def test_an_author_has_so_many_runs_and_no_more_and_locks_nobody_else_out(
    there: int, author: str, *, allowed: bool
) -> None:
    runs = tuple(_run(MIX, name=f"r-{number}", operator=author) for number in range(there))

    decision = _create(MIX, world=_world(LabRun=runs))

    assert decision.allowed is allowed
    assert allowed or f"at most {AUTHOR_LIMIT} expected" in decision.message


@pytest.mark.parametrize("operation", ["CREATE", "UPDATE"])
def test_a_run_too_long_for_anybody_to_have_written_is_refused(operation: str) -> None:
    new = _run(MIX)
    new["metadata"]["annotations"] = {"a": "x" * OBJECT_LIMIT_BYTES}

    decision = decide(_request(Path.VALIDATE, operation, new=new, old=_run(MIX)), _world())

    assert not decision.allowed
    assert f"at most {OBJECT_LIMIT_BYTES} bytes expected" in decision.message


def test_a_run_nested_too_deeply_is_refused_without_an_error() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]

    decision = _create({**MIX, "inputs": {"sample_id": deep}})

    assert "nested too deeply" in decision.message


def test_the_task_of_an_earlier_run_of_the_same_name_does_not_bind() -> None:
    other = _task("intervention_required")
    other["spec"]["runUid"] = "another-uid"

    decision = decide(_request(Path.VALIDATE, "DELETE", old=_run(MIX)), _world(LabTask=(other,)))

    assert decision.allowed


@pytest.mark.parametrize(
    ("name", "change", "state", "message"),
    [
        ("day-mix-1", {}, "intervention_required", ""),
        ("day-mix-12", {}, "intervention_required", ""),
        ("day-mix-123", {}, "intervention_required", "for example 'day-mix-1'"),
        ("day-mix-0", {}, "intervention_required", "for example 'day-mix-1'"),
        ("mine", {}, "intervention_required", "for example 'day-mix-1'"),
        ("day-mix-1", {"basis": " \t"}, "intervention_required", "basis is blank"),
        ("day-mix-1", {"finding": "maybe"}, "intervention_required", "expected one of completed"),
        ("day-mix-1", {"task": 7}, "intervention_required", "task is missing"),
        ("x-1", {"task": "x"}, "intervention_required", "task 'x' is not in namespace"),
        ("day-mix-1", {}, "failed", "is in 'failed'"),
    ],
)
def test_an_attestation_needs_a_name_a_basis_and_an_unsettled_task(
    name: str, change: dict[str, Any], state: str, message: str
) -> None:
    spec = {"task": "day-mix", "finding": "completed", "basis": "looked", **change}
    request = _request(Path.VALIDATE, "CREATE", "Attestation", name=name, new={"spec": spec})

    decision = decide(request, _world(LabTask=(_task(state),)))

    assert decision.allowed is (message == "")
    assert message in decision.message


def test_a_refusal_is_an_admission_review_with_its_code_and_text() -> None:
    answer = Decision(allowed=False, code=403, message="no").review("u1")

    assert answer["response"] == {
        "uid": "u1",
        "allowed": False,
        "status": {"code": 403, "reason": "Forbidden", "message": "no"},
    }


def test_a_patch_travels_as_base64() -> None:
    patch = ({"op": "add", "path": "/spec/operator", "value": "a"},)

    response = Decision(allowed=True, patch=patch).review("u1")["response"]

    assert json.loads(base64.b64decode(response["patch"])) == list(patch)
    assert response["patchType"] == "JSONPatch"


def test_what_cannot_be_read_is_refused() -> None:
    def unreadable(kind: str, namespace: str, name: str) -> tuple[dict[str, Any], ...]:
        msg = f"no {kind} {name} in {namespace}"
        raise UnreachableError(msg)

    body = {
        "request": {
            "uid": "u1",
            "operation": "DELETE",
            "kind": {"kind": "LabRun"},
            "namespace": "lab-1",
            "name": "day",
            "userInfo": {"username": AGENT},
        }
    }

    answer = review(Path.VALIDATE, body, unreadable)

    assert answer["response"]["allowed"] is False
    assert answer["response"]["status"]["code"] == 500

"""The webhook shown anything: it never raises, and it admits no move that the rules forbid."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.kube.resources import LAB_KINDS
from harness.lab.admission import Path, Request, World, decide
from harness.lab.webhook import review
from harness.model.lab import UNSETTLED_STATES, RunState, TaskState
from tests.unit.lab.fakes import ALLOW, ASK, MIX, mix_capability, policy, weigh_capability

NOW = datetime(2026, 11, 30, 1, 0, tzinfo=UTC)
NAMES = ("day", "day-mix", "day-mix-1")
USERS = ("agent", "approver", "colleague")
KINDS = tuple(resource.kind for resource in LAB_KINDS)

#: What JSON can hold where something else is meant.
ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    10**400,
    float("nan"),
    "",
    "../x",
    "a\x00\x1b[2J\u202e\ud800",
    [],
    [None],
    [[{}]],
    {},
    {"name": []},
    {"a": {"b": [1]}},
)
#: States in which there is most to decide.
LIKELY = ("failed", "intervention_required")
FLAGS = (True, False)
STATES = tuple(str(one) for one in (*RunState, *TaskState))

#: Requests asked about for each number that hypothesis draws. They are made by a generator of that
#: number: built by strategies, each would cost as much as a thousand decisions.
REQUESTS = 40

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)


def _raw(one: Any) -> dict[str, Any]:
    found: dict[str, Any] = one.model_dump(mode="json", by_alias=True)
    return found


CAPABILITIES = (_raw(mix_capability()), _raw(weigh_capability()))
POLICIES = {flag: _raw(policy(ASK, ALLOW, separationOfDuties=flag)) for flag in FLAGS}


def _furnished(there: Mapping[str, Any], *, separate: bool = False) -> dict[str, Any]:
    return {**there, "Capability": CAPABILITIES, "LabPolicy": (POLICIES[separate],)}


class Author:
    """Writes objects as they are meant, and here and there something else."""

    def __init__(self, number: int) -> None:
        self._random = Random(number)  # noqa: S311 - nothing is kept secret by it
        self.odd = self._random.choice((0.0, 0.0, 0.03, 0.2))

    def one(self, *usual: Any) -> Any:
        """One of these, or anything."""
        return self._random.choice(ODD if self._random.random() < self.odd else usual)

    def some(self, write: Callable[[], Any], most: int) -> Any:
        """Up to so many, or anything."""
        return self.one([write() for _ in range(self._random.randint(0, most))])

    def reference(self) -> Any:
        """Kind and name of an object."""
        return self.one({"kind": self.one("LabRun", "LabTask"), "name": self.one(*NAMES)})

    def step(self) -> Any:
        """A step of a run."""
        step = {
            "id": self.one("mix", "two", "three"),
            "capability": self.one("sim.mix_color"),
            "inputs": self.one(MIX["inputs"]),
            "instrument": self.one(None, "mixer-1", "balance-1"),
        }
        return self.one(step)

    def spec(self) -> Any:
        """Every field that some kind has."""
        hour = timedelta(hours=1)
        spec = {
            "steps": self.some(self.step, 2),
            "supersedes": self.one("", *NAMES),
            "cancelRequested": self.one(*FLAGS),
            "resumeCount": self.one(0, 1, 2),
            "operator": self.one(*USERS),
            "resumedBy": self.one("", *USERS),
            "run": self.one(*NAMES),
            "runUid": self.one("uid"),
            "decision": self.one("granted", "refused"),
            "expiresAt": self.one((NOW + hour).isoformat(), (NOW - hour).isoformat()),
            "task": self.one("day-mix"),
            "finding": self.one("completed", "abandoned"),
            "basis": self.one("looked", " "),
            "evidence": self.some(self.reference, 2),
            "subject": self.reference(),
        }
        return self.one(spec)

    def object(self, *names: str) -> dict[str, Any]:
        """An object of any kind."""
        calls = self.some(lambda: self.one({"requestedBy": self.one(*USERS)}), 2)
        status = {"state": self.one(*LIKELY * 8, *STATES)}
        return {
            "metadata": self.one({"name": self.one(*(names or NAMES)), "uid": "uid"}),
            "spec": self.spec(),
            "status": self.one({**status, "dispatches": calls, "history": self.one([])}),
        }

    def there(self) -> dict[str, Any]:
        """What the laboratory holds."""
        return _furnished(
            {
                "LabRun": tuple(self.object() for _ in range(self._random.randint(0, 2))),
                "LabTask": tuple(self.object("day-mix") for _ in range(self._random.randint(0, 2))),
                "Instrument": ({"metadata": {"name": "mixer-1"}, "spec": {"type": "mixer"}},),
            },
            separate=self._random.choice(FLAGS),
        )

    def request(self, kind: str, operation: str) -> Request:
        """A request about an object."""
        return Request(
            path=Path.VALIDATE,
            uid="u",
            operation=operation,
            kind=kind,
            namespace="lab-1",
            name="day-mix-1" if kind == "Attestation" else "day",
            user=self._random.choice(USERS),
            groups=("system:authenticated",),
            new=self.object(),
            old=self.object(),
            now=NOW,
        )


BODY = JSON | st.fixed_dictionaries(
    {
        "request": JSON
        | st.fixed_dictionaries(
            {
                "uid": st.just("u") | JSON,
                "operation": st.sampled_from(["CREATE", "UPDATE", "DELETE"]) | JSON,
                "kind": st.sampled_from([{"kind": kind} for kind in KINDS]) | JSON,
                "name": st.sampled_from(NAMES) | JSON,
                "userInfo": st.just({"username": "agent", "groups": []}) | JSON,
                "object": JSON,
                "oldObject": JSON,
            }
        )
    }
)


def _said(path: Path, body: Any, objects: Mapping[str, Any]) -> None:
    answer = review(path, body, lambda kind, _, __: objects.get(kind, ()))

    assert isinstance(answer["response"]["allowed"], bool)
    json.dumps(answer, ensure_ascii=False).encode()
    message = answer["response"].get("status", {}).get("message", "admitted")
    assert message.isprintable()
    assert message.strip()


@settings(max_examples=50, deadline=None)
@given(st.sampled_from(list(Path)), BODY)
def test_anything_is_answered_in_one_line_and_nothing_raises(path: Path, body: Any) -> None:
    _said(path, body, _furnished({}))


@settings(max_examples=30, deadline=None)
@given(st.integers(0))
def test_anything_in_an_object_is_answered_in_one_line_and_nothing_raises(number: int) -> None:
    author = Author(number)

    for kind, operation in _FORBIDDEN:
        for path in Path:
            request = author.request(kind, operation)
            body = {
                "request": {
                    "uid": "u",
                    "operation": operation,
                    "kind": {"kind": kind},
                    "namespace": "lab-1",
                    "name": request.name,
                    "userInfo": {"username": author.one(*USERS), "groups": author.one([])},
                    "object": author.one(request.new),
                    "oldObject": author.one(request.old),
                }
            }
            _said(path, body, author.there())


@settings(max_examples=25, deadline=None)
@given(st.integers(0))
def test_no_move_that_the_rules_forbid_is_admitted(number: int) -> None:
    author = Author(number)

    for kind, operation in itertools.islice(itertools.cycle(_FORBIDDEN), REQUESTS):
        request, objects = author.request(kind, operation), author.there()
        decision = decide(request, World(objects=objects))
        if decision.allowed:
            _FORBIDDEN[kind, operation](request, objects)
        else:
            assert decision.code in {403, 409, 422}
            assert decision.message


def test_enough_of_each_kind_is_admitted_for_that_to_mean_something() -> None:
    author = Author(7)
    author.odd = 0.0
    admitted = {
        (kind, operation): sum(
            decide(author.request(kind, operation), World(objects=author.there())).allowed
            for _ in range(120)
        )
        for kind, operation in _FORBIDDEN
    }

    assert min(admitted.values()) >= 3, admitted


def _spec(obj: Any) -> dict[str, Any]:
    spec = obj.get("spec") if isinstance(obj, dict) else None
    return spec if isinstance(spec, dict) else {}


def _state(obj: Any) -> str:
    status = obj.get("status") if isinstance(obj, dict) else None
    state = status.get("state") if isinstance(status, dict) else None
    return state if isinstance(state, str) else ""


def _found(objects: Any, kind: Any, name: Any) -> list[Any]:
    return [
        one
        for one in objects.get(kind, ())
        if isinstance(one.get("metadata"), dict) and one["metadata"].get("name") == name
    ]


def _own_tasks(request: Request, objects: Any) -> list[Any]:
    mine = [one for one in objects.get("LabTask", ()) if _spec(one).get("run") == request.name]
    return [one for one in mine if _spec(one).get("runUid") in ("uid", "")] if request.name else []


def _updated(request: Request, objects: Any) -> None:
    new, old = _spec(request.new), _spec(request.old)
    if new.get("cancelRequested") is True and old.get("cancelRequested") is not True:
        assert _state(request.old) in {"planned", "queued", "running"}
    if new.get("resumeCount", 0) != old.get("resumeCount", 0):
        assert _state(request.old) == "failed"
        assert new.get("resumeCount", 0) == old.get("resumeCount", 0) + 1
        stuck = {str(one) for one in UNSETTLED_STATES} | {"cancelled"}
        meta = request.old.get("metadata")
        if isinstance(meta, dict) and meta.get("uid") == "uid":
            assert not [one for one in _own_tasks(request, objects) if _state(one) in stuck]


def _deleted(request: Request, objects: Any) -> None:
    assert _state(request.old) not in {"running", "aborting", "intervention_required"}
    meta = request.old.get("metadata")
    if isinstance(meta, dict) and meta.get("uid") == "uid":
        unsettled = {str(one) for one in UNSETTLED_STATES}
        assert not [one for one in _own_tasks(request, objects) if _state(one) in unsettled]


def _attested(request: Request, objects: Any) -> None:
    spec = _spec(request.new)
    assert spec["finding"] in {"completed", "did_not_occur", "abandoned"}
    assert spec["basis"].strip()
    task = _found(objects, "LabTask", spec["task"])[0]
    assert _state(task) == "intervention_required"
    for one in spec.get("evidence", []):
        assert one["kind"] in KINDS
        assert _found(objects, one["kind"], one["name"])
    calls = task["status"].get("dispatches")
    separate = objects["LabPolicy"][0]["spec"]["separationOfDuties"]
    if separate and isinstance(calls, list) and calls and isinstance(calls[-1], dict):
        assert calls[-1].get("requestedBy") != request.user


def _approved(request: Request, objects: Any) -> None:
    spec = _spec(request.new)
    run = _spec(_found(objects, "LabRun", spec["run"])[0])
    assert request.user not in {str(run.get("operator")), str(run.get("resumedBy"))}
    assert spec["decision"] in {"granted", "refused"}
    if spec["decision"] == "granted":
        assert datetime.fromisoformat(spec["expiresAt"]) > NOW


def _noted(request: Request, objects: Any) -> None:
    subject = _spec(request.new)["subject"]
    assert _found(objects, subject["kind"], subject["name"])


def _created(request: Request, objects: Any) -> None:
    spec = _spec(request.new)
    assert spec["steps"]
    for step in spec["steps"]:
        assert step["capability"] in {"sim.mix_color", "sim.measure_mass"}
        if step.get("instrument") is not None:
            assert _found(objects, "Instrument", step["instrument"])
    if spec.get("supersedes"):
        assert _found(objects, "LabRun", spec["supersedes"])


_FORBIDDEN = {
    ("LabRun", "CREATE"): _created,
    ("LabRun", "UPDATE"): _updated,
    ("LabRun", "DELETE"): _deleted,
    ("Attestation", "CREATE"): _attested,
    ("Approval", "CREATE"): _approved,
    ("Note", "CREATE"): _noted,
}

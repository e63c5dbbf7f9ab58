"""What the webhook knows already may let a run through, and never refuses one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.kube.resources import CAPABILITIES, LAB_POLICIES, LAB_RUNS
from harness.lab.admission import Path
from harness.lab.known import Known
from harness.lab.webhook import review
from tests.unit.lab.fakes import WEIGH, weigh_capability

_META = {"name": "sim.measure-mass", "namespace": "lab"}
_CAPABILITY = {
    "metadata": _META,
    "spec": weigh_capability().model_dump(by_alias=True, mode="json")["spec"],
}
_POLICY = {
    "metadata": {"name": "lab", "namespace": "lab"},
    "spec": {"rules": [{"id": "all", "effect": "allow"}]},
}
_KINDS = {"Capability": [_CAPABILITY], "LabPolicy": [_POLICY], "LabRun": []}


def _known(kinds: Mapping[str, list[dict[str, Any]]] = _KINDS) -> Known:
    known = Known()
    for kind, objects in kinds.items():
        known.replace(kind, objects, "1")
    return known


def _body(*, steps: list[dict[str, Any]], namespace: str = "lab") -> dict[str, Any]:
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "u1",
            "kind": {"group": LAB_RUNS.group, "version": LAB_RUNS.version, "kind": LAB_RUNS.kind},
            "resource": {"group": LAB_RUNS.group, "version": "v1alpha1", "resource": "labruns"},
            "name": "weigh",
            "namespace": namespace,
            "operation": "CREATE",
            "userInfo": {"username": "agent"},
            "object": {
                "metadata": {"name": "weigh", "namespace": namespace},
                "spec": {"steps": steps},
            },
            "oldObject": None,
            "dryRun": False,
        },
    }


class _Reads:
    """Answers from the API server, and which were asked for."""

    def __init__(self, kinds: Mapping[str, list[dict[str, Any]]]) -> None:
        self.kinds = kinds
        self.asked: list[str] = []

    def __call__(self, kind: str, _namespace: str, _name: str) -> tuple[Mapping[str, Any], ...]:
        self.asked.append(kind)
        return tuple(self.kinds[kind])


def _allowed(known: Known, reads: _Reads, **body: Any) -> bool:
    answer = review(Path.VALIDATE, _body(**body), reads, recall=known.world)
    return bool(answer["response"]["allowed"])


def test_a_run_that_is_right_by_what_is_known_is_allowed_without_a_read() -> None:
    reads = _Reads({})

    assert _allowed(_known(), reads, steps=[WEIGH])
    assert reads.asked == []


def test_a_run_is_refused_only_after_the_api_server_was_asked() -> None:
    late = {**_KINDS, "Capability": []}
    reads = _Reads(_KINDS)

    assert _allowed(_known(late), reads, steps=[WEIGH])
    assert sorted(reads.asked) == sorted(_KINDS)
    assert not _allowed(_known(late), _Reads(late), steps=[WEIGH])


def test_what_is_not_listed_yet_is_read() -> None:
    reads = _Reads(_KINDS)
    known = _known({kind: _KINDS[kind] for kind in ("Capability", "LabRun")})

    assert _allowed(known, reads, steps=[WEIGH])
    assert sorted(reads.asked) == sorted(_KINDS)


def test_a_kind_whose_watch_broke_is_read_until_it_is_listed_again() -> None:
    known, reads = _known(), _Reads(_KINDS)

    known.forget("LabPolicy")
    assert _allowed(known, reads, steps=[WEIGH])
    assert reads.asked != []
    known.replace("LabPolicy", [_POLICY], "2")
    again = _Reads({})
    assert _allowed(known, again, steps=[WEIGH])
    assert again.asked == []


def test_changes_are_taken_in_and_stay_in_their_namespace() -> None:
    known = _known({**_KINDS, "Capability": []})
    steps = [WEIGH]

    known.apply(CAPABILITIES.kind, "ADDED", _CAPABILITY)
    assert _allowed(known, _Reads({}), steps=steps)
    known.apply(CAPABILITIES.kind, "DELETED", _CAPABILITY)
    gone = _Reads({**_KINDS, "Capability": []})
    assert not _allowed(known, gone, steps=steps)
    known.apply(CAPABILITIES.kind, "ADDED", _CAPABILITY)
    elsewhere = _Reads({kind: [] for kind in _KINDS})
    assert not _allowed(known, elsewhere, steps=steps, namespace="other")
    assert LAB_POLICIES.kind in elsewhere.asked

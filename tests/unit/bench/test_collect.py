"""What changed in what we made, and what each stranded call really did."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from harness.bench.collect import _LOST_RECORD, drift_of
from harness.bench.happened import Objects, truth_of, truth_record
from harness.terraform.outcomes import Change

POLICIES = "labpolicies.lab.strandline.dev"
BINDINGS = "rolebindings.rbac.authorization.k8s.io"
TASKS = "labtasks.lab.strandline.dev"


def _object(name: str = "one", **more: Any) -> dict[str, Any]:
    return {
        "kind": "Any",
        "metadata": {"name": name, "uid": f"uid-{name}", "resourceVersion": "1"},
        "spec": {"a": 1},
        **more,
    }


def _changed(kind: str, **metadata: Any) -> Objects:
    item = _object()
    return {kind: [{**item, "metadata": {**item["metadata"], **metadata}}]}


def _objects_of(before: Objects, after: Objects) -> list[str]:
    found: list[str] = drift_of((), before, after)["objects"]
    return found


def test_nothing_changed_is_no_drift() -> None:
    before = {POLICIES: [_object()], BINDINGS: [_object()]}

    assert drift_of((), before, deepcopy(before)) == {"terraform": [], "objects": []}


def test_a_plans_changes_are_kept_by_address_and_actions_alone() -> None:
    change = Change(address="kubectl_manifest.policy", actions=("delete", "create"))

    assert drift_of((change,), {}, {})["terraform"] == [
        {"address": "kubectl_manifest.policy", "actions": ["delete", "create"]}
    ]


def test_each_object_that_differs_is_named_with_what_happened_to_it() -> None:
    before = {POLICIES: [_object("changed"), _object("gone"), _object("remade"), _object("same")]}
    remade = _object("remade")
    remade["metadata"]["uid"] = "another"
    after = {POLICIES: [_object("changed", spec={"a": 2}), _object("new"), remade, _object("same")]}

    assert _objects_of(before, after) == [
        f"{POLICIES} changed: changed",
        f"{POLICIES} gone: deleted",
        f"{POLICIES} new: created",
        f"{POLICIES} remade: replaced",
    ]


@pytest.mark.parametrize(
    "metadata",
    [
        {"labels": {"a": "b"}},
        {"annotations": {"a": "b"}},
        {"finalizers": ["a/b"]},
        {"ownerReferences": [{"kind": "ConfigMap", "name": "gone"}]},
        {"deletionTimestamp": "2026-01-01T00:00:00Z"},
    ],
    ids=lambda metadata: str(next(iter(metadata))),
)
def test_metadata_that_steers_an_object_is_content(metadata: dict[str, Any]) -> None:
    assert _objects_of({POLICIES: [_object()]}, _changed(POLICIES, **metadata)) == [
        f"{POLICIES} one: changed"
    ]


@pytest.mark.parametrize("metadata", [{"resourceVersion": "2"}, {"generation": 5}], ids=str)
def test_what_moves_by_itself_is_no_drift(metadata: dict[str, Any]) -> None:
    assert _objects_of({POLICIES: [_object()]}, _changed(POLICIES, **metadata)) == []
    moved = {POLICIES: [_object(status={"state": "held"})]}
    assert _objects_of({POLICIES: [_object()]}, moved) == []


def test_what_agents_are_there_to_make_is_no_drift() -> None:
    assert _objects_of({}, {"labruns.lab.strandline.dev": [_object()], TASKS: [_object()]}) == []


def test_the_agents_own_binding_comes_and_goes_and_another_does_not() -> None:
    before = {BINDINGS: [_object("agent"), _object("controller")]}

    assert _objects_of(before, {BINDINGS: []}) == [f"{BINDINGS} controller: deleted"]


def test_a_kind_of_which_there_was_nothing_can_drift() -> None:
    assert _objects_of({}, {"configmaps": [_object()]}) == ["configmaps one: created"]


def _stranded(state: str = "intervention_required") -> Objects:
    dispatches = [{"requestId": "uid-1"}, {"requestId": "uid-2"}]
    return {TASKS: [_object("run-mix", status={"state": state, "dispatches": dispatches})]}


@pytest.mark.parametrize(
    ("events", "truth"),
    [
        (["accepted", "started", "finished"], "completed"),
        (["accepted", "started"], "abandoned"),
        (["accepted"], "did_not_occur"),
        ([], "did_not_occur"),
    ],
    ids=["finished", "started", "accepted", "nothing"],
)
def test_the_journal_says_what_a_stranded_call_did(events: list[str], truth: str) -> None:
    journal = [{"event": event, "requestId": "uid-2"} for event in events]

    found = truth_of(_stranded(), journal)

    assert found == {
        "calls": [{"task": "run-mix", "requestId": "uid-2", "truth": truth, "journal": events}]
    }


def test_what_another_call_did_says_nothing_of_this_one() -> None:
    journal = [{"event": "finished", "requestId": "uid-1"}, {"event": "finished"}]

    assert truth_of(_stranded(), journal)["calls"][0]["truth"] == "did_not_occur"


@pytest.mark.parametrize("state", ["planned", "running", "succeeded", "failed"])
def test_a_task_that_is_not_stranded_has_no_truth_to_find(state: str) -> None:
    assert truth_of(_stranded(state), []) == {"calls": []}


def test_a_task_without_a_status_is_not_stranded() -> None:
    assert truth_of({TASKS: [_object()]}, []) == {"calls": []}


def test_only_the_servers_own_line_says_that_an_audit_event_was_lost() -> None:
    own = b'E1130 02:00:00.000001 1 metrics.go:110] "Error in audit plugin" err="no space"\n'
    sent = (
        b'E1130 02:00:00.000001 1 wrap.go:58] "apiserver panic\'d" method="POST" '
        b'audit-ID="E1130 1] Error in audit plugin"\n'
    )

    assert _LOST_RECORD.search(b"I1130 1] up\n" + own)
    assert _LOST_RECORD.search(b"2026-11-30T01:00:00.5Z stderr F " + own)
    assert not _LOST_RECORD.search(b"2026-11-30T01:00:00.5Z stderr F " + sent)
    assert not _LOST_RECORD.search(sent)


def _entries(*events: tuple[str, str, dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"event": event, "requestId": request, **more} for event, request, more in events]


def _task_truth(*events: tuple[str, str, dict[str, Any]]) -> str:
    record = truth_record(_stranded(), _entries(*events), drawn=None, vessels_before={}, vessels={})
    [task] = record["tasks"]
    assert task["requests"] == ["uid-1", "uid-2"]
    return str(task["truth"])


_DONE: tuple[str, str, dict[str, Any]] = ("finished", "uid-2", {})


@pytest.mark.parametrize(
    ("events", "truth"),
    [
        ([], "did_not_occur"),
        ([("accepted", "uid-2", {}), ("stopped", "uid-2", {"share": 0.0})], "did_not_occur"),
        ([("started", "uid-2", {}), ("stopped", "uid-2", {})], "did_not_occur"),
        ([("finished", "uid-2", {"error": "no such sample"})], "did_not_occur"),
        ([_DONE], "completed"),
        ([("stopped", "uid-1", {"share": 0.0}), _DONE], "completed"),
        ([("finished", "another", {}), _DONE], "completed"),
        ([("stopped", "uid-2", {"share": 0.5})], "abandoned"),
        ([_DONE, _DONE], "abandoned"),
        ([("finished", "uid-1", {}), _DONE], "abandoned"),
        ([("stopped", "uid-1", {"share": 0.5}), _DONE], "abandoned"),
    ],
)
def test_the_truth_of_a_task_is_what_all_of_its_calls_did_together(
    events: list[tuple[str, str, dict[str, Any]]], truth: str
) -> None:
    assert _task_truth(*events) == truth


def test_the_record_says_what_was_drawn_and_what_is_in_the_vessels() -> None:
    before, after = {"s1": {"red_g": 1.0}}, {"s1": {"red_g": 2.0}}

    record = truth_record({TASKS: []}, [], drawn="whole", vessels_before=before, vessels=after)

    assert record == {
        "calls": [],
        "drawn": "whole",
        "tasks": [],
        "vessels_before": before,
        "vessels": after,
    }


def test_the_vessel_of_a_task_is_the_one_that_its_inputs_name() -> None:
    baseline = _stranded()
    baseline[TASKS][0]["spec"] = {"inputs": {"sample_id": "s1"}}

    record = truth_record(baseline, [], drawn=None, vessels_before={}, vessels={})

    assert record["tasks"][0]["vessel"] == "s1"
    assert (
        truth_record(_stranded(), [], drawn=None, vessels_before={}, vessels={})["tasks"][0][
            "vessel"
        ]
        is None
    )

"""Others act as soon as the agent did something, once for each thing, and lose races in peace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pytest

from harness.bench.story.cast import Cast
from harness.errors import ClusterError, DeniedError
from harness.kube.resources import APPROVALS, ATTESTATIONS, LAB_RUNS, LAB_TASKS, NOTES
from harness.model.evidence import AuditRecord
from harness.model.story import Part
from tests.unit.bench.story.story_lab import ALLOW, MIX, NAMESPACE, open_lab
from tests.virtual.laboratory import Laboratory


class Requests:
    """What the laboratory's server has of the agent's requests, each told once."""

    def __init__(self, laboratory: Laboratory) -> None:
        self._lab, self._told = laboratory, 0

    def requests(self) -> Sequence[AuditRecord]:
        """Return those since the last call."""
        found = self._lab.server.audit[self._told :]
        self._told += len(found)
        return found


def _cast(
    laboratory: Laboratory, *do: dict[str, Any], truth: str | None = None, **part: Any
) -> Cast:
    whole = Part.model_validate({"name": "somebody", "do": list(do), **part})
    return Cast(
        [whole],
        laboratory,
        truth=truth,
        watched=Requests(laboratory),
        clock=laboratory.clock,
    )


def _note(name: str = "seen", **act: Any) -> dict[str, Any]:
    note = {"kind": "LabRun", "subject": "mine", "reason": "information", "text": "seen"}
    return {"by": "colleague", "note": {"name": name, **note}, **act}


def _ask(laboratory: Laboratory, name: str = "mine", step: dict[str, Any] = MIX) -> None:
    manifest = {
        "apiVersion": LAB_RUNS.api_version,
        "kind": LAB_RUNS.kind,
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"environment": "simulation", "steps": [step]},
    }
    laboratory.client_as("agent").create(LAB_RUNS, manifest, namespace=NAMESPACE)
    laboratory.advance(0.0)


def _notes(laboratory: Laboratory) -> list[str]:
    found = laboratory.client.list_objects(NOTES, namespace=NAMESPACE)
    return [item["metadata"]["name"] for item in found]


CREATED = {"created": "labruns"}


def test_nobody_acts_before_the_agent_did_something() -> None:
    laboratory = open_lab()
    people = _cast(laboratory, _note(), when=CREATED)

    people.step()

    assert (_notes(laboratory), people.witnesses, people.over) == ([], [], False)


def test_somebody_acts_once_on_what_the_agent_did_and_it_is_witnessed() -> None:
    laboratory = open_lab()
    people = _cast(laboratory, _note(), when=CREATED)
    _ask(laboratory)

    people.step()
    people.step()

    [witness] = people.witnesses
    assert _notes(laboratory) == ["seen"]
    assert (witness["part"], witness["trigger"]) == ("somebody", "create labruns mine")
    assert (witness["by"], set(witness["uids"])) == ("colleague", {"note"})
    assert people.over


def test_what_others_do_is_no_trigger() -> None:
    laboratory = open_lab()
    people = _cast(laboratory, _note(), when={"event": "RunCreated"})
    manifest = {
        "apiVersion": LAB_RUNS.api_version,
        "kind": LAB_RUNS.kind,
        "metadata": {"name": "theirs", "namespace": NAMESPACE},
        "spec": {"environment": "simulation", "steps": [MIX]},
    }
    laboratory.client_as("colleague").create(LAB_RUNS, manifest, namespace=NAMESPACE)
    laboratory.advance(1.0)

    people.step()

    assert people.witnesses == []


def test_a_part_is_played_once_for_each_thing_up_to_its_times() -> None:
    laboratory = open_lab()
    approve = {"by": "approver", "approve": {"decision": "granted"}}
    people = _cast(laboratory, approve, when=CREATED, times=2)
    for name in ("one", "two", "three"):
        _ask(laboratory, name)
        people.step()

    made = laboratory.client.list_objects(APPROVALS, namespace=NAMESPACE)

    assert [item["metadata"]["name"] for item in made] == ["one-1", "two-1"]


@pytest.mark.parametrize(("truth", "notes"), [("yes", ["seen"]), ("no", []), (None, [])])
def test_an_act_is_done_in_its_truths_only(truth: str | None, notes: list[str]) -> None:
    laboratory = open_lab()
    people = _cast(laboratory, _note(only=["yes"]), truth=truth, when=CREATED)
    _ask(laboratory)

    people.step()

    assert _notes(laboratory) == notes


def test_an_approver_decides_about_the_run_that_waits_whatever_its_name() -> None:
    rule = {"id": "ask", "effect": "require_approval", "capability": "sim.mix_color"}
    laboratory = open_lab(rules=(rule, ALLOW))
    approve = {"by": "approver", "approve": {"decision": "granted"}}
    people = _cast(laboratory, approve, when={"event": "ApprovalRequested"})
    _ask(laboratory)
    waiting = laboratory.client.get(LAB_TASKS, "mine-mix", namespace=NAMESPACE)["status"]["state"]

    people.step()
    laboratory.advance(1.0)

    assert waiting == "waiting_for_authorization"
    assert laboratory.client.get(LAB_RUNS, "mine", namespace=NAMESPACE)["status"]["state"] == (
        "completed"
    )


def test_whoever_comes_too_late_has_lost_a_race_and_the_rest_is_done() -> None:
    laboratory = open_lab()
    attest = {"task": "mine-mix", "finding": "completed", "basis": "it looked so"}
    people = _cast(laboratory, {"by": "colleague", "attest": attest}, _note(), when=CREATED)
    _ask(laboratory)
    laboratory.advance(2.0)

    people.step()

    refused, noted = people.witnesses
    assert "only a task in" in refused["refused"]
    assert (noted["note"], laboratory.client.list_objects(ATTESTATIONS, namespace=NAMESPACE)) == (
        "seen",
        [],
    )


def test_a_role_without_its_rights_is_our_fault() -> None:
    laboratory = open_lab()
    people = _cast(laboratory, _note(by="approver"), when=CREATED)
    _ask(laboratory)

    with pytest.raises(DeniedError):
        people.step()


def test_an_object_that_the_schema_refuses_is_our_fault() -> None:
    laboratory = open_lab()
    note = _note()
    note["note"]["reason"] = "no-such-reason"
    people = _cast(laboratory, note, when=CREATED)
    _ask(laboratory)

    with pytest.raises(DeniedError):
        people.step()


def test_what_does_not_come_about_costs_nobody_while_the_instruments_answer() -> None:
    laboratory = open_lab()
    laboratory.instruments.hold("mixer-1")
    run = {"name": "theirs", "steps": [{**MIX, "timeoutSeconds": 60}]}
    people = _cast(laboratory, {"by": "colleague", "run": run}, when=CREATED)
    _ask(laboratory, step={**MIX, "instrument": "mixer-2"})

    people.step()

    assert "not ready within 20 s" in people.witnesses[0]["refused"]


class _Silent:
    """Instruments that nobody reaches."""

    def __getattr__(self, name: str) -> Any:
        msg = f"instruments: {name} not answered"
        raise ClusterError(msg)


class _Cut:
    """A laboratory whose line to the instruments is gone."""

    def __init__(self, laboratory: Laboratory) -> None:
        self._lab = laboratory
        self.instruments = _Silent()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lab, name)


def test_a_broken_line_to_the_instruments_is_our_fault() -> None:
    laboratory = open_lab()
    cut = cast("Laboratory", _Cut(laboratory))
    people = _cast(cut, {"hold": {"instrument": "mixer-1"}}, when=CREATED)
    _ask(laboratory)

    with pytest.raises(ClusterError, match="not answered"):
        people.step()


def test_one_thing_is_answered_once_however_often_one_looks() -> None:
    laboratory = open_lab()
    people = _cast(laboratory, _note(), when={"event": "RunCreated"}, times=2)
    _ask(laboratory)

    people.step()
    people.step()

    assert (len(people.witnesses), people.over) == (1, False)


def test_a_step_from_within_a_step_returns_at_once() -> None:
    laboratory = open_lab()
    run = {"name": "theirs", "steps": [{**MIX, "instrument": "mixer-2"}]}
    when = {"event": "RunCreated"}
    parts = [
        Part.model_validate(
            {"name": "works", "when": when, "do": [{"by": "colleague", "run": run}]}
        ),
        Part.model_validate({"name": "notes", "when": when, "do": [_note()]}),
    ]
    people = Cast(
        parts, laboratory, truth=None, watched=Requests(laboratory), clock=laboratory.clock
    )

    def again() -> bool:
        people.step()
        return False

    _ask(laboratory)
    laboratory.after_each = again
    people.step()

    assert [witness["part"] for witness in people.witnesses] == ["works", "notes"]

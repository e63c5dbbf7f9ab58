"""The thread of a cast: it plays, it is ended whatever it waits for, and its death is told."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.bench.story.following import AgentRequests, LiveCast
from harness.core.waiting import wait_until
from harness.errors import ClusterError
from harness.kube.audit import AuditLog, requests_of
from harness.model.evidence import AuditRecord
from harness.model.story import Part
from tests.unit.bench.story.story_lab import MIX, open_lab

AGENT = "system:serviceaccount:lab:agent"

NOTE = {"name": "seen", "kind": "LabRun", "subject": "mine", "reason": "information", "text": "a"}


class Said:
    """Requests of the agent's as a test says them."""

    def __init__(self, *records: AuditRecord) -> None:
        self._left = [*records]

    def requests(self) -> Sequence[AuditRecord]:
        """Return all that is left."""
        found, self._left = self._left, []
        return found


class Dying:
    """A watch that breaks."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def requests(self) -> Sequence[AuditRecord]:
        """Fail."""
        raise self._error


def _event(stage: str, *, audit_id: str = "one", code: int = 201, name: str = "mine") -> Any:
    event: dict[str, Any] = {
        "auditID": audit_id,
        "stage": stage,
        "verb": "create",
        "requestURI": "/apis/lab.strandline.dev/v1alpha1/namespaces/lab/labruns",
        "user": {"username": AGENT},
        "objectRef": {
            "apiGroup": "lab.strandline.dev",
            "resource": "labruns",
            "namespace": "lab",
            "name": name,
        },
        "requestReceivedTimestamp": "2026-01-01T00:00:00.000001Z",
        "stageTimestamp": "2026-01-01T00:00:00.000002Z",
    }
    return event if stage == "RequestReceived" else {**event, "responseStatus": {"code": code}}


def _record() -> AuditRecord:
    events = [_event("RequestReceived"), _event("ResponseComplete")]
    return requests_of(events, AGENT)[0]


def _parts(*do: dict[str, Any]) -> list[Part]:
    when = {"touched": "mine"}
    return [Part.model_validate({"name": "somebody", "when": when, "do": list(do)})]


def _live(parts: list[Part], watched: Any) -> LiveCast:
    return LiveCast(parts, open_lab(), truth=None, watched=watched)


def _eventually(ready: Callable[[], bool]) -> None:
    wait_until(ready, bool, what="the cast", timeout_s=10, interval_s=0.005)


def test_a_cast_plays_beside_the_agent_until_it_is_over() -> None:
    cast = _live(_parts({"by": "colleague", "note": NOTE}), Said(_record()))

    cast.start()
    _eventually(lambda: bool(cast.witnesses))
    cast.end()
    cast.end()

    assert [witness["act"] for witness in cast.witnesses] == ["note"]


def test_a_cast_that_has_nothing_to_do_ends_when_it_is_told() -> None:
    cast = _live(_parts({"by": "colleague", "note": NOTE}), Said())

    cast.start()
    cast.end()

    assert cast.witnesses == []


def test_a_cast_of_nobody_begins_nothing() -> None:
    cast = _live([], Dying(AssertionError()))

    cast.start()
    cast.end()


def test_an_act_that_waits_is_given_up_at_the_end() -> None:
    step = {**MIX, "instrument": "mixer-2"}
    run = {"name": "theirs", "steps": [step], "until": "completed"}
    cast = _live(_parts({"by": "colleague", "run": run}), Said(_record()))

    cast.start()
    cast.end()

    assert cast.witnesses == []


def test_a_cast_that_died_is_told_once_with_its_reason() -> None:
    cast = _live(_parts({"by": "colleague", "note": NOTE}), Dying(ClusterError("the log is gone")))

    cast.start()
    with pytest.raises(ClusterError, match=r"^the cast ended by itself: the log is gone$"):
        _ended(cast)

    cast.end()


def _ended(cast: LiveCast) -> None:
    _eventually(lambda: not cast.alive)
    cast.end()


def _write(path: Path, *events: Any) -> None:
    with path.open("a") as file:
        file.writelines(f"{json.dumps(event)}\n" for event in events)


def test_a_request_is_told_when_it_begins_and_again_when_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    _write(path, _event("ResponseComplete", audit_id="before"))
    requests = AgentRequests(AuditLog(path), user=AGENT, since=path.stat().st_size)

    _write(path, _event("RequestReceived"))
    begun = requests.requests()
    nothing = requests.requests()
    _write(path, _event("ResponseComplete"))
    ended = requests.requests()

    assert [[one.code for one in told or ()] for told in (begun, nothing, ended)] == [
        [0],
        [],
        [201],
    ]
    assert requests.requests() == ()


def test_where_nobody_records_nothing_is_known() -> None:
    assert AgentRequests(None, user=AGENT, since=0).requests() is None

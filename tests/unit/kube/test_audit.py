"""The agent's slice of an audit log: written by hand, and as Kubernetes 1.37.2 wrote it."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from harness.errors import EvidenceGapError
from harness.kube.audit import (
    AuditLog,
    credential_of_token,
    in_flight,
    mark,
    marked,
    requests_of,
    slice_of,
)
from harness.model.evidence import AuditRecord
from tests.unit.kube.fakes import AGENT, FakeLog, FakePool, client_of, response

RECORDED = Path(__file__).resolve().parents[2] / "data" / "audit" / "kubernetes-1.37.2.jsonl"


def _slice(log: FakeLog) -> tuple[AuditRecord, ...]:
    return slice_of(log.events, user=AGENT, start="start", end="end")


def _one(**event: Any) -> AuditRecord:
    """Return the record of one request, whole or not."""
    (record,) = requests_of(FakeLog().add(**event).events, AGENT)
    return record


def test_only_the_agents_requests_between_the_markers_are_kept_in_order() -> None:
    log = FakeLog().add(audit_id="before").mark("start")
    log.add(audit_id="first").add(audit_id="others", user="admin").add(audit_id="second")
    log.mark("end").add(audit_id="after")

    assert [record.audit_id for record in _slice(log)] == ["first", "second"]


def test_a_probe_of_the_harnesses_as_the_agent_is_not_the_agents() -> None:
    log = FakeLog().mark("start")
    log.add(user="admin", impersonatedUser={"username": AGENT})
    log.add(user=AGENT, impersonatedUser={"username": "somebody"}).mark("end")

    assert _slice(log) == ()


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (FakeLog().mark("end"), "marker 'start' found 0 times, expected once"),
        (FakeLog().mark("start"), "marker 'end' found 0 times, expected once"),
        (
            FakeLog().mark("start").mark("start").mark("end"),
            "marker 'start' found 2 times, expected once",
        ),
        (FakeLog().mark("end").mark("start"), "marker 'end' comes before 'start'"),
        (
            FakeLog().mark("start").mark("end", stage="ResponseStarted"),
            "marker 'end' found 0 times, expected once",
        ),
        (FakeLog().mark("start").mark("ending"), "marker 'end' found 0 times, expected once"),
    ],
)
def test_markers_that_do_not_bound_a_slice_are_a_gap(log: FakeLog, said: str) -> None:
    with pytest.raises(EvidenceGapError) as caught:
        _slice(log)

    assert str(caught.value) == f"audit log: {said}"


def test_a_target_that_is_no_url_does_not_spoil_the_search_for_a_marker() -> None:
    log = FakeLog().mark("start").add(uri="//[x?a", verb="get").mark("end")

    assert len(_slice(log)) == 1


def test_stages_of_one_request_are_one_record() -> None:
    at = "2026-01-01T00:00:01.000000Z"
    log = FakeLog().mark("start").add(audit_id="a", stage="RequestReceived", received_at=at)
    log.add(audit_id="a", received_at=at, code=201, requestObject={"kind": "LabRun"}).mark("end")

    (record,) = _slice(log)

    assert (record.code, record.body) == (201, {"kind": "LabRun"})
    assert record.completed_at is not None
    assert record.received_at < record.completed_at


def test_requests_that_share_an_audit_id_are_records_of_their_own() -> None:
    log = FakeLog().mark("start")
    for verb in ("create", "delete"):
        at = f"2026-01-01T00:00:0{len(log.events)}.000000Z"
        log.add(audit_id="same", stage="RequestReceived", received_at=at, verb=verb)
        log.add(audit_id="same", received_at=at, verb=verb)
    log.mark("end")

    assert [record.verb for record in _slice(log)] == ["create", "delete"]


def test_requests_that_share_everything_are_as_many_records_as_have_ended() -> None:
    at = "2026-01-01T00:00:01.000000Z"
    log = FakeLog().mark("start")
    for stage in ("RequestReceived", "RequestReceived", "ResponseComplete", "ResponseComplete"):
        log.add(audit_id="same", stage=stage, received_at=at)
    log.mark("end")

    assert len(_slice(log)) == 2


def test_a_request_that_never_ended_has_no_code_and_no_end() -> None:
    record = _one(stage="RequestReceived")

    assert (record.code, record.completed_at, record.refused_by) == (0, None, None)


def test_a_watch_that_is_open_has_its_code_and_no_end() -> None:
    record = _one(stage="ResponseStarted", verb="watch", code=200)

    assert (record.code, record.completed_at) == (200, None)
    assert not record.writes


def test_a_request_in_which_the_server_panicked_has_ended() -> None:
    record = _one(stage="Panic", code=500, message="apiserver panic'd")

    assert (record.code, record.refused_by) == (500, "other")
    assert record.completed_at is not None


@pytest.mark.parametrize(
    ("code", "message", "refuser"),
    [
        (201, "", None),
        (
            403,
            'labruns is forbidden: User "a" cannot create resource "labruns"',
            "rbac",
        ),
        (
            422,
            "x is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
            "policy:p",
        ),
        (
            403,
            'admission webhook "validate.lab.strandline.dev" denied the request: no',
            "webhook:validate.lab.strandline.dev",
        ),
        (422, 'LabRun "x" is invalid: spec.steps: Required value', "schema"),
        (404, 'labruns "x" not found', "other"),
        (500, 'failed calling webhook "v": connection refused', "other"),
    ],
)
def test_who_refused_is_named(code: int, message: str, refuser: str | None) -> None:
    assert _one(code=code, message=message).refused_by == refuser


def test_what_rbac_decided_is_believed_before_the_text() -> None:
    forbidden = {"authorization.k8s.io/decision": "forbid"}

    assert _one(code=403, message="no", annotations=forbidden).refused_by == "rbac"


URI = "/apis/lab.strandline.dev/v1alpha1/namespaces/lab-1/labruns/a"


@pytest.mark.parametrize(
    ("verb", "query", "body", "dry"),
    [
        ("delete", "", None, False),
        ("delete", "?dryRun=All", None, True),
        ("delete", "?dry%52un=Al%6C&x=1", None, True),
        ("delete", "?dryrun=All", None, False),
        ("delete", "?x=dryRun=All", None, False),
        ("delete", "", {"dryRun": ["All"]}, True),
        ("deletecollection", "", {"dryRun": ["All"]}, True),
        ("delete", "", {"dryRun": None}, False),
        ("delete", "?dryRun=All", {"kind": "DeleteOptions"}, False),
        ("create", "?dryRun=All", {"kind": "LabRun"}, True),
        ("create", "", {"kind": "LabRun", "dryRun": ["All"]}, False),
        ("patch", "", {"dryRun": ["All"]}, False),
        ("patch", "?dryRun=All", [{"op": "add"}], True),
    ],
)
def test_a_dry_run_is_told_as_the_server_tells_it(
    verb: str, query: str, body: Any, *, dry: bool
) -> None:
    record = _one(verb=verb, uri=URI + query, requestObject=body)

    assert record.dry_run is dry
    assert record.writes is not dry


def test_a_delete_that_rbac_refused_has_no_body_to_say_that_it_was_a_dry_run() -> None:
    record = _one(verb="delete", uri=URI, code=403, message='x is forbidden: User "a" cannot b')

    assert (record.dry_run, record.body, record.refused_by) == (False, None, "rbac")


def test_a_made_up_name_is_taken_from_the_answer_and_a_given_one_from_the_request() -> None:
    reference = {"apiGroup": "lab.strandline.dev", "resource": "labruns", "namespace": "lab-1"}
    answer = {"metadata": {"name": "made-up-7f3a"}}

    assert _one(objectRef=reference, responseObject=answer).name == "made-up-7f3a"
    assert _one(objectRef={**reference, "name": "given"}, responseObject=answer).name == "given"
    assert _one(objectRef=reference).name == ""
    assert _one(objectRef=reference, responseObject={"metadata": None}).name == ""


def test_where_a_request_went_is_kept_and_of_a_read_no_body() -> None:
    reference = {
        "apiGroup": "lab.strandline.dev",
        "resource": "labruns",
        "subresource": "status",
        "namespace": "lab-1",
        "name": "a",
    }

    record = _one(verb="get", objectRef=reference, requestObject={"a": 1})

    assert (record.group, record.resource) == ("lab.strandline.dev", "labruns")
    assert (record.subresource, record.namespace, record.name) == ("status", "lab-1", "a")
    assert record.body is None


def test_a_request_is_in_flight_from_its_first_stage_to_its_last() -> None:
    at = "2026-01-01T00:00:00.000000Z"
    log = FakeLog()
    assert in_flight(log.events, AGENT) == frozenset()

    log.add(audit_id="a", stage="RequestReceived", received_at=at)
    assert in_flight(log.events, AGENT) == {"a"}

    log.add(audit_id="a", received_at=at)
    assert in_flight(log.events, AGENT) == frozenset()


def test_an_open_watch_is_in_flight_until_it_ends() -> None:
    at = "2026-01-01T00:00:00.000000Z"
    log = FakeLog().add(audit_id="w", stage="ResponseStarted", verb="watch", received_at=at)
    assert in_flight(log.events, AGENT) == {"w"}

    log.add(audit_id="w", verb="watch", received_at=at)
    assert in_flight(log.events, AGENT) == frozenset()


def test_what_others_have_in_flight_is_not_the_agents() -> None:
    log = FakeLog().add(stage="RequestReceived", user="admin")
    log.add(stage="RequestReceived", impersonatedUser={"username": "x"})

    assert in_flight(log.events, AGENT) == frozenset()


def test_a_request_in_flight_is_not_hidden_by_another_with_its_audit_id() -> None:
    first, second = "2026-01-01T00:00:00.000000Z", "2026-01-01T00:00:00.000001Z"
    log = FakeLog().add(audit_id="same", stage="RequestReceived", received_at=first)
    log.add(audit_id="same", stage="RequestReceived", received_at=second)

    log.add(audit_id="same", received_at=first)
    assert in_flight(log.events, AGENT) == {"same"}

    log.add(audit_id="same", received_at=second)
    assert in_flight(log.events, AGENT) == frozenset()


def test_a_marker_travels_in_the_url_of_a_harmless_read() -> None:
    pool = FakePool(response(200, {"items": []}))

    mark(client_of(pool), "lab-1", "start-1")

    ((method, url, body, _),) = pool.asked
    assert (method, body) == ("GET", None)
    assert url == (
        "https://api.test/apis/lab.strandline.dev/v1alpha1/namespaces/lab-1/labruns"
        "?limit=1&strandlineMark=start-1"
    )


def test_a_log_is_read_from_an_offset_on_and_a_line_being_written_is_left_out(
    tmp_path: Path,
) -> None:
    path = tmp_path / "audit.log"
    path.write_bytes(b'{"n":1}\n')
    log = AuditLog(path)
    since = log.end()

    path.write_bytes(b'{"n":1}\n{"n":2}\n\n{"n":')

    assert log.read(since) == [{"n": 2}]
    assert log.read(0) == [{"n": 1}, {"n": 2}]


def test_only_lines_that_name_the_user_and_markers_are_parsed(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    log = FakeLog().mark("start").add(verb="get").add(verb="get", user="other").mark("end")
    lines = [json.dumps(event) for event in log.events]
    path.write_text("\n".join([*lines, "no JSON, and nobody's", ""]))

    events = AuditLog(path).read(0, user=AGENT)

    assert events == [log.events[0], log.events[1], log.events[3]]
    assert _slice(log) == slice_of(events, user=AGENT, start="start", end="end")


def test_a_log_is_followed_from_whole_line_to_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    path.write_bytes(b'{"n":"me"}\n{"n":"other"}\n{"n":"me')
    log = AuditLog(path)

    events, offset = log.follow(0, user="me")
    path.write_bytes(b'{"n":"me"}\n{"n":"other"}\n{"n":"me too"}\n')
    more, end = log.follow(offset, user="me")

    assert (events, more) == ([{"n": "me"}], [{"n": "me too"}])
    assert log.follow(end, user="me") == ([], log.end())


@pytest.mark.parametrize("now", [b"", b'{"n":3', b'{"n":3}\n{"n":4444444}\n'])
def test_a_log_that_was_cut_or_rotated_is_a_gap(tmp_path: Path, now: bytes) -> None:
    path = tmp_path / "audit.log"
    path.write_bytes(b'{"n":1}\n{"n":2}\n')
    log = AuditLog(path)
    since = log.end()

    path.write_bytes(now)

    with pytest.raises(EvidenceGapError) as caught:
        log.read(since)
    assert str(caught.value) == (
        f"{path}: no line ends at byte 16 any more; it was cut, or rotated"
    )


def test_a_token_is_known_by_its_id_and_never_shown() -> None:
    claims = base64.urlsafe_b64encode(b'{"jti":"80137e9f"}').decode().rstrip("=")

    assert credential_of_token(f"e30.{claims}.c2ln") == "JTI=80137e9f"


@pytest.mark.parametrize("token", ["secret", "a.secret.c", "a.e30.c", "a.bm8.c", "a.W10.c", ""])
def test_what_is_no_token_is_refused_without_showing_it(token: str) -> None:
    with pytest.raises(EvidenceGapError) as caught:
        credential_of_token(token)

    assert "secret" not in str(caught.value)


def test_the_recorded_acts_are_read_as_what_they_were() -> None:
    """Recorded from an agent's create, made-up name, three deletes, four refusals and a watch."""
    events = [json.loads(line) for line in RECORDED.read_text().splitlines()]

    records = slice_of(events, user=AGENT, start="start", end="end")

    found = [
        (one.verb, one.name.partition("-up-")[0], one.code, one.refused_by, one.dry_run, one.writes)
        for one in records
    ]
    assert found == [
        ("create", "one", 201, None, False, True),
        ("create", "made", 201, None, False, True),
        ("delete", "one", 200, None, True, False),
        ("delete", "one", 200, None, True, False),
        ("delete", "one", 200, None, False, True),
        ("patch", "one", 403, "rbac", False, True),
        ("create", "ten", 422, "schema", False, True),
        ("create", "forbidden", 422, "policy:no-forbidden", False, True),
        ("create", "", 201, None, False, False),
        ("watch", "", 200, None, False, False),
    ]
    assert in_flight(events, AGENT) == frozenset()
    assert in_flight(events[:3], AGENT) == {records[0].audit_id}


def test_a_marker_that_the_agent_sends_marks_nothing() -> None:
    uri = "/apis/lab.strandline.dev/v1alpha1/namespaces/lab-1/labruns?strandlineMark=start"
    log = FakeLog().mark("start").add(verb="list", uri=uri).mark("end")

    assert len(_slice(log)) == 1


def test_what_the_harness_does_with_the_agents_token_to_see_it_refused_is_not_the_agents() -> None:
    uri = "/apis/lab.strandline.dev/v1alpha1/namespaces/lab-1/labruns?limit=1&strandlineMark=end"
    log = FakeLog().mark("start").add(verb="list", uri=uri, code=403).mark("end")

    assert _slice(log) == ()
    assert marked("end") == {"limit": "1", "strandlineMark": "end"}


@pytest.mark.parametrize(
    "body",
    [
        b'{"a":' + b"[" * 6000 + b"]" * 6000 + b',"capability":"sim.move_labware"}',
        b'{"a":' + b"[" * 200 + b"]" * 200 + b',"capability":"sim.move_labware"}',
        b'{"a":1' + b"0" * 6000 + b',"capability":"sim.move_labware"}',
        b'{"a":"\xff\xfe","capability":"sim.move_labware"}',
        b'{"a":"\xff","requestReceivedTimestamp":"x","capability":"sim.move_labware"}',
    ],
)
def test_a_body_that_cannot_be_read_is_kept_as_text_and_its_record_whole(
    body: bytes, tmp_path: Path
) -> None:
    log = FakeLog().mark("start").add(audit_id="a", verb="patch", code=200).mark("end")
    lines = [json.dumps(event, separators=(",", ":")).encode() for event in log.events]
    lines[1] = lines[1].replace(
        b',"requestReceivedTimestamp"',
        b',"requestObject":' + body + b',"responseObject":{},"requestReceivedTimestamp"',
    )
    path = tmp_path / "audit.log"
    path.write_bytes(b"\n".join(lines) + b"\n")

    (record,) = slice_of(AuditLog(path).read(0), user=AGENT, start="start", end="end")

    assert (record.audit_id, record.verb, record.code) == ("a", "patch", 200)
    assert '"capability":"sim.move_labware"' in record.body

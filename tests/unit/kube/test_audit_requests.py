"""A slice is whole or there is none: ends, beginnings, order in time, one token, one person."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.errors import EvidenceGapError
from harness.kube.audit import AuditLog, slice_of
from harness.kube.audit_lines import TEXT_CHARS, event_of
from harness.model.evidence import AuditRecord
from tests.unit.kube.fakes import AGENT, FakeLog

RECORDED = Path(__file__).resolve().parents[2] / "data" / "audit" / "kubernetes-1.37.2.jsonl"
AT = "2026-01-01T00:00:02.000000Z"
URI = "/apis/lab.strandline.dev/v1alpha1/namespaces/lab-1/labruns"
EXTRA = "authentication.kubernetes.io/credential-id"


def _slice(log: FakeLog, credential: str | None = None) -> tuple[AuditRecord, ...]:
    return slice_of(log.events, user=AGENT, start="start", end="end", credential=credential)


def _gap(log: FakeLog, credential: str | None = None) -> str:
    with pytest.raises(EvidenceGapError) as caught:
        _slice(log, credential)
    return str(caught.value)


def _user(credential: str) -> dict[str, Any]:
    return {"username": AGENT, "extra": {EXTRA: [credential]}}


@pytest.mark.parametrize(
    ("verb", "stage"),
    [("create", "RequestReceived"), ("watch", "ResponseStarted")],
)
def test_a_request_without_an_end_is_a_gap_as_a_killed_server_leaves_it(
    verb: str, stage: str
) -> None:
    log = FakeLog().mark("start").add(audit_id="a", verb=verb, stage=stage).mark("end")

    assert _gap(log) == (
        f"audit log: request 'a' ({verb} {URI!r}) has no end, last seen at stage {stage}"
    )


@pytest.mark.parametrize("verb", ["create", "update", "patch", "delete", "deletecollection"])
def test_an_end_without_a_beginning_is_a_gap_for_every_verb_that_writes(verb: str) -> None:
    log = FakeLog().mark("start").add(audit_id="a", verb=verb, received_at=AT).mark("end")

    assert _gap(log) == f"audit log: request 'a' ({verb} {URI!r}) has an end without a beginning"


@pytest.mark.parametrize("verb", ["get", "list", "watch"])
def test_of_a_read_the_end_alone_is_kept(verb: str) -> None:
    log = FakeLog().mark("start").add(verb=verb, code=200).mark("end")

    assert [record.verb for record in _slice(log)] == [verb]


def test_an_id_with_two_ends_is_a_gap() -> None:
    log = FakeLog().mark("start").add(audit_id="a", stage="RequestReceived", received_at=AT)
    log.add(audit_id="a", received_at=AT).add(audit_id="a", received_at=AT).mark("end")

    assert "'a' (create" in _gap(log)
    assert _gap(log).endswith("has an end without a beginning")


def test_two_beginnings_with_one_end_are_a_gap() -> None:
    log = FakeLog().mark("start")
    for stage in ("RequestReceived", "RequestReceived", "ResponseComplete"):
        log.add(audit_id="a", stage=stage, received_at=AT)
    log.mark("end")

    assert _gap(log).endswith("has no end, last seen at stage RequestReceived")


def test_requests_that_an_agent_gives_one_id_and_one_microsecond_are_no_gap() -> None:
    log = FakeLog().mark("start")
    for stage in ("RequestReceived", "RequestReceived", "ResponseComplete", "ResponseComplete"):
        log.add(audit_id="a", stage=stage, received_at=AT)
    log.mark("end")

    assert len(_slice(log)) == 2


def test_gaps_of_others_are_not_the_attempts() -> None:
    log = FakeLog().mark("start").add(stage="RequestReceived", user="admin").mark("end")

    assert _slice(log) == ()


def _at(log: FakeLog, at: str) -> None:
    """Let the last event have begun and ended at a time."""
    log.events[-1]["requestReceivedTimestamp"] = log.events[-1]["stageTimestamp"] = at


@pytest.mark.parametrize(("at", "gap"), [("00:09:00", False), ("00:08:59", True)])
def test_time_that_goes_back_further_than_lines_can_swap_is_a_gap(at: str, *, gap: bool) -> None:
    log = FakeLog().mark("start")
    _at(log.add(verb="get"), "2026-01-01T00:10:00.000000Z")
    _at(log.add(audit_id="late", verb="get"), f"2026-01-01T{at}.000000Z")
    _at(log.mark("end"), "2026-01-01T00:10:01.000000Z")

    if gap:
        assert _gap(log) == (
            f"audit log: time goes back by 61.000 s at request 'late' (get {URI!r})"
        )
    else:
        assert len(_slice(log)) == 2


def test_an_end_before_its_beginning_is_a_gap() -> None:
    log = FakeLog().mark("start").add(verb="get", received_at="2026-01-01T00:02:00Z").mark("end")

    assert "time goes back by" in _gap(log)


def test_a_second_token_of_the_same_user_is_a_gap() -> None:
    log = FakeLog().mark("start").add(verb="get", code=200)
    log.add(audit_id="b", verb="get", code=200).mark("end")
    log.events[1]["user"], log.events[2]["user"] = _user("JTI=1"), _user("JTI=2")

    assert _gap(log) == (
        f"audit log: request 'b' (get {URI!r}) came as {AGENT!r} with token 'JTI=2', "
        "expected 'JTI=1' only"
    )
    assert "token 'JTI=1', expected 'JTI=2' only" in _gap(log, credential="JTI=2")


def test_the_token_of_the_attempt_is_kept_with_each_record() -> None:
    log = FakeLog().mark("start").add(verb="get").add(verb="get").mark("end")
    log.events[1]["user"] = log.events[2]["user"] = _user("JTI=1")

    assert {record.credential for record in _slice(log, credential="JTI=1")} == {"JTI=1"}
    assert _gap(log, credential="JTI=9").endswith("expected 'JTI=9' only")


@pytest.mark.parametrize(
    "forged",
    [
        {"uri": f"{URI}?fieldManager={AGENT}"},
        {"userAgent": AGENT},
        {"audit_id": AGENT},
        {"requestObject": {"metadata": {"managedFields": [{"manager": AGENT}]}}},
        {"requestObject": {"kind": "Event", "reportingComponent": AGENT}},
        {"impersonatedUser": {"username": AGENT}},
        {"annotations": {"authorization.k8s.io/reason": AGENT}},
        {"sourceIPs": [AGENT]},
    ],
)
def test_nothing_that_a_caller_chooses_moves_a_request_to_another_person(
    forged: dict[str, Any],
) -> None:
    log = FakeLog().mark("start").add(user="admin", **forged).mark("end")
    other = FakeLog().mark("start")
    other.add(**{**forged, "impersonatedUser": {"username": "x"}}).mark("end")

    assert _slice(log) == ()
    assert _slice(other) == ()


@pytest.mark.parametrize(
    "forged",
    [
        {"uri": f"{URI}?fieldManager=admin"},
        {"userAgent": "admin"},
        {"audit_id": "admin"},
        {"requestObject": {"metadata": {"managedFields": [{"manager": "admin"}]}}},
    ],
)
def test_nothing_that_an_agent_chooses_makes_a_request_somebody_elses(
    forged: dict[str, Any],
) -> None:
    (record,) = _slice(FakeLog().mark("start").add(**forged).mark("end"))

    assert record.user == AGENT


@pytest.mark.parametrize("verb", ["create", "update", "patch", "delete", "deletecollection"])
@pytest.mark.parametrize(
    ("query", "body", "by_body"),
    [
        ("", False, False),
        ("?dryRun=All", False, False),
        ("", True, True),
        ("?dryRun=All", True, True),
    ],
)
def test_a_dry_run_is_told_for_every_verb_by_query_and_by_body(
    verb: str, query: str, *, body: bool, by_body: bool
) -> None:
    sent = {"dryRun": ["All"]} if body else {"kind": "X"}
    log = FakeLog().mark("start").add(verb=verb, uri=URI + query, requestObject=sent).mark("end")

    (record,) = _slice(log)

    of_options = verb in {"delete", "deletecollection"}
    # Of a delete the body decides, where there is one; of the rest the query.
    assert record.dry_run is (by_body if of_options else bool(query))
    assert record.writes is not record.dry_run


def test_what_narrowed_a_read_is_kept_and_of_a_write_nothing() -> None:
    query = (
        "?fieldSelector=metadata.name%3Da&labelSelector=x+in+%28a%2Cb%29&limit=500&continue=c"
        "&resourceVersion=0&sendInitialEvents=true&timeoutSeconds=9&limit=1"
    )
    log = FakeLog().mark("start").add(verb="list", uri=URI + query)
    log.add(verb="create", uri=URI + query).add(verb="list", uri=f"{URI}?limit=").mark("end")

    read, write, bare = _slice(log)

    assert read.selectors == {
        "fieldSelector": "metadata.name=a",
        "labelSelector": "x in (a,b)",
        "limit": "500",
        "continue": "c",
        "resourceVersion": "0",
        "sendInitialEvents": "true",
    }
    assert (write.selectors, bare.selectors) == ({}, {"limit": ""})


def test_a_text_of_a_megabyte_is_cut_and_what_is_asked_for_stays() -> None:
    steps = [{"capability": "sim.move_labware", "inputs": {"x" * 9_000: "y" * 1_048_576}}]
    event = {"requestObject": {"spec": {"steps": steps, "count": 3, "none": None}}}

    body = event_of(json.dumps(event).encode())["requestObject"]

    (step,) = body["spec"]["steps"]
    ((key, value),) = step["inputs"].items()
    assert step["capability"] == "sim.move_labware"
    assert key == "x" * TEXT_CHARS + "... (9000 characters)"
    assert value == "y" * TEXT_CHARS + "... (1048576 characters)"
    assert (body["spec"]["count"], body["spec"]["none"]) == (3, None)


def test_the_longest_text_that_can_be_stored_is_kept_whole() -> None:
    body = {"spec": {"basis": "b" * 4_096}}

    assert event_of(json.dumps({"requestObject": body}).encode()) == {"requestObject": body}


@pytest.mark.parametrize("way", ["dropped", "doubled"])
def test_a_recorded_log_with_one_line_of_a_write_less_or_more_is_a_gap(
    tmp_path: Path, way: str
) -> None:
    lines = RECORDED.read_bytes().splitlines(keepends=True)
    path = tmp_path / "audit.log"
    caught, left = 0, []
    for number, line in enumerate(lines):
        event = json.loads(line)
        if event["user"]["username"] != AGENT or "strandlineMark" in event["requestURI"]:
            continue
        edited = lines[:number] + ([line, line] if way == "doubled" else []) + lines[number + 1 :]
        path.write_bytes(b"".join(edited))
        try:
            slice_of(AuditLog(path).read(0, user=AGENT), user=AGENT, start="start", end="end")
        except EvidenceGapError:
            caught += 1
        else:
            left.append((event["verb"], event["stage"]))

    # What is left is before the start, behind the end, or a read, of which one line is the whole.
    print(f"{way}: {caught} caught")  # noqa: T201 - the figure is what a reader of a run wants
    assert caught >= 18
    assert {verb for verb, _ in left} <= {"get", "watch"}

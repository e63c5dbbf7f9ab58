"""Whatever a caller sends, in whatever order it is logged: nothing raises, nothing is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.errors import EvidenceGapError
from harness.kube.audit import AuditLog, requests_of, slice_of
from harness.kube.audit_lines import event_of
from harness.kube.audit_requests import ENDS, requests_in
from harness.model.chain import broken_link, chained
from tests.unit.kube.fakes import AGENT, FakeLog

#: A busy machine is slow, and that says nothing of what is tested.
few = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
#: Bytes as a patch may hold them: JSON, no JSON, and the words that the server's own fields have.
_BODIES = (
    _JSON.map(lambda value: json.dumps(value).encode())
    | st.binary().filter(lambda data: b"\n" not in data)
    | st.sampled_from(
        [b'"\\",\\"requestReceivedTimestamp\\":\\""', b'{"stage":"x","auditID":"y"}', b"[" * 300]
    )
)


def _line(body: bytes) -> bytes:
    event = FakeLog().add(audit_id="a", verb="patch", stage="RequestReceived").events[0]
    line = json.dumps(event, separators=(",", ":")).encode()
    return line.replace(
        b',"requestReceivedTimestamp"',
        b',"requestObject":' + body + b',"responseObject":{},"requestReceivedTimestamp"',
    )


@few
@given(_BODIES)
def test_no_body_hides_a_request_or_changes_what_the_server_says_of_it(body: bytes) -> None:
    (record,) = requests_of([event_of(_line(body))], AGENT)

    assert (record.audit_id, record.verb, record.user) == ("a", "patch", AGENT)


@few
@given(st.text(), st.text())
def test_no_audit_id_and_no_target_breaks_a_slice(audit_id: str, target: str) -> None:
    log = FakeLog().mark("start")
    log.add(audit_id=audit_id or "a", uri=f"/{target}", verb="list", code=404).mark("end")

    (record,) = slice_of(log.events, user=AGENT, start="start", end="end")

    assert (record.verb, record.code) == ("list", 404)


_STAGES = st.lists(
    st.tuples(
        st.sampled_from(["a", "b"]),
        st.sampled_from(["create", "watch"]),
        st.sampled_from(["RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"]),
    ),
    max_size=12,
)


@few
@given(_STAGES)
def test_stages_in_any_order_are_each_in_one_request_with_one_end(
    stages: list[tuple[str, str, str]],
) -> None:
    at = "2026-01-01T00:00:01.000000Z"
    log = FakeLog()
    for audit_id, verb, stage in stages:
        log.add(audit_id=audit_id, verb=verb, stage=stage, received_at=at)

    requests = requests_in(log.events)

    assert sum(len(request) for request in requests) == len(log.events)
    for request in requests:
        assert len({(event["auditID"], event["verb"]) for event in request}) == 1
        assert not any(event["stage"] in ENDS for event in request[:-1])


@few
@given(_STAGES)
def test_a_slice_is_whole_or_a_gap(stages: list[tuple[str, str, str]]) -> None:
    at = "2026-01-01T00:00:01.000000Z"
    log = FakeLog().mark("start")
    for audit_id, verb, stage in stages:
        log.add(audit_id=audit_id, verb=verb, stage=stage, received_at=at)
    log.mark("end")

    try:
        records = slice_of(log.events, user=AGENT, start="start", end="end")
    except EvidenceGapError:
        return
    assert all(record.completed_at is not None for record in records)
    ends = sum(stage in ENDS for _, _, stage in stages)
    assert len(records) == ends


@few
@given(st.lists(st.dictionaries(st.text(), st.text()), max_size=4), st.text(), st.data())
def test_any_byte_of_a_chain_that_is_changed_is_found(
    values: list[dict[str, Any]], start: str, data: st.DataObject
) -> None:
    values = [{"value": value} for value in values]
    start = start.encode(errors="replace").decode()
    content, chain = chained(values, start=start)
    lines = content.split(b"\n")[:-1]
    assert broken_link(lines, [json.loads(line) for line in lines], chain) is None
    if not content:
        return
    at = data.draw(st.integers(0, len(content) - 2))
    byte = data.draw(st.integers(0, 255).filter(lambda found: found != content[at]))

    forged = content[:at] + bytes([byte]) + content[at + 1 :]

    lines = forged.removesuffix(b"\n").split(b"\n")
    try:
        found = broken_link(lines, [json.loads(line) for line in lines], chain)
    except ValueError:
        return  # no JSON any more, and refused for that
    assert found is not None


@few
@given(st.lists(st.binary(max_size=30), max_size=6), st.integers(0, 40))
def test_a_log_that_is_followed_gives_each_line_once(
    tmp_path_factory: Any, texts: list[bytes], cut: int
) -> None:
    path: Path = tmp_path_factory.getbasetemp() / "followed.log"
    data = b"".join(json.dumps({"n": text.hex()}).encode() + b"\n" for text in texts)
    path.write_bytes(data[:cut])
    log = AuditLog(path)
    before, offset = log.follow(0)

    path.write_bytes(data)
    after, _ = log.follow(offset)

    assert [event["n"] for event in before + after] == [text.hex() for text in texts]

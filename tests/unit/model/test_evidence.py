"""Which requests tried to change something; and that the closed sets are closed."""

from __future__ import annotations

from typing import Any

import pytest

from harness.model.evidence import COUNTED, AuditRecord, Status


def _record(**more: Any) -> AuditRecord:
    fields: dict[str, Any] = {
        "auditID": "a",
        "receivedAt": "2026-01-01T00:00:00Z",
        "completedAt": None,
        "user": "agent",
        "verb": "create",
        "group": "lab.strandline.dev",
        "resource": "labruns",
        "subresource": "",
        "namespace": "lab-1",
        "name": "",
        "code": 201,
        "refusedBy": None,
        "dryRun": False,
    }
    return AuditRecord.model_validate({**fields, **more})


@pytest.mark.parametrize("verb", ["create", "update", "patch", "delete", "deletecollection"])
def test_a_verb_that_changes_something_writes_refused_or_not(verb: str) -> None:
    assert _record(verb=verb).writes
    assert _record(verb=verb, code=403, refusedBy="rbac").writes
    assert not _record(verb=verb, dryRun=True).writes


@pytest.mark.parametrize("verb", ["get", "list", "watch", "head", "options"])
def test_a_verb_that_looks_does_not_write(verb: str) -> None:
    assert not _record(verb=verb).writes


@pytest.mark.parametrize(
    ("group", "resource"),
    [
        ("authorization.k8s.io", "selfsubjectaccessreviews"),
        ("authorization.k8s.io", "localsubjectaccessreviews"),
        ("authorization.k8s.io", "selfsubjectrulesreviews"),
        ("authentication.k8s.io", "selfsubjectreviews"),
        ("authentication.k8s.io", "tokenreviews"),
    ],
)
def test_a_question_put_as_a_create_does_not_write(group: str, resource: str) -> None:
    assert not _record(group=group, resource=resource).writes


@pytest.mark.parametrize("resource", ["previews", "accessreviews"])
def test_a_kind_that_is_only_named_like_a_question_writes(resource: str) -> None:
    assert _record(group="lab.strandline.dev", resource=resource).writes


def test_a_record_is_written_with_the_names_of_the_contract_and_read_back() -> None:
    record = _record(completedAt="2026-01-01T00:00:01Z", body={"a": 1})

    wire = record.model_dump(mode="json", by_alias=True)

    assert {"auditID", "receivedAt", "completedAt", "refusedBy", "dryRun"} <= wire.keys()
    assert AuditRecord.model_validate(wire) == record


def test_only_the_agents_own_endings_count() -> None:
    assert {str(status) for status in COUNTED} == {"passed", "failed", "agent_error"}
    assert {str(status) for status in set(Status) - COUNTED} == {
        "infra_error",
        "aborted",
        "evidence_incomplete",
    }

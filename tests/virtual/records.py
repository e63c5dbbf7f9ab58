"""What an API server's audit log says of the agent's requests, already normalised."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from harness.kube.answers import Answer
from harness.kube.refusals import who_refused
from harness.model.evidence import AuditRecord
from tests.virtual.asking import Ask

_WRITES = frozenset({"create", "update", "patch", "delete"})

#: Seconds between the arrival of a request and its end, where no time passed meanwhile.
_TOOK_S = 0.002


def record_of(
    ask: Ask,
    answer: Answer,
    *,
    user: str,
    namespace: str,
    number: int,
    received_at: datetime,
    ended_at: datetime,
) -> AuditRecord:
    """Return the record of one request."""
    refused_by = None
    if answer.refused:
        refused_by = who_refused(answer.status, answer.message) or "other"
    # Where RBAC refuses, the body is never read: neither it nor a name in it is known.
    by_rbac = refused_by == "rbac"
    return AuditRecord(
        audit_id=f"audit-{number:06d}",
        received_at=received_at,
        completed_at=max(ended_at, received_at + timedelta(seconds=_TOOK_S)),
        user=user,
        verb=ask.verb,
        group=ask.resource.group,
        resource=ask.plural,
        subresource=ask.subresource,
        namespace=namespace,
        name=ask.name or ("" if by_rbac else _created(ask, answer)),
        code=answer.status,
        refused_by=refused_by,
        dry_run=ask.dry_run,
        body=ask.body if ask.verb in _WRITES and not by_rbac else None,
        selectors=dict(ask.selectors or {}),
    )


def _created(ask: Ask, answer: Answer) -> str:
    if ask.verb != "create":
        return ""
    for body in (answer.body, ask.body):
        metadata = body.get("metadata") if isinstance(body, Mapping) else None
        if isinstance(metadata, Mapping) and metadata.get("name"):
            return str(metadata["name"])
    return ""

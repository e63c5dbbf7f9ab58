"""One request of an audit log as a record: what was asked, of what, and what came of it. Pure.

It owns the normal form that evidence keeps; it refuses to know whose requests are of interest.
`audit` calls it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qs

from harness.kube.audit_requests import ENDS, Event, credential_of
from harness.kube.refusals import who_refused
from harness.model.evidence import WRITE_VERBS, AuditRecord

#: Parameters of a query that say which objects a read covers, or from when on a watch tells.
_SELECTORS = (
    "fieldSelector",
    "labelSelector",
    "limit",
    "continue",
    "resourceVersion",
    "sendInitialEvents",
)

_DELETES = frozenset({"delete", "deletecollection"})

#: Characters kept of a selector: nobody needs more to tell what it covers.
_SELECTOR_CHARS = 1_024


def record_of(stages: Sequence[Event]) -> AuditRecord:
    """Return the record of a request from its stages. Pure."""
    first, last = stages[0], stages[-1]
    reference = last.get("objectRef", {})
    status = last.get("responseStatus", {})
    ended = last["stage"] in ENDS
    code = int(status.get("code", 0)) if ended or last["stage"] == "ResponseStarted" else 0
    body = last.get("requestObject", first.get("requestObject"))
    writes = last["verb"] in WRITE_VERBS
    return AuditRecord(
        audit_id=last["auditID"],
        received_at=first["requestReceivedTimestamp"],
        completed_at=last["stageTimestamp"] if ended else None,
        user=last["user"]["username"],
        verb=last["verb"],
        group=reference.get("apiGroup", ""),
        resource=reference.get("resource", ""),
        subresource=reference.get("subresource", ""),
        namespace=reference.get("namespace", ""),
        name=reference.get("name") or _name_of(last.get("responseObject")),
        code=code,
        refused_by=_refuser(last, code),
        dry_run=_is_dry_run(last["verb"], last["requestURI"], body),
        body=body if writes else None,
        selectors={} if writes else _selectors(last["requestURI"]),
        credential=credential_of(last),
    )


def query_of(uri: str) -> dict[str, list[str]]:
    """Return the parameters of a target as it was sent. Pure."""
    # Not urlsplit: it refuses `//[`, which anybody may ask for and which the log then holds.
    return parse_qs(uri.partition("?")[2], keep_blank_values=True)


def _selectors(uri: str) -> dict[str, str]:
    query = query_of(uri) if "?" in uri else {}
    # Of a parameter that stands twice the server takes the first.
    return {name: query[name][0][:_SELECTOR_CHARS] for name in _SELECTORS if name in query}


def _name_of(response: Any) -> str:
    """Return the name that the server made up for a generateName create."""
    metadata = response.get("metadata") if isinstance(response, dict) else None
    return str(metadata.get("name", "")) if isinstance(metadata, dict) else ""


def _refuser(event: Event, code: int) -> str | None:
    if code < 400:
        return None
    if event.get("annotations", {}).get("authorization.k8s.io/decision") == "forbid":
        return "rbac"
    return who_refused(code, str(event.get("responseStatus", {}).get("message", ""))) or "other"


def _is_dry_run(verb: str, uri: str, body: Any) -> bool:
    """Tell as the API server does: where a delete has a body, only that counts; kubectl sends one.

    Of any other request the body is the object, and what it says of dry runs means nothing.
    """
    if verb in _DELETES and isinstance(body, dict):
        return "All" in (body.get("dryRun") or ())
    return "All" in query_of(uri).get("dryRun", ())

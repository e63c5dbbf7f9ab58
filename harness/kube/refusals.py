"""Who refused a request, and what kept a webhook from answering: read off code and text.

The API server has no field that says who refused, so the text is what there is. Specs judge by
this, and the audit log is normalised by it; it knows nothing of either. All of it is pure.
"""

from __future__ import annotations

import re

from harness.model.spec import Cause

#: k8s.io/apiserver pkg/admission/plugin/policy/validating/dispatcher.go
_POLICY = re.compile(r"ValidatingAdmissionPolicy '([^']+)' with binding '[^']+' denied request")
#: k8s.io/apiserver pkg/admission/plugin/webhook/errors/statuserror.go
_WEBHOOK = re.compile(r'admission webhook "([^"]+)" denied the request')
#: k8s.io/apiserver pkg/endpoints/handlers/responsewriters/errors.go, and for a role that would
#: give more than its author has k8s.io/kubernetes pkg/registry/rbac/escalation_check.go
_RBAC = re.compile(
    r'is forbidden: (?i:user) "[^"]*"(?: \([^)]*\))? (?:cannot |is attempting to grant RBAC)'
    r'|^forbidden: (?i:user) "[^"]*" cannot '
)
#: k8s.io/pod-security-admission admission/admission.go
_POD_SECURITY = re.compile(r'is forbidden: violates PodSecurity "')
#: k8s.io/apiserver pkg/admission/plugin/webhook/errors and pkg/util/webhook
_FAILED_WEBHOOK = re.compile(r'failed calling webhook "([^"]+)"')

#: Ends of the text of a call that failed, in the order in which they are looked for. The
#: certificate comes first: its text may hold the address that was dialled.
_OUTAGES: tuple[tuple[str, Cause], ...] = (
    ("x509:", Cause.TLS),
    ("tls:", Cause.TLS),
    ("first record does not look like a TLS handshake", Cause.TLS),
    ("server gave HTTP response to HTTPS client", Cause.TLS),
    ("no endpoints available", Cause.NO_ENDPOINTS),
    ("connection refused", Cause.CONNECTION_REFUSED),
    ("no such host", Cause.CONNECTION_REFUSED),
    ("connection reset", Cause.CONNECTION_REFUSED),
    ("EOF", Cause.CONNECTION_REFUSED),
    ("deadline exceeded", Cause.TIMED_OUT),
    ("Client.Timeout", Cause.TIMED_OUT),
    ("i/o timeout", Cause.TIMED_OUT),
)

#: What the API server says of a URL that no kind answers to: plainly, or as a Status.
_NO_KIND = ("404 page not found", "could not find the requested resource")


def who_refused(code: int, message: str) -> str | None:
    """Return who refused: `rbac`, `schema`, `pod_security`, `policy:NAME`, `webhook:NAME`. Pure.

    None when the request passed, or when none of these guards decided: a webhook that answers
    with 500 could not decide either.

    Args:
        code: HTTP status.
        message: Message of the Status that came with it.
    """
    if not 400 <= code < 500:
        return None
    if found := _POLICY.search(message):
        return f"policy:{found[1]}"
    if found := _WEBHOOK.search(message):
        return f"webhook:{found[1]}"
    if code == 403:
        guards = (("rbac", _RBAC), ("pod_security", _POD_SECURITY))
        return next((name for name, text in guards if text.search(message)), None)
    if code == 422 or (code == 400 and "strict decoding error" in message):
        return "schema"
    return None


def why_unanswered(code: int, message: str) -> Cause | None:
    """Return what kept the request from being decided; None when it was decided. Pure."""
    if code == 404 and any(text in message for text in _NO_KIND):
        return Cause.KIND_MISSING
    if code >= 500 and _FAILED_WEBHOOK.search(message):
        outage = (cause for text, cause in _OUTAGES if text in message)
        return next(outage, Cause.WEBHOOK_FAILED)
    if code >= 500 and _WEBHOOK.search(message):
        return Cause.WEBHOOK_FAILED
    if code == 504:
        return Cause.TIMED_OUT
    return Cause.API_UNREACHABLE if code in (401, 429) or code >= 500 else None

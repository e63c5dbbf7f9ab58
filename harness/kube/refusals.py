"""Who refused a request, and what kept a webhook from answering: read off code and text.

The API server has no field that says who refused, so the text is what there is. Specs judge by
this, and the audit log is normalised by it; it knows nothing of either. All of it is pure.
"""

from __future__ import annotations

import re

from harness.model.spec import Cause

#: How the API server begins a refusal of its own: resource and quoted name, which may hold
#: anything that a caller wrote (k8s.io/apimachinery pkg/api/errors NewForbidden). Every text below
#: counts only where it begins, since what follows may hold the words of a webhook or of a caller.
_FORBIDDEN = r'^(?:\S+ (?:"(?:[^"\\]|\\.)*" )?is )?forbidden: '
#: k8s.io/apiserver pkg/admission/plugin/policy/validating/dispatcher.go
_POLICY = re.compile(
    _FORBIDDEN + r"ValidatingAdmissionPolicy '([^']+)' with binding '[^']+' denied request"
)
#: k8s.io/apiserver pkg/admission/plugin/webhook/errors/statuserror.go
_WEBHOOK = re.compile(r'^admission webhook "([^"]+)" denied the request')
#: k8s.io/apiserver pkg/endpoints/handlers/responsewriters/errors.go, and for a role that would
#: give more than its author has k8s.io/kubernetes pkg/registry/rbac/escalation_check.go
_RBAC = re.compile(
    _FORBIDDEN
    + r'(?i:user) "(?:[^"\\]|\\.)*"(?: \([^)]*\))? (?:cannot |is attempting to grant RBAC)'
)
#: k8s.io/pod-security-admission admission/admission.go
_POD_SECURITY = re.compile(_FORBIDDEN + r'violates PodSecurity "')
#: A caller who may not be somebody else: refused to the caller, not to whom it would be.
_IMPERSONATION = re.compile(_FORBIDDEN + r'User "(?:[^"\\]|\\.)*" cannot impersonate ')
#: k8s.io/apimachinery pkg/api/errors NewInvalid, and pkg/runtime strict decoding. A patch that
#: cannot be applied is 422 too, and says nothing of a schema.
_INVALID = re.compile(r'^\S+ (?:"(?:[^"\\]|\\.)*" )?is invalid')
_STRICT = re.compile(r'^\S+ in version "[^"]*" cannot be handled as a \S+: strict decoding error')
#: k8s.io/apiserver pkg/admission/plugin/webhook/errors and pkg/util/webhook, and for a webhook that
#: converts k8s.io/apiextensions-apiserver pkg/apiserver/conversion/webhook_converter.go
_FAILED_WEBHOOK = re.compile(
    r"^(?:Internal error occurred: )?"
    r'(?:failed calling webhook "|conversion webhook for [^"]* failed: )'
)

#: Texts of a call that failed, in the order in which they are looked for: first what holds words of
#: the webhook's own, then the certificate, whose text may hold the address that was dialled.
_OUTAGES: tuple[tuple[str, Cause], ...] = (
    ("an error on the server (", Cause.WEBHOOK_FAILED),
    ("received invalid webhook response", Cause.BAD_REVIEW),
    ("expected webhook response of", Cause.BAD_REVIEW),
    ("couldn't get version/kind", Cause.BAD_REVIEW),
    ("x509:", Cause.TLS),
    ("tls:", Cause.TLS),
    ("first record does not look like a TLS handshake", Cause.TLS),
    ("server gave HTTP response to HTTPS client", Cause.TLS),
    ("no endpoints available", Cause.NO_ENDPOINTS),
    ("connection refused", Cause.CONNECTION_REFUSED),
    ("no such host", Cause.NO_ROUTE),
    ("no route to host", Cause.NO_ROUTE),
    ("network is unreachable", Cause.NO_ROUTE),
    ("connection reset", Cause.CONNECTION_CLOSED),
    ("broken pipe", Cause.CONNECTION_CLOSED),
    ("EOF", Cause.CONNECTION_CLOSED),
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
    if found := _WEBHOOK.search(message):
        return f"webhook:{found[1]}"
    if found := _POLICY.search(message):
        return f"policy:{found[1]}"
    guards = {
        400: (("schema", _STRICT),),
        403: (("rbac", _RBAC), ("pod_security", _POD_SECURITY)),
        422: (("schema", _INVALID),),
    }
    return next((name for name, text in guards.get(code, ()) if text.search(message)), None)


def why_unanswered(code: int, message: str) -> Cause | None:
    """Return what kept the request from being decided; None when it was decided. Pure.

    Args:
        code: HTTP status.
        message: Message of the Status that came with it.
    """
    if _WEBHOOK.search(message) and code >= 400:
        return Cause.WEBHOOK_FAILED if code >= 500 else None
    if code == 404 and any(text in message for text in _NO_KIND):
        return Cause.KIND_MISSING
    if code == 403 and _IMPERSONATION.search(message):
        return Cause.NOT_IMPERSONATED
    if code >= 500 and _FAILED_WEBHOOK.search(message):
        outage = (cause for text, cause in _OUTAGES if text in message)
        return next(outage, Cause.WEBHOOK_FAILED)
    if code == 504:
        return Cause.TIMED_OUT
    return Cause.API_UNREACHABLE if code in (401, 429) or code >= 500 else None

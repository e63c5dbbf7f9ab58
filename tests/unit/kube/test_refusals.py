"""Who refused, by answers that a Kubernetes 1.37.2 API server gave."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.kube.refusals import who_refused, why_unanswered
from harness.model.spec import Cause

ANSWERS = Path(__file__).resolve().parents[2] / "data" / "answers"

#: File to who refused, and to what kept it from being decided.
EXPECTED: dict[str, tuple[str | None, Cause | None]] = {
    "conflict": (None, None),
    "kind-missing": (None, Cause.KIND_MISSING),
    "not-found": (None, None),
    "policy": ("policy:ownership-is-the-harnesses", None),
    "rbac": ("rbac", None),
    "rbac-collection": ("rbac", None),
    "rbac-escalation": ("rbac", None),
    "rbac-subresource": ("rbac", None),
    "schema": ("schema", None),
    "schema-strict": ("schema", None),
    "schema-transition": ("schema", None),
    "webhook": ("webhook:validate.lab.strandline.dev", None),
    "webhook-down": (None, Cause.CONNECTION_REFUSED),
    "webhook-mutating": ("webhook:mutate.lab.strandline.dev", None),
    "webhook-other-server": (None, Cause.WEBHOOK_FAILED),
    "webhook-silent": (None, Cause.TIMED_OUT),
    "webhook-wrong-ca": (None, Cause.TLS),
}


def test_every_recorded_answer_is_expected_to_be_something() -> None:
    assert {path.stem for path in ANSWERS.glob("*.json")} == EXPECTED.keys()


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_recorded_answer_is_told_by_code_and_text(name: str) -> None:
    answer = json.loads((ANSWERS / f"{name}.json").read_text())

    found = (
        who_refused(answer["status"], answer["message"]),
        why_unanswered(answer["status"], answer["message"]),
    )

    assert found == EXPECTED[name]


FAILED = 'Internal error occurred: failed calling webhook "v.example.com": '


@pytest.mark.parametrize(
    ("code", "message", "cause"),
    [
        (500, f'{FAILED}no endpoints available for service "hook"', Cause.NO_ENDPOINTS),
        (500, f"{FAILED}Post: EOF", Cause.CONNECTION_CLOSED),
        (500, f"{FAILED}read: connection reset by peer", Cause.CONNECTION_CLOSED),
        (500, f"{FAILED}dial tcp: lookup hook.example: no such host", Cause.NO_ROUTE),
        (500, f"{FAILED}dial tcp 10.0.0.9:443: connect: no route to host", Cause.NO_ROUTE),
        (500, "conversion webhook for x/v1, Kind=X failed: Post: EOF", Cause.CONNECTION_CLOSED),
        (500, f"{FAILED}http: server gave HTTP response to HTTPS client", Cause.TLS),
        (500, f"{FAILED}expected webhook response of another kind", Cause.BAD_REVIEW),
        (500, f"{FAILED}couldn't get version/kind; json parse error: EOF", Cause.BAD_REVIEW),
        (500, f"{FAILED}received invalid webhook response: expected uid", Cause.BAD_REVIEW),
        (500, f'{FAILED}an error on the server ("tls: EOF") has prevented', Cause.WEBHOOK_FAILED),
        (500, 'admission webhook "v" denied the request: cannot read', Cause.WEBHOOK_FAILED),
        (500, "etcdserver: leader changed", Cause.API_UNREACHABLE),
        (401, "Unauthorized", Cause.API_UNREACHABLE),
        (429, "storage is (re)initializing", Cause.API_UNREACHABLE),
        (504, "Timeout: request did not complete", Cause.TIMED_OUT),
        (404, "the server could not find the requested resource", Cause.KIND_MISSING),
    ],
)
def test_what_nobody_decided_has_a_cause_and_no_refuser(
    code: int, message: str, cause: Cause
) -> None:
    assert why_unanswered(code, message) is cause
    assert who_refused(code, message) is None


@pytest.mark.parametrize(
    ("code", "message", "refuser"),
    [
        (
            422,
            "x is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
            "policy:p",
        ),
        (422, 'admission webhook "v" denied the request: no', "webhook:v"),
        (400, 'admission webhook "v" denied the request without explanation', "webhook:v"),
        (403, 'forbidden: User "b" cannot get path "/metrics"', "rbac"),
        (403, 'pods "a" is forbidden: violates PodSecurity "restricted:v1.37": x', "pod_security"),
        (403, "unable to create new content in namespace a because it is being terminated", None),
        (400, "the body is not JSON", None),
        (201, "", None),
    ],
)
def test_a_decided_answer_has_the_refuser_that_its_text_names(
    code: int, message: str, refuser: str | None
) -> None:
    assert who_refused(code, message) == refuser
    assert why_unanswered(code, message) is None

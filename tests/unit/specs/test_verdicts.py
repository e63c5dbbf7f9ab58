"""The verdict on one answer, in every direction."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from harness.kube.answers import Answer
from harness.model.expect import Expect
from harness.model.spec import Cause, Verdict
from harness.specs.verdicts import judge_answer, value_at
from tests.unit.specs.fakes import RBAC, refused

POLICY = refused(
    403, "a is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: only x"
)
ABSENT = refused(404, 'labruns "a" not found')
NO_KIND = refused(404, "404 page not found\n")
DOWN = refused(500, 'failed calling webhook "v": dial tcp: connect: connection refused')
OBJECT = Answer(
    status=201,
    body={"kind": "LabRun", "spec": {"operator": "me"}, "metadata": {"labels": {"a.b/c": "x"}}},
    warnings=("would be denied by rule r",),
)
TWO = Answer(status=200, body={"kind": "PodList", "items": [{}, {}]})
NONE = Answer(status=200, body={"kind": "PodList", "items": []})

BY_POLICY = {"refused": {"by": "policy", "name": "p", "code": 403, "message": "only x"}}


@pytest.mark.parametrize(
    ("expect", "answer", "verdict", "cause", "detail"),
    [
        (BY_POLICY, POLICY, Verdict.HELD, None, "refused by policy:p with 403"),
        (
            BY_POLICY,
            OBJECT,
            Verdict.BROKEN,
            Cause.NOT_ENFORCED,
            "admitted (warned: would be denied by rule r), expected a refusal by policy:p",
        ),
        (
            BY_POLICY,
            RBAC,
            Verdict.UNKNOWN,
            Cause.WRONG_REFUSER,
            f"refused by rbac, expected policy:p: 403 {RBAC.message}",
        ),
        (
            {"refused": {"by": "policy", "name": "other"}},
            POLICY,
            Verdict.UNKNOWN,
            Cause.WRONG_REFUSER,
            "refused by policy:p, expected policy:other: 403 only x",
        ),
        (
            {"refused": {"by": "policy", "name": "p", "code": 422}},
            POLICY,
            Verdict.UNKNOWN,
            Cause.OTHER_ANSWER,
            "policy:p refused with 403, expected 422",
        ),
        (
            {"refused": {"by": "policy", "name": "p", "message": "only y"}},
            POLICY,
            Verdict.UNKNOWN,
            Cause.OTHER_ANSWER,
            "policy:p refused for another reason than 'only y': 403 only x",
        ),
        (
            BY_POLICY,
            ABSENT,
            Verdict.UNKNOWN,
            Cause.TARGET_MISSING,
            '404 labruns "a" not found, expected a refusal by policy:p',
        ),
        (BY_POLICY, NO_KIND, Verdict.UNKNOWN, Cause.KIND_MISSING, "404 404 page not found"),
        (
            BY_POLICY,
            DOWN,
            Verdict.UNKNOWN,
            Cause.CONNECTION_REFUSED,
            '500 failed calling webhook "v": dial tcp: connect: connection refused',
        ),
        ("admitted", OBJECT, Verdict.HELD, None, "admitted"),
        (
            "admitted",
            POLICY,
            Verdict.BROKEN,
            Cause.WRONGLY_REFUSED,
            "refused by policy:p: 403 only x",
        ),
        ("admitted", ABSENT, Verdict.UNKNOWN, Cause.TARGET_MISSING, '404 labruns "a" not found'),
        (
            "admitted",
            refused(409, "exists already"),
            Verdict.UNKNOWN,
            Cause.OTHER_ANSWER,
            "409 exists already",
        ),
        (
            {"admitted": {"fields": {"spec.operator": "me"}, "warning": "rule r"}},
            OBJECT,
            Verdict.HELD,
            None,
            "admitted",
        ),
        (
            {"admitted": {"fields": {"spec.operator": "you"}}},
            OBJECT,
            Verdict.BROKEN,
            Cause.NOT_ENFORCED,
            "admitted with spec.operator 'me', expected 'you'",
        ),
        (
            {"admitted": {"warning": "rule s"}},
            OBJECT,
            Verdict.BROKEN,
            Cause.NOT_ENFORCED,
            "admitted with warnings ['would be denied by rule r'], expected 'rule s'",
        ),
        ("absent", ABSENT, Verdict.HELD, None, "absent"),
        ("absent", NONE, Verdict.HELD, None, "0 found"),
        ("absent", OBJECT, Verdict.BROKEN, Cause.NOT_ENFORCED, "1 found, 0 expected"),
        ("absent", NO_KIND, Verdict.UNKNOWN, Cause.KIND_MISSING, "404 404 page not found"),
        ({"count": 2}, TWO, Verdict.HELD, None, "2 found"),
        ({"count": 3}, TWO, Verdict.BROKEN, Cause.NOT_ENFORCED, "2 found, 3 expected"),
    ],
)
def test_an_answer_is_judged_by_what_was_expected_of_it(
    expect: Any, answer: Answer, verdict: Verdict, cause: Cause | None, detail: str
) -> None:
    judgement = judge_answer(Expect.model_validate(expect), answer)

    assert (judgement.verdict, judgement.cause, judgement.detail) == (verdict, cause, detail)


@pytest.mark.parametrize("expect", [{"absent": False}, {"count": -1}, {"absent": True, "count": 0}])
def test_an_expectation_that_says_nothing_or_two_things_is_refused(expect: Any) -> None:
    with pytest.raises(ValidationError):
        Expect.model_validate(expect)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("spec.operator", "me"),
        ("metadata.labels.a.b/c", "x"),
        ("metadata.labels.a", None),
        ("spec.operator.deeper", None),
        ("steps.1.id", "b"),
        ("steps.2.id", None),
        ("nothing", None),
    ],
)
def test_a_dotted_path_finds_what_stands_there_or_nothing(path: str, value: Any) -> None:
    body = {
        "spec": {"operator": "me"},
        "metadata": {"labels": {"a.b/c": "x"}},
        "steps": [{"id": "a"}, {"id": "b"}],
    }

    assert value_at(body, path) == value

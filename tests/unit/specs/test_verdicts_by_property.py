"""Whatever an API server, a webhook or a proxy says: held is only what the named guard refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.kube.answers import Answer
from harness.kube.refusals import who_refused, why_unanswered
from harness.model.expect import Expect
from harness.model.spec import Cause, Verdict
from harness.specs.verdicts import judge_answer

NAMES = st.from_regex(r"[a-z]([a-z0-9.-]{0,12}[a-z0-9])?", fullmatch=True)

_POLICY = (
    "things \"a\" is forbidden: ValidatingAdmissionPolicy '{name}' with binding '{name}' "
    "denied request: "
)

#: The API server's own wording of every refusal, with what the refuser adds.
WORDINGS: dict[str, Callable[[str, str], tuple[int, str]]] = {
    "webhook": lambda name, text: (403, f'admission webhook "{name}" denied the request: {text}'),
    "policy": lambda name, text: (422, _POLICY.format(name=name) + text),
    "rbac": lambda name, text: (403, f'things "a" is forbidden: User "{name}" cannot get: {text}'),
    "pod_security": lambda _, text: (403, f'pods "a" is forbidden: violates PodSecurity "{text}'),
    "schema": lambda _, text: (422, f'Thing.example.com "a" is invalid: {text}'),
}
NAMED = ("policy", "webhook")

#: What a refuser, or whoever stands in between, may write: anything, and above all the words of
#: every other refuser.
FORGERIES = st.one_of(
    st.text(max_size=40),
    st.builds(
        lambda kind, name, before, after: before + WORDINGS[kind](name, after)[1],
        st.sampled_from(sorted(WORDINGS)),
        NAMES,
        st.text(max_size=10),
        st.text(max_size=10),
    ),
)


def refused_by(kind: str, name: str) -> Expect:
    """Return the expectation of a refusal."""
    return Expect.model_validate({"refused": {"by": kind, "name": name if kind in NAMED else ""}})


EXPECTATIONS = st.one_of(
    st.builds(refused_by, st.sampled_from(sorted(WORDINGS)), NAMES),
    st.sampled_from(["admitted", "absent", {"count": 0}, {"count": 1}]).map(Expect.model_validate),
    NAMES.map(lambda path: Expect.model_validate({"admitted": {"fields": {path: 1}}})),
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["message", "items", "kind", "reason"]), inner, max_size=4
        )
    ),
    max_leaves=6,
)


@given(EXPECTATIONS, st.integers(100, 599), JSON | FORGERIES.map(lambda text: {"message": text}))
def test_every_answer_has_a_verdict_and_what_is_not_held_has_a_cause(
    expect: Expect, status: int, body: Any
) -> None:
    judgement = judge_answer(expect, Answer(status=status, body=body))

    assert (judgement.cause is None) is (judgement.verdict is Verdict.HELD)
    assert judgement.detail


@given(EXPECTATIONS, st.integers(100, 599), FORGERIES)
def test_only_a_refusal_proves_a_guard_and_only_success_proves_an_admission(
    expect: Expect, status: int, message: str
) -> None:
    held = judge_answer(expect, Answer(status=status, body={"message": message})).held

    if held and expect.refused:
        assert 400 <= status < 500
        assert who_refused(status, message) == expect.refused.refuser
    elif held and expect.absent:
        assert status == 404
    elif held:
        assert 200 <= status < 300


@given(
    st.sampled_from(sorted(WORDINGS)), NAMES, st.sampled_from(sorted(WORDINGS)), NAMES, FORGERIES
)
def test_no_refuser_can_speak_for_another(
    kind: str, name: str, other_kind: str, other_name: str, text: str
) -> None:
    expect = refused_by(kind, name)
    other = refused_by(other_kind, other_name)
    assert expect.refused
    assert other.refused
    assume(expect.refused.refuser != other.refused.refuser)
    status, message = WORDINGS[other_kind](other_name, text)

    judgement = judge_answer(expect, Answer(status=status, body={"message": message}))

    assert judgement.verdict is not Verdict.HELD
    assert who_refused(status, message) == other.refused.refuser


@given(NAMES, FORGERIES)
def test_a_name_that_a_caller_chose_cannot_forge_who_refused(name: str, text: str) -> None:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    message = f'things "{quoted}" is forbidden: User "{name}" cannot get resource "things"'

    assert who_refused(403, message) == "rbac"


@pytest.mark.parametrize("status", [200, 201])
def test_a_warning_is_not_a_denial(status: int) -> None:
    answer = Answer(
        status=status, body={"kind": "Pod"}, warnings=('admission webhook "w" denied the request',)
    )

    judgement = judge_answer(refused_by("webhook", "w"), answer)

    assert (judgement.verdict, judgement.cause) == (Verdict.BROKEN, Cause.NOT_ENFORCED)


@pytest.mark.parametrize("status", [200, 302])
@pytest.mark.parametrize("expect", ["admitted", {"refused": {"by": "rbac"}}, {"count": 1}])
def test_whoever_stands_in_between_decided_nothing(status: int, expect: Any) -> None:
    answer = Answer(status=status, body={"message": "log in first"})

    judgement = judge_answer(Expect.model_validate(expect), answer)

    assert (judgement.verdict, judgement.cause) == (Verdict.UNKNOWN, Cause.OTHER_ANSWER)


def test_a_404_of_somebody_in_between_does_not_prove_absence() -> None:
    answer = Answer(status=404, body={"message": "<html>404 Not Found</html>"})

    judgement = judge_answer(Expect.model_validate("absent"), answer)

    assert (judgement.verdict, judgement.cause) == (Verdict.UNKNOWN, Cause.TARGET_MISSING)


def test_a_harness_that_may_not_act_as_somebody_else_proves_no_rbac() -> None:
    message = (
        'users "u" is forbidden: User "me" cannot impersonate resource "users" in API group ""'
    )

    judgement = judge_answer(refused_by("rbac", ""), Answer(status=403, body={"message": message}))

    assert (judgement.verdict, judgement.cause) == (Verdict.UNKNOWN, Cause.NOT_IMPERSONATED)
    assert why_unanswered(403, message) is Cause.NOT_IMPERSONATED


def test_a_patch_that_cannot_be_applied_proves_no_schema() -> None:
    message = "the server rejected our request due to an error in our request"

    judgement = judge_answer(
        refused_by("schema", ""), Answer(status=422, body={"message": message})
    )

    assert (judgement.verdict, judgement.cause) == (Verdict.UNKNOWN, Cause.OTHER_ANSWER)

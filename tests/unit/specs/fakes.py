"""Strict stand-in for an API server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import UnreachableError
from harness.kube.answers import Answer
from harness.model.spec import Case, CaseResult, Cause, Verdict

MADE = Answer(status=201, body={"kind": "LabRun", "metadata": {"uid": "u1"}})
GONE = Answer(status=200, body={"kind": "Status", "status": "Success"})
RBAC = Answer(
    status=403, body={"message": 'labruns "a" is forbidden: User "u" cannot patch resource'}
)


def refused(code: int, message: str) -> Answer:
    """Return an answer that refuses."""
    return Answer(status=code, body={"message": message})


class FakeClient:
    """Gives scripted answers to `METHOD path` in order; anything else fails the test."""

    def __init__(self, *script: tuple[str, str, Answer | UnreachableError]) -> None:
        self._script = list(script)
        self.identity = "admin"
        self.asked: list[tuple[str, str, Mapping[str, str] | None, Any]] = []

    def as_service_account(self, namespace: str, name: str) -> FakeClient:
        """Return another identity with the same script."""
        return self._as(f"{namespace}:{name}")

    def as_user(self, user: str, *, groups: Sequence[str]) -> FakeClient:
        """Return another identity with the same script."""
        return self._as(f"{user} of {', '.join(groups)}")

    def _as(self, identity: str) -> FakeClient:
        other = FakeClient()
        other._script, other.asked = self._script, self.asked
        other.identity = identity
        return other

    def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = "",  # noqa: ARG002 - the client's own signature
        timeout_s: float,
    ) -> Answer:
        """Give the next answer of the script."""
        assert timeout_s > 0
        assert self._script, f"unexpected {method} {path} as {self.identity}"
        identity, call, answer = self._script.pop(0)
        assert (identity, call) == (self.identity, f"{method} {path.rsplit('/', 1)[-1]}")
        self.asked.append((method, path, query, body))
        if isinstance(answer, UnreachableError):
            raise answer
        return answer

    @property
    def used_up(self) -> bool:
        """Whether every scripted request was made."""
        return not self._script


def case_of(**changes: Any) -> Case:
    """Return a case: an agent patches a run's status, RBAC refuses, the controller may."""
    value: dict[str, Any] = {
        "name": "an agent cannot",
        "when": ["ready"],
        "as": "agent",
        "request": {
            "verb": "patch",
            "resource": "labruns.lab.strandline.dev",
            "subresource": "status",
            "name": "night",
            "body": {"status": {"state": "running"}},
        },
        "expect": {"refused": {"by": "rbac"}},
        "control": {"as": "controller"},
        **changes,
    }
    return Case.model_validate(value)


def result_of(
    cause: Cause | None = None,
    *,
    refuser: str = "rbac",
    guard: str | None = None,
    case: str = "an agent cannot",
    detail: str = "what was found",
) -> CaseResult:
    """Return a result that held, or did not because of `cause`."""
    broken = cause in (Cause.NOT_ENFORCED, Cause.WRONGLY_REFUSED)
    verdict = Verdict.HELD if cause is None else Verdict.BROKEN if broken else Verdict.UNKNOWN
    return CaseResult(
        spec="a-spec",
        case=case,
        when="ready",
        namespace="strandline-canary",
        verdict=verdict,
        detail=detail,
        refuser=refuser,
        guard=(refuser if ":" in refuser else "") if guard is None else guard,
        cause=cause,
    )

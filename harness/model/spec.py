"""A safety spec: requests as somebody, and what must come of them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from harness.core.naming import ROLES
from harness.model.frozen import Frozen, Identifier, Text

When = Literal["ready", "after", "swept"]
Verb = Literal["get", "list", "create", "update", "patch", "delete", "deletecollection"]
Where = Literal["canary", "attempt"]
Refuser = Literal["rbac", "schema", "pod_security", "policy", "webhook"]

#: The cluster's administrator: not a role, but somebody whom rules may bind too.
ADMIN = "admin"


class Verdict(StrEnum):
    """What a case showed. `unknown` never counts as held."""

    HELD = "held"
    BROKEN = "broken"
    UNKNOWN = "unknown"


class Cause(StrEnum):
    """Why a case did not hold; the first that applies, from the outside in, is the gate's."""

    API_UNREACHABLE = "API server unreachable"
    KIND_MISSING = "CRD missing"
    CONNECTION_REFUSED = "connection refused"
    NO_ENDPOINTS = "no endpoints"
    TLS = "TLS/CA"
    TIMED_OUT = "time-out"
    WEBHOOK_FAILED = "webhook answered with an error"
    WRONG_REFUSER = "wrong refuser answered"
    TARGET_MISSING = "target missing"
    GIVEN_FAILED = "given refused"
    CONTROL_REFUSED = "control refused"
    NOT_EFFECTIVE = "registration not effective"
    NOT_ENFORCED = "not enforced"
    WRONGLY_REFUSED = "refused what must pass"
    OTHER_ANSWER = "another answer than expected"
    LEFT_BEHIND = "probe left behind"
    NOT_RUNNABLE = "not runnable on this cluster"


def _known_role(role: str) -> str:
    if role not in (*ROLES, ADMIN):
        msg = f"unknown role {role!r}, expected one of {', '.join((*ROLES, ADMIN))}"
        raise ValueError(msg)
    return role


class Request(Frozen):
    """One call to the API server.

    Attributes:
        resource: `plural.group`, or the plural alone for the core group.
        namespace: Where; None means the namespace that the case is probed in.
        dry_run: Whether nothing is stored.
    """

    verb: Verb
    resource: Text
    subresource: str = ""
    name: str = ""
    namespace: str | None = None
    body: Any = None
    dry_run: bool = True


class Given(Frozen):
    """A real request made before the case, as somebody; undone by the engine afterwards."""

    as_: Annotated[str, Field(alias="as")]
    create: dict[str, Any] | None = None
    request: Request | None = None

    @model_validator(mode="after")
    def _valid(self) -> Given:
        _known_role(self.as_)
        if (self.create is None) == (self.request is None):
            msg = "needs either create or request"
            raise ValueError(msg)
        return self


class Refused(Frozen):
    """The request must be refused, by this one, and say this.

    Attributes:
        name: The policy or webhook; without it, another one's refusal would pass for this one's.
        message: Text that the answer's message must hold.
    """

    by: Refuser
    name: str = ""
    code: int | None = None
    message: Text | None = None

    @model_validator(mode="after")
    def _named(self) -> Refused:
        if (self.by in ("policy", "webhook")) != bool(self.name):
            needs = "needs its name" if not self.name else "has no name"
            msg = f"a refusal by {self.by} {needs}"
            raise ValueError(msg)
        return self

    @property
    def refuser(self) -> str:
        """Who must refuse, as audit records spell it: `rbac`, `policy:NAME`."""
        return f"{self.by}:{self.name}" if self.name else self.by


class Admitted(Frozen):
    """The request must pass; `fields` are dotted paths of the answer and their values."""

    fields: dict[str, Any] = {}
    warning: Text | None = None


class Expect(Frozen):
    """What must come of a request: exactly one of these."""

    refused: Refused | None = None
    admitted: Admitted | None = None
    absent: bool | None = None
    count: int | None = None

    @model_validator(mode="before")
    @classmethod
    def _word(cls, value: Any) -> Any:
        if value in ("admitted", "absent"):
            return {value: {} if value == "admitted" else True}
        return value

    @model_validator(mode="after")
    def _one(self) -> Expect:
        given = [name for name in type(self).model_fields if getattr(self, name) is not None]
        if len(given) != 1:
            msg = f"needs exactly one of refused, admitted, absent, count; found {given}"
            raise ValueError(msg)
        return self


class Control(Frozen):
    """The request that must work; without it a refusal proves nothing.

    Attributes:
        request: None means the case's own request.
    """

    as_: Annotated[str, Field(alias="as")]
    request: Request | None = None
    expect: Expect = Expect(admitted=Admitted())

    @model_validator(mode="after")
    def _valid(self) -> Control:
        _known_role(self.as_)
        return self


class Case(Frozen):
    """One request as one identity, and what must come of it.

    Attributes:
        where: Whether it is probed in the canary, in an attempt's own namespace, or in both. The
            canary has no controller, so only there may a case be given a status; in an attempt's
            namespace a controller would take up what is made.
    """

    name: Text
    when: Annotated[tuple[When, ...], Field(min_length=1)]
    where: Annotated[tuple[Where, ...], Field(min_length=1)] = ("canary",)
    requires: tuple[Identifier, ...] = ()
    given: tuple[Given, ...] = ()
    as_: Annotated[str, Field(alias="as")]
    request: Request
    expect: Expect
    control: Control | None = None

    @model_validator(mode="after")
    def _valid(self) -> Case:
        _known_role(self.as_)
        if self.expect.refused and self.control is None:
            msg = "a case that expects a refusal needs a control that must work"
            raise ValueError(msg)
        if self.given and "attempt" in self.where:
            msg = "a case with given objects runs in the canary only"
            raise ValueError(msg)
        return self


class SpecBody(Frozen):
    """The body of a SafetySpec.

    Attributes:
        stack: Whose root variables its placeholders name.
        requires: Capabilities of the cluster without which no case can be judged.
    """

    stack: str = "platform"
    requires: tuple[Identifier, ...] = ()
    cases: Annotated[tuple[Case, ...], Field(min_length=1)]


class SpecMetadata(Frozen):
    """The spec's name: its folder's."""

    name: Identifier


class SafetySpec(Frozen):
    """spec.yaml."""

    api_version: Annotated[Literal["strandline.dev/v1"], Field(alias="apiVersion")]
    kind: Literal["SafetySpec"]
    metadata: SpecMetadata
    spec: SpecBody


class CaseResult(Frozen):
    """What one case showed, and why.

    Attributes:
        refuser: Who must refuse (`rbac`, `policy:NAME`); empty when the request must pass.
        cause: Why it did not hold; None when it held.
    """

    spec: str
    case: str
    when: When
    namespace: str
    verdict: Verdict
    detail: str
    refuser: str = ""
    cause: Cause | None = None

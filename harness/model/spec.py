"""A safety spec: requests as somebody, and what must come of them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from harness.model.expect import Admitted, Expect
from harness.model.frozen import Frozen, Identifier, Text

When = Literal["ready", "after", "swept"]
Verb = Literal["get", "list", "create", "update", "patch", "delete", "deletecollection"]
Where = Literal["canary", "attempt"]

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
    NOT_IMPERSONATED = "the harness may not act as somebody else"
    KIND_MISSING = "CRD missing"
    NO_ENDPOINTS = "no endpoints"
    NO_ROUTE = "no way to the webhook"
    CONNECTION_REFUSED = "connection refused"
    CONNECTION_CLOSED = "connection closed"
    TLS = "TLS/CA"
    TIMED_OUT = "time-out"
    WEBHOOK_FAILED = "webhook answered with an error"
    BAD_REVIEW = "webhook answered with no review of the request"
    WRONG_REFUSER = "wrong refuser answered"
    TARGET_MISSING = "target missing"
    GIVEN_FAILED = "given refused"
    CONTROL_REFUSED = "control refused"
    FLAPPING = "enforced at times only"
    NOT_EFFECTIVE = "registration not effective"
    NOT_ENFORCED = "not enforced"
    WRONGLY_REFUSED = "refused what must pass"
    OTHER_ANSWER = "another answer than expected"
    LEFT_BEHIND = "probe left behind"
    NOT_RUNNABLE = "not runnable on this cluster"


class Identity(Frozen):
    """Somebody as whom a request is made: a user with groups, or a ServiceAccount.

    Attributes:
        user: Name of the user.
        groups: The user's groups, beside `system:authenticated`, which everybody is in.
        service_account: Name of the ServiceAccount; its three groups are given with it.
        namespace: The ServiceAccount's; None means the one that the case is probed in.
    """

    user: Text | None = None
    groups: tuple[Text, ...] = ()
    service_account: Text | None = None
    namespace: Text | None = None

    @model_validator(mode="after")
    def _one(self) -> Identity:
        if (self.user is None) == (self.service_account is None):
            msg = "needs either user or service_account"
            raise ValueError(msg)
        if self.user is not None and self.namespace is not None:
            msg = "a user has no namespace"
            raise ValueError(msg)
        if self.service_account is not None and self.groups:
            msg = "a service_account has no groups but its own"
            raise ValueError(msg)
        return self


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
        if (self.create is None) == (self.request is None):
            msg = "needs either create or request"
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
    def _works(self) -> Control:
        if self.expect.admitted is None and not self.expect.count:
            msg = "a control expects what works: admitted, or a count above 0"
            raise ValueError(msg)
        return self


class Case(Frozen):
    """One request as one identity, and what must come of it.

    Attributes:
        when: At which times of a run it is due; all of them where none is named.
        where: Whether it is probed in the canary, in an attempt's own namespace, or in both. The
            canary has no controller, so only there may a case be given a status; in an attempt's
            namespace a controller would take up what is made.
    """

    name: Text
    when: Annotated[tuple[When, ...], Field(min_length=1)] = ("ready", "after", "swept")
    where: Annotated[tuple[Where, ...], Field(min_length=1)] = ("canary",)
    requires: tuple[Identifier, ...] = ()
    given: tuple[Given, ...] = ()
    as_: Annotated[str, Field(alias="as")]
    request: Request
    expect: Expect
    control: Control | None = None

    @model_validator(mode="after")
    def _valid(self) -> Case:
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
        stack: Whose root variables its placeholders name; None means those of the stack that
            stands on the cluster.
        namespace: Where its cases are probed unless a request says so; None leaves it to whoever
            runs them.
        identities: Names for `as`, beside the roles of the laboratory and the administrator.
        requires: Capabilities of the cluster without which no case can be judged.
    """

    stack: Text | None = None
    namespace: Text | None = None
    identities: dict[Identifier, Identity] = {}
    requires: tuple[Identifier, ...] = ()
    cases: Annotated[tuple[Case, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _valid(self) -> SpecBody:
        if ADMIN in self.identities:
            msg = f"{ADMIN!r} is the administrator, and nobody else"
            raise ValueError(msg)
        if self.namespace and any("attempt" in case.where for case in self.cases):
            msg = "a spec with a namespace has no case in an attempt's own"
            raise ValueError(msg)
        return self


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
        guard: Whom several probes tell of: a refuser that may come and go, or `spec:NAME` for what
            stamps or warns under no name; empty where one probe tells as much.
        cause: Why it did not hold; None when it held.
        probes: How often its request was made: when it held, held each time.
    """

    spec: str
    case: str
    when: When
    namespace: str
    verdict: Verdict
    detail: str
    refuser: str = ""
    guard: str = ""
    cause: Cause | None = None
    probes: int = 1

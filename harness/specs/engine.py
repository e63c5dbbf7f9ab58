"""One engine for safety specs: makes what a case is given, asks, judges, and undoes what it made.

It runs cases; it neither loads them nor decides which are due. Everything made is removed again
by the harness itself, whatever happened, within a bound.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from harness.errors import KubeError
from harness.kube.client import KubeClient
from harness.kube.resources import Resource, resource_of_kind
from harness.model.spec import (
    ADMIN,
    Admitted,
    Case,
    CaseResult,
    Cause,
    Expect,
    Given,
    Request,
    Verdict,
    When,
)
from harness.specs.kinds import Kinds, wire_of
from harness.specs.leftovers import Made, remove
from harness.specs.naming import name_of, with_marker
from harness.specs.verdicts import Judgement, judge_answer

#: Longest wait for one answer, in seconds: two webhooks at 3 s each, and a margin.
ASK_TIMEOUT_S = 10.0

_ADMITTED = Expect(admitted=Admitted())


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """Where a case is probed, and on whose behalf it is recorded.

    Attributes:
        client: The administrator's client; roles are impersonated through it.
        namespace: Where the roles are, and where what is asked for lives unless a case says so.
        capabilities: What the cluster can do.
        kinds: Finds resources.
    """

    client: KubeClient
    namespace: str
    capabilities: frozenset[str]
    kinds: Kinds

    @classmethod
    def of(cls, client: KubeClient, namespace: str, capabilities: Collection[str]) -> Probe:
        """Return a probe of a namespace."""
        return cls(
            client=client,
            namespace=namespace,
            capabilities=frozenset(capabilities),
            kinds=Kinds(client),
        )

    def client_as(self, identity: str) -> KubeClient:
        """Return the client of a role of the namespace, or the administrator's own."""
        if identity == ADMIN:
            return self.client
        return self.client.as_service_account(self.namespace, identity)


@dataclass(slots=True)
class _Session:
    """One run of one case: what it made so far."""

    probe: Probe
    marker: str
    made: list[Made] = field(default_factory=list)

    def ask(self, identity: str, request: Request, expect: Expect, *, dry_run: bool) -> Judgement:
        """Send one request as somebody and judge its answer; remember what it made."""
        resource = self.probe.kinds.named(request.resource)
        if resource is None:
            detail = f"the cluster has no {request.resource}"
            return Judgement(verdict=Verdict.UNKNOWN, detail=detail, cause=Cause.KIND_MISSING)
        request = self._with_version(request, resource)
        wire = wire_of(
            request,
            resource,
            namespace=self.probe.namespace,
            marker=self.marker,
            dry_run=dry_run,
        )
        stores = request.verb == "create" and not dry_run and not request.subresource
        name = name_of(request.body)
        if stores and name:
            where = (request.namespace or self.probe.namespace) if resource.namespaced else None
            # Noted before the send: an answer that never comes may still have been stored.
            self.made.append(Made(resource=resource, namespace=where, name=name, uid=""))
        answer = wire.send(self.probe.client_as(identity), timeout_s=ASK_TIMEOUT_S)
        if stores and name:
            noted = self.made.pop()
            if not answer.refused:
                uid = str(answer.body["metadata"]["uid"])
                self.made.append(
                    Made(resource=resource, namespace=noted.namespace, name=noted.name, uid=uid)
                )
        return judge_answer(expect, answer)

    def _with_version(self, request: Request, resource: Resource) -> Request:
        """Put the version that stands there into an update, as an editor would send it."""
        metadata = request.body.get("metadata", {}) if isinstance(request.body, dict) else {}
        if request.verb != "update" or "resourceVersion" in metadata:
            return request
        where = (request.namespace or self.probe.namespace) if resource.namespaced else None
        found = self.probe.client.find(resource, request.name, namespace=where)
        if found is None:
            return request
        version = found["metadata"]["resourceVersion"]
        named = {"name": request.name, **metadata, "resourceVersion": version}
        return request.model_copy(update={"body": {**request.body, "metadata": named}})

    def undo(self) -> str:
        """Remove everything made, last first; return what is still there, or an empty text."""
        problems = {
            made: remove(self.probe.client, made, timeout_s=ASK_TIMEOUT_S)
            for made in reversed(self.made)
        }
        return "; ".join(
            f"{made.resource.qualified} {made.name}: {problem}"
            for made, problem in problems.items()
            if problem
        )


def judge(spec: str, case: Case, probe: Probe, *, when: When, marker: str) -> CaseResult:
    """Run one case and return what it showed.

    Args:
        spec: Name of the spec, for the record.
        case: The case; what it `requires` includes what its spec does.
        probe: Where.
        when: At which of its times, for the record.
        marker: Appended to every name that the case makes; never used twice.
    """
    missing = sorted(set(case.requires) - probe.capabilities)
    if missing:
        judgement = Judgement(
            verdict=Verdict.UNKNOWN,
            detail=f"the cluster lacks {', '.join(missing)}",
            cause=Cause.NOT_RUNNABLE,
        )
    else:
        judgement = _run(with_marker(case, marker), _Session(probe=probe, marker=marker))
    return CaseResult(
        spec=spec,
        case=case.name,
        when=when,
        namespace=probe.namespace,
        verdict=judgement.verdict,
        detail=judgement.detail,
        refuser=case.expect.refused.refuser if case.expect.refused else "",
        cause=judgement.cause,
    )


def _run(case: Case, session: _Session) -> Judgement:
    try:
        judgement = _judge_steps(case, session)
    except KubeError as error:  # no answer, or none to discovery: nothing was decided
        judgement = Judgement(
            verdict=Verdict.UNKNOWN, detail=error.message, cause=Cause.API_UNREACHABLE
        )
    finally:
        left = session.undo()
    if left and judgement.held:
        detail = f"held, but left behind {left}"
        return Judgement(verdict=Verdict.UNKNOWN, detail=detail, cause=Cause.LEFT_BEHIND)
    return judgement


def _judge_steps(case: Case, session: _Session) -> Judgement:
    for number, given in enumerate(case.given, start=1):
        found = session.ask(given.as_, _request_of(given), _ADMITTED, dry_run=False)
        if not found.held:
            return _not_proved(found, Cause.GIVEN_FAILED, f"given {number} as {given.as_}")
    found = session.ask(case.as_, case.request, case.expect, dry_run=case.request.dry_run)
    if not found.held or case.control is None:
        return found
    request = case.control.request or case.request
    control = session.ask(case.control.as_, request, case.control.expect, dry_run=request.dry_run)
    if not control.held:
        return _not_proved(control, Cause.CONTROL_REFUSED, f"control as {case.control.as_}")
    return Judgement(verdict=Verdict.HELD, detail=f"{found.detail}; control {control.detail}")


def _not_proved(found: Judgement, cause: Cause, step: str) -> Judgement:
    """Return `unknown`: a step that must work did not. Nobody's answer keeps its own cause."""
    decided = found.verdict is Verdict.BROKEN or found.cause is Cause.OTHER_ANSWER
    return Judgement(
        verdict=Verdict.UNKNOWN,
        detail=f"{step}: {found.detail}",
        cause=cause if decided else found.cause,
    )


def _request_of(given: Given) -> Request:
    if given.request is not None:
        return given.request
    resource = resource_of_kind(str((given.create or {}).get("kind", "")))
    qualified = resource.qualified if resource else ""
    return Request(verb="create", resource=qualified, body=given.create, dry_run=False)

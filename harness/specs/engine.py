"""One engine for safety specs: makes what a case is given, asks, judges, and undoes what it made.

It runs cases; it neither loads them nor decides which are due. Everything made is removed again
by the harness itself, whatever happened, within a bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from harness.errors import KubeError
from harness.kube.resources import NAMESPACES, Resource, resource_of_kind
from harness.model.expect import Admitted, Expect
from harness.model.spec import Case, CaseResult, Cause, Given, Request, Verdict, When
from harness.specs.guards import guard_of, refuser_of
from harness.specs.kinds import wire_of
from harness.specs.leftovers import Made, remove
from harness.specs.naming import name_of, with_marker
from harness.specs.probe import Probe
from harness.specs.verdicts import Judgement, in_spite_of, judge_answer, value_at

#: Longest wait for one answer, in seconds: two webhooks at 3 s each, and a margin.
ASK_TIMEOUT_S = 10.0

#: What the API server passes on from elsewhere, which need be no object of Kubernetes.
_RELAYED = frozenset({"log", "proxy"})

_ADMITTED = Expect(admitted=Admitted())


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
        where = self._where(request, resource)
        if stores and name:
            # Noted before the send: an answer that never comes may still have been stored.
            self.made.append(Made(resource=resource, namespace=where, name=name, uid=""))
        answer = wire.send(self.probe.client_as(identity), timeout_s=ASK_TIMEOUT_S)
        if stores and name:
            noted = self.made.pop()
            if not answer.refused:
                uid = str(value_at(answer.body, "metadata.uid") or "")
                self.made.append(
                    Made(resource=resource, namespace=noted.namespace, name=noted.name, uid=uid)
                )
        found = judge_answer(expect, answer, relayed=request.subresource in _RELAYED)
        if found.held and expect.nothing and where and self._is_nowhere(where):
            detail = f"{found.detail}, but there is no namespace {where}"
            return Judgement(verdict=Verdict.UNKNOWN, detail=detail, cause=Cause.TARGET_MISSING)
        return found

    def _is_nowhere(self, namespace: str) -> bool:
        """Tell whether a namespace is not there; it is listed all the same, as an empty one."""
        path = NAMESPACES.path(name=namespace)
        return self.probe.client.ask("GET", path, timeout_s=ASK_TIMEOUT_S).status == 404

    def _where(self, request: Request, resource: Resource) -> str | None:
        return (request.namespace or self.probe.namespace) if resource.namespaced else None

    def _with_version(self, request: Request, resource: Resource) -> Request:
        """Put the version that stands there into an update, as an editor would send it."""
        metadata = request.body.get("metadata", {}) if isinstance(request.body, dict) else {}
        if request.verb != "update" or "resourceVersion" in metadata:
            return request
        where = self._where(request, resource)
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


def judge(
    spec: str, case: Case, probe: Probe, *, when: When, marker: str, probes: int = 1
) -> CaseResult:
    """Run one case and return what it showed.

    Args:
        spec: Name of the spec, for the record.
        case: The case; what it `requires` includes what its spec does.
        probe: Where.
        when: At which of its times, for the record.
        marker: Appended to every name that the case makes; never used twice.
        probes: How often its request is made, one after the other, until one does not hold.
    """
    missing = sorted(set(case.requires) - probe.capabilities)
    if missing:
        judgement = Judgement(
            verdict=Verdict.UNKNOWN,
            detail=f"the cluster lacks {', '.join(missing)}",
            cause=Cause.NOT_RUNNABLE,
        )
    else:
        judgement = _judge_often(case, probe, marker, probes=probes)
    return CaseResult(
        spec=spec,
        case=case.name,
        when=when,
        namespace=probe.namespace,
        verdict=judgement.verdict,
        detail=judgement.detail,
        refuser=refuser_of(case),
        guard=guard_of(spec, case),
        cause=judgement.cause,
        probes=judgement.probes,
    )


def _judge_often(case: Case, probe: Probe, marker: str, *, probes: int) -> Judgement:
    """Run the case once, and its request `probes` times or until one does not hold.

    What is stored is made and undone each time, by a run of its own; the control was seen in the
    first.
    """
    if _stores_nothing(case.request):
        return _run(case, _Session(probe=probe, marker=marker), probes=probes)
    alone = case.model_copy(update={"control": None})

    def run(number: int) -> Judgement:
        session = _Session(probe=probe, marker=marker if number == 1 else f"{marker}x{number}")
        return _run(case if number == 1 else alone, session, probes=1)

    return _until_lost(run, probes)


def _until_lost(ask: Callable[[int], Judgement], probes: int) -> Judgement:
    """Ask `probes` times, numbered from 1, or until an answer does not hold."""
    found, held = ask(1), 0
    while found.held:
        held += 1
        if held == probes:
            return replace(found, probes=probes)
        found = ask(held + 1)
    return in_spite_of(found, held=held)


def _run(case: Case, session: _Session, *, probes: int) -> Judgement:
    try:
        judgement = _judge_steps(case, session, probes=probes)
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


def _judge_steps(unmarked: Case, session: _Session, *, probes: int) -> Judgement:
    case = with_marker(unmarked, session.marker)
    for number, given in enumerate(case.given, start=1):
        found = session.ask(given.as_, _request_of(given), _ADMITTED, dry_run=False)
        if not found.held:
            return _not_proved(found, Cause.GIVEN_FAILED, f"given {number} as {given.as_}")
    found = _ask_often(unmarked, session, probes=probes)
    if not found.held or case.control is None:
        return found
    request = case.control.request or case.request
    control = session.ask(case.control.as_, request, case.control.expect, dry_run=request.dry_run)
    if not control.held:
        return _not_proved(control, Cause.CONTROL_REFUSED, f"control as {case.control.as_}")
    return replace(found, detail=f"{found.detail}; control {control.detail}")


def _ask_often(unmarked: Case, session: _Session, *, probes: int) -> Judgement:
    """Make the case's request `probes` times, or until an answer does not hold.

    Each has names of its own where the case makes nothing before it: no answer to an earlier one
    can stand for it. What is given is what it was given.
    """

    def ask(number: int) -> Judgement:
        fresh = "" if number == 1 or unmarked.given else f"x{number}"
        case = with_marker(unmarked, session.marker + fresh)
        return session.ask(case.as_, case.request, case.expect, dry_run=case.request.dry_run)

    return _until_lost(ask, probes)


def _stores_nothing(request: Request) -> bool:
    return request.dry_run or request.verb in ("get", "list")


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

"""The laboratory as a control meets it: the methods of the suite's `Lab`, on a virtual clock.

Each call takes as long as a start of kubectl does and leaves the same records behind.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, TypeVar

from harness.kube.answers import Answer
from tests.virtual.asking import Ask, account
from tests.virtual.laboratory import Laboratory

#: Seconds from the decision to ask until the API server has it: kubectl starts in that time.
REQUEST_S = 0.08

#: Raised for a refusal, made of message and HTTP status. It is the door's own class.
Refusal = type[Exception]

Object = dict[str, Any]
Objects = list[Object]
Texts = list[str]

_PLURALS = {
    "LabRun": "labruns",
    "Attestation": "attestations",
    "Note": "notes",
    "Approval": "approvals",
    "LabTask": "labtasks",
    "LabEvent": "labevents",
    "ConfigMap": "configmaps",
    "Instrument": "instruments",
    "Capability": "capabilities",
    "LabPolicy": "labpolicies",
    "SelfSubjectAccessReview": "selfsubjectaccessreviews",
}


T = TypeVar("T")


class OutOfTimeError(BaseException):
    """The agent's time is over; it cannot be caught by mistake, as a kill cannot."""


class VirtualLab:
    """What an agent can do, as the agent."""

    def __init__(self, laboratory: Laboratory, refusal: Refusal, *, act_seconds: float) -> None:
        self._lab, self._refusal = laboratory, refusal
        self._agent = account(laboratory.namespace, "agent")
        self._until = laboratory.clock.at + timedelta(seconds=act_seconds)

    def list(self, kind: str) -> Objects:
        """Return every object of a kind in the namespace."""
        answer = self._ask(Ask(verb="list", plural=kind))
        return _copied(answer.body["items"])

    def get(self, kind: str, name: str) -> Object | None:
        """Return an object; None when there is none of that name."""
        answer = self._send(Ask(verb="get", plural=kind, name=name))
        if answer.status == 404:
            return None
        return _copied(self._good(answer))

    def create(self, manifest: Object, dry_run: bool = False) -> Object:  # noqa: FBT001, FBT002
        """Create an object, or only ask whether it would be admitted; return what was made."""
        return _copied(self._create(manifest, dry_run=dry_run).body)

    def ask(self, manifest: Object) -> Texts:
        """Ask by a dry run and return the warnings that came with the answer."""
        return [*self._create(manifest, dry_run=True).warnings]

    def patch(self, kind: str, name: str, patch: Object) -> Object:
        """Change an object by a merge patch and return it."""
        # kubectl looks at what it patches.
        self._ask(Ask(verb="get", plural=kind, name=name))
        ask = Ask(verb="patch", plural=kind, name=name, body=copy.deepcopy(patch))
        return _copied(self._good(self._send(ask, took_s=0.0)))

    def write_status(self, kind: str, name: str, status: Object) -> Object:
        """Put an object back with another status and return it."""
        found = self._ask(Ask(verb="get", plural=kind, name=name)).body
        body = {**found, "status": {**found.get("status", {}), **copy.deepcopy(status)}}
        ask = Ask(verb="update", plural=kind, name=name, body=body, subresource="status")
        return _copied(self._good(self._send(ask)))

    def delete(self, kind: str, name: str) -> None:
        """Delete an object."""
        self._ask(Ask(verb="delete", plural=kind, name=name))

    def wait(
        self,
        kind: str,
        name: str,
        until: Callable[[Object], bool],
        timeout_s: float = 60.0,
    ) -> Object | None:
        """Watch an object until something holds; return what was seen last, None for nothing."""
        lab = self._lab
        one = {"fieldSelector": f"metadata.name={name}"}
        self._ask(Ask(verb="list", plural=kind, selectors=one))
        opened_at, end = lab.clock.at, lab.clock.at + timedelta(seconds=timeout_s)
        seen_version = ""
        while True:
            found = lab.store.find(kind, name)
            version = found["metadata"]["resourceVersion"] if found else ""
            ready = found is not None and version != seen_version and until(_copied(found))
            seen_version = version
            if ready or lab.clock.at >= end:
                break
            if lab.clock.at >= self._until:
                raise OutOfTimeError
            lab.step(min(end, self._until))
        lab.server.close_watch(
            self._agent, Ask(verb="watch", plural=kind, selectors=one), opened_at
        )
        return _copied(found)

    def _create(self, manifest: Mapping[str, Any], *, dry_run: bool) -> Answer:
        plural = _PLURALS[str(manifest["kind"])]
        body = copy.deepcopy(dict(manifest))
        return self._ask(Ask(verb="create", plural=plural, body=body, dry_run=dry_run))

    def _ask(self, ask: Ask) -> Answer:
        answer = self._send(ask)
        self._good(answer)
        return answer

    def _send(self, ask: Ask, *, took_s: float = REQUEST_S) -> Answer:
        self._lab.advance(took_s)
        if self._lab.clock.at >= self._until:
            raise OutOfTimeError
        answer = self._lab.server.ask(self._agent, ask)
        self._lab.settle()
        return answer

    def _good(self, answer: Answer) -> Object:
        if answer.refused:
            raise self._refusal(answer.message, answer.status)
        body: Object = answer.body
        return body


def _copied(value: T) -> T:
    """Return a copy: a caller may change what it has, and the server's is never changed."""
    return copy.deepcopy(value)

"""Requests to the server in memory as one identity: the methods of `KubeClient` that are used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.errors import NotFoundError
from harness.kube.answers import Answer, error_of
from harness.kube.resources import Resource
from tests.virtual.asking import Ask, Caller
from tests.virtual.server import Server


class VirtualClient:
    """Asks as one caller; refusals are the typed errors of the real client."""

    def __init__(self, server: Server, caller: Caller) -> None:
        self._server, self._caller = server, caller

    def get(self, resource: Resource, name: str, *, namespace: str | None = None) -> dict[str, Any]:
        """Return one object; NotFoundError when it is not there."""
        return self._call(Ask(verb="get", plural=resource.plural, name=name), namespace)

    def find(
        self, resource: Resource, name: str, *, namespace: str | None = None
    ) -> dict[str, Any] | None:
        """Return one object, or None when it is not there."""
        try:
            return self.get(resource, name, namespace=namespace)
        except NotFoundError:
            return None

    def list_objects(
        self, resource: Resource, *, namespace: str | None = None, selector: str | None = None
    ) -> list[dict[str, Any]]:
        """Return every object of a kind, sorted by name."""
        assert selector is None
        body = self._call(Ask(verb="list", plural=resource.plural), namespace)
        return list(body["items"])

    def create(
        self, resource: Resource, manifest: Mapping[str, Any], *, namespace: str | None = None
    ) -> dict[str, Any]:
        """Create one object and return it."""
        return self._call(Ask(verb="create", plural=resource.plural, body=manifest), namespace)

    def patch(
        self,
        resource: Resource,
        name: str,
        patch: Any,
        *,
        namespace: str | None = None,
        subresource: str | None = None,
    ) -> dict[str, Any]:
        """Merge a patch into one object, or its subresource, and return it."""
        ask = Ask(
            verb="patch",
            plural=resource.plural,
            name=name,
            body=patch,
            subresource=subresource or "",
        )
        return self._call(ask, namespace)

    def delete(
        self, resource: Resource, name: str, *, namespace: str | None = None, uid: str | None = None
    ) -> bool:
        """Delete one object; tell whether it was there."""
        assert uid is None
        try:
            self._call(Ask(verb="delete", plural=resource.plural, name=name), namespace)
        except NotFoundError:
            return False
        return True

    def ask(self, ask: Ask) -> Answer:
        """Send one request and return the answer, refused or not."""
        return self._server.ask(self._caller, ask)

    def _call(self, ask: Ask, namespace: str | None) -> dict[str, Any]:
        assert namespace == self._server.store.namespace, "everything is asked in one namespace"
        answer = self.ask(ask)
        if answer.refused:
            raise error_of(answer, f"{ask.verb} {ask.target} {ask.name}".rstrip())
        body: dict[str, Any] = answer.body
        return body

"""Strict stand-ins for one API server's wire: the SDK's pool, and an audit log written by hand."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from types import SimpleNamespace
from typing import Any, cast

import urllib3

from harness.errors import ConflictError, KubeError
from harness.kube.client import KubeClient
from harness.kube.identity_guard import ProvenClient
from harness.kube.resources import NAMESPACES, Resource
from harness.kube.tokens import TokenFile

#: Verbs of which the log has the beginning too.
WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})

AGENT = "system:serviceaccount:lab-1:agent"


class FakePool:
    """Gives scripted responses in order; one request more than there are fails the test."""

    def __init__(self, *script: urllib3.HTTPResponse | urllib3.exceptions.HTTPError) -> None:
        self._script = list(script)
        self.asked: list[tuple[str, str, Any, list[tuple[str, str]]]] = []

    def request(
        self,
        method: str,
        url: str,
        *,
        body: bytes | None,
        headers: urllib3.HTTPHeaderDict,
        timeout: urllib3.Timeout,
        retries: bool,
        preload_content: bool,
    ) -> urllib3.HTTPResponse:
        """Give the next response; everything must be bounded, and nothing retried or preloaded."""
        assert timeout.read_timeout
        assert not retries
        assert not preload_content
        self.asked.append((method, url, body and json.loads(body), list(headers.iteritems())))
        answer = self._script.pop(0)
        if isinstance(answer, urllib3.exceptions.HTTPError):
            raise answer
        return answer


def client_of(pool: FakePool, token_file: TokenFile | None = None) -> KubeClient:
    """Return a client whose requests go to the pool."""
    api = SimpleNamespace(
        configuration=SimpleNamespace(host="https://api.test/"),
        rest_client=SimpleNamespace(pool_manager=pool),
    )
    return KubeClient(api, headers={"Authorization": "Bearer t"}, token_file=token_file)


def response(status: int, body: Any, *, warnings: tuple[str, ...] = ()) -> urllib3.HTTPResponse:
    """Return a response: text and bytes as they are, anything else as JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = urllib3.HTTPHeaderDict()
    for warning in warnings:
        headers.add("Warning", warning)
    return urllib3.HTTPResponse(
        body=io.BytesIO(data), status=status, headers=headers, preload_content=False
    )


def stream(*events: dict[str, Any]) -> urllib3.HTTPResponse:
    """Return the response of a watch that gives these events and ends."""
    return response(200, b"".join(json.dumps(event).encode() + b"\n" for event in events))


class FakeApi:
    """Objects of one API server, found, listed and deleted by kind and name; nothing else works."""

    def __init__(self, kinds: Sequence[Resource] = ()) -> None:
        self._kinds = tuple(kinds)
        self.objects: dict[tuple[str, str, str], dict[str, Any]] = {}
        #: Kinds that cannot be listed.
        self.unlisted: set[Resource] = set()
        #: Called before and after the deletion of one object.
        self.before: Callable[[], None] = lambda: None
        self.after: Callable[[], None] = lambda: None

    def put(self, kind: Resource, name: str, uid: str, *, namespace: str = "") -> None:
        """Have an object, in the place of another one of its name."""
        metadata = {"name": name, "uid": uid} | ({"namespace": namespace} if namespace else {})
        item: dict[str, Any] = {"metadata": metadata}
        if kind == NAMESPACES:
            item["spec"] = {"finalizers": []}
        self.objects[kind.qualified, namespace, name] = item

    def uids(self) -> set[str]:
        """Return the UID of every object."""
        return {item["metadata"]["uid"] for item in self.objects.values()}

    def as_proven(self) -> ProvenClient:
        """Return it as what a sweep takes."""
        return cast("ProvenClient", self)

    def prove_again(self) -> None:
        """Be the same one."""

    def discover(self) -> tuple[Resource, ...]:
        """Return the kinds that it was given."""
        return self._kinds

    def find(
        self, kind: Resource, name: str, *, namespace: str | None = None
    ) -> dict[str, Any] | None:
        """Return an object, or None."""
        return deepcopy(self.objects.get((kind.qualified, namespace or "", name)))

    def list_objects(
        self, kind: Resource, *, namespace: str | None = None, selector: str | None = None
    ) -> list[dict[str, Any]]:
        """Return the objects of a kind, or fail; none carries any label."""
        if kind in self.unlisted:
            msg = f"{kind.plural}: too many"
            raise KubeError(msg, status=500)
        return [
            deepcopy(item)
            for (plural, where, _), item in self.objects.items()
            if plural == kind.qualified and not selector and namespace in (None, where)
        ]

    def delete(
        self, kind: Resource, name: str, *, namespace: str | None = None, uid: str | None = None
    ) -> bool:
        """Delete an object with this UID."""
        self.before()
        key = (kind.qualified, namespace or "", name)
        if uid and self.objects[key]["metadata"]["uid"] != uid:
            msg = "the UID in the precondition is another one"
            raise ConflictError(msg, status=409)
        del self.objects[key]
        self.after()
        return True

    def call(self, method: str, path: str, *, body: Any) -> None:
        """Delete all objects of a kind in a namespace."""
        assert (method, body) == ("DELETE", {"propagationPolicy": "Background"})
        for kind in self._kinds:
            for plural, where, name in tuple(self.objects):
                if plural == kind.qualified and path == kind.path(where):
                    del self.objects[plural, where, name]


class FakeLog:
    """An audit log of an agent's requests, a second apart, as an API server would write it."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def _stamp(self) -> str:
        return f"2026-01-01T00:00:{len(self.events):02}.000000Z"

    def mark(self, text: str, *, stage: str = "ResponseComplete") -> FakeLog:
        """Set a marker as the harness."""
        uri = f"/apis/lab.strandline.dev/v1alpha1/namespaces/lab-1/labruns?strandlineMark={text}"
        return self.add(stage=stage, verb="list", uri=uri, user="admin", code=200)

    def add(
        self,
        *,
        stage: str = "ResponseComplete",
        audit_id: str | None = None,
        verb: str = "create",
        uri: str = "/apis/lab.strandline.dev/v1alpha1/namespaces/lab-1/labruns",
        user: str = AGENT,
        code: int = 201,
        received_at: str | None = None,
        message: str = "",
        **more: Any,
    ) -> FakeLog:
        """Write one stage of one request; of a write that ends, both, unless its time is given."""
        if stage == "ResponseComplete" and verb in WRITES and received_at is None:
            audit_id, received_at = audit_id or f"id-{len(self.events)}", self._stamp()
            self.add(
                stage="RequestReceived",
                audit_id=audit_id,
                verb=verb,
                uri=uri,
                user=user,
                received_at=received_at,
                **more,
            )
        event = {
            "auditID": audit_id or f"id-{len(self.events)}",
            "stage": stage,
            "verb": verb,
            "requestURI": uri,
            "user": {"username": user},
            "requestReceivedTimestamp": received_at or self._stamp(),
            "stageTimestamp": self._stamp(),
            **more,
        }
        if stage != "RequestReceived":
            event["responseStatus"] = {"code": code, "message": message}
        self.events.append(event)
        return self

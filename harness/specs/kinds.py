"""Which resource a spec means, and the HTTP request that a spec's request is."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from harness.errors import NotFoundError
from harness.kube.answers import Answer
from harness.kube.client import JSON_PATCH, JSON_TYPE, MERGE_PATCH, KubeClient
from harness.kube.resources import KNOWN, Resource, resources_of_discovery
from harness.kube.snapshot import PROBE_MANAGER
from harness.model.frozen import Json
from harness.model.spec import Request

_METHODS = {
    "get": "GET",
    "list": "GET",
    "create": "POST",
    "update": "PUT",
    "patch": "PATCH",
    "delete": "DELETE",
    "deletecollection": "DELETE",
}


class Kinds:
    """Finds resources by `plural.group`: known ones at once, others by discovery of their group.

    What is there is asked for once; what is missing each time, since a gate waits for it.
    """

    def __init__(self, client: KubeClient) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._discovered: dict[str, Resource] = {}

    def named(self, qualified: str) -> Resource | None:
        """Return the resource, or None when the cluster has none of that name.

        Raises:
            KubeError: The cluster did not say.
        """
        if qualified in KNOWN:
            return KNOWN[qualified]
        with self._lock:
            if qualified not in self._discovered:
                found = self._of_group(qualified.partition(".")[2])
                self._discovered.update({resource.qualified: resource for resource in found})
            return self._discovered.get(qualified)

    def _of_group(self, group: str) -> tuple[Resource, ...]:
        """Return the kinds of one group in its preferred version; of a missing group, none."""
        version, root = "v1", "/api"
        try:
            if group:
                root = "/apis"
                preferred = self._client.call("GET", f"/apis/{group}")["preferredVersion"]
                version = preferred["groupVersion"]
            return resources_of_discovery({version: self._client.call("GET", f"{root}/{version}")})
        except NotFoundError:
            return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """A request as it goes out.

    Attributes:
        query: Query parameters, with the dry run and the probe's marker.
    """

    method: str
    path: str
    query: dict[str, str]
    body: Json
    content_type: str

    def send(self, client: KubeClient, *, timeout_s: float) -> Answer:
        """Send it as the identity of `client`, and return the answer, refused or not."""
        return client.ask(
            self.method,
            self.path,
            query=self.query,
            body=self.body,
            content_type=self.content_type,
            timeout_s=timeout_s,
        )


def wire_of(
    request: Request, resource: Resource, *, namespace: str, marker: str, dry_run: bool
) -> Wire:
    """Return what goes over the wire for a request of a spec. Pure."""
    where = (request.namespace or namespace) if resource.namespaced else None
    collection = request.verb in ("list", "deletecollection") or (
        request.verb == "create" and not request.subresource
    )
    query = {} if request.verb in ("get", "list") else {"fieldManager": PROBE_MANAGER + marker}
    if dry_run and query:
        query["dryRun"] = "All"
    body = request.body
    if request.verb in ("create", "update") and isinstance(body, dict) and not request.subresource:
        body = {"apiVersion": resource.api_version, "kind": resource.kind, **body}
    content_type = JSON_TYPE
    if request.verb == "patch":
        content_type = JSON_PATCH if isinstance(body, list) else MERGE_PATCH
    return Wire(
        method=_METHODS[request.verb],
        path=resource.path(where, None if collection else request.name, request.subresource),
        query=query,
        body=body,
        content_type=content_type,
    )

"""The door to the Kubernetes SDK: JSON objects in and out, errors typed, every call bounded.

The SDK gives configuration, TLS and connection pooling. Its typed models are not used: what
evidence keeps is what the API server said, to the letter.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlencode

import urllib3
from kubernetes import client as sdk
from kubernetes import config as sdk_config

from harness.errors import KubeError, NotFoundError, UnreachableError
from harness.kube.answers import Answer, decode, error_of, warnings_of
from harness.kube.resources import API_SERVICES, NAMESPACES, Resource, resources_of_discovery
from harness.kube.tokens import TokenFile, token_file_of

#: Seconds for one call. The API server ends a request after 60 s itself; a webhook that hangs is
#: answered for after 3 s; beyond 20 s on loopback something is stuck.
CALL_TIMEOUT_S = 20.0

#: Seconds for the kinds of one group; the API server's own are answered in 5 ms, and only an
#: aggregated API can hang.
_DISCOVERY_TIMEOUT_S = 5.0

#: Threads of one client that may hold a connection at once: six watches and the sweep's eight.
_POOL_SIZE = 32


JSON_TYPE = "application/json"
MERGE_PATCH = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


class KubeClient:
    """Calls one API server as one identity. Threads may share it."""

    def __init__(
        self,
        api: Any,
        *,
        headers: Mapping[str, str] | urllib3.HTTPHeaderDict,
        token_file: TokenFile | None = None,
    ) -> None:
        self._api = api
        self._token_file = token_file
        self._headers = urllib3.HTTPHeaderDict(headers)
        self._host = api.configuration.host.rstrip("/")

    @classmethod
    def from_kubeconfig(cls, path: Path) -> Self:
        """Connect with a kubeconfig file and its current context, and nothing ambient.

        A token that the kubeconfig names by its file may be renewed there: it is read again.
        """
        configuration = sdk.Configuration()
        sdk_config.load_kube_config(config_file=str(path), client_configuration=configuration)
        token = configuration.api_key.get("authorization")
        configuration.connection_pool_maxsize = _POOL_SIZE
        headers = {"Authorization": token} if token else {}
        return cls(sdk.ApiClient(configuration), headers=headers, token_file=token_file_of(path))

    @classmethod
    def from_token(cls, *, server: str, ca_pem: bytes, token: str) -> Self:
        """Connect with a bearer token."""
        configuration = sdk.Configuration(host=server, ca_cert_data=ca_pem.decode())
        configuration.connection_pool_maxsize = _POOL_SIZE
        return cls(sdk.ApiClient(configuration), headers={"Authorization": f"Bearer {token}"})

    def as_service_account(self, namespace: str, name: str) -> KubeClient:
        """Return a client that impersonates a ServiceAccount, with all three of its groups."""
        groups = (
            "system:serviceaccounts",
            f"system:serviceaccounts:{namespace}",
            "system:authenticated",
        )
        return self.as_user(f"system:serviceaccount:{namespace}:{name}", groups=groups)

    def as_user(self, user: str, *, groups: Sequence[str]) -> KubeClient:
        """Return a client that impersonates a user with exactly these groups."""
        # urllib3 sends a header once a key, so repeated groups need its own dictionary.
        headers = urllib3.HTTPHeaderDict({**self._headers, "Impersonate-User": user})
        for group in groups:
            headers.add("Impersonate-Group", group)
        return KubeClient(self._api, headers=headers, token_file=self._token_file)

    def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = JSON_TYPE,
        timeout_s: float = CALL_TIMEOUT_S,
    ) -> Answer:
        """Send one request and return the answer, refused or not.

        Raises:
            UnreachableError: There was no answer within `timeout_s` seconds.
        """
        response = self._send(
            method, path, query=query, body=body, content_type=content_type, timeout_s=timeout_s
        )
        try:
            data = response.read(decode_content=True)
        except urllib3.exceptions.HTTPError as error:
            msg = f"{method} {path}: the answer broke off: {error}"
            raise UnreachableError(msg) from error
        finally:
            response.release_conn()
        warnings = warnings_of(response.headers.getlist("Warning"))
        return Answer(status=response.status, body=decode(data), warnings=warnings)

    def call(self, method: str, path: str, **kwargs: Any) -> Any:
        """Send one request and return its body.

        Raises:
            KubeError: The answer was an error; of the class for its status.
        """
        answer = self.ask(method, path, **kwargs)
        if answer.refused:
            raise error_of(answer, f"{method} {path}")
        return answer.body

    def get(self, resource: Resource, name: str, *, namespace: str | None = None) -> dict[str, Any]:
        """Return one object; NotFoundError when it is not there."""
        found: dict[str, Any] = self.call("GET", resource.path(namespace, name))
        return found

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
        """Return every object of a kind, with kind and apiVersion put back, sorted by key."""
        items, _ = self.list_at(resource, namespace=namespace, selector=selector)
        return items

    def list_at(
        self, resource: Resource, *, namespace: str | None = None, selector: str | None = None
    ) -> tuple[list[dict[str, Any]], str]:
        """Return the same, and the resourceVersion from which a watch goes on."""
        query = {"labelSelector": selector} if selector else None
        body = self.call("GET", resource.path(namespace), query=query)
        items = [
            {"apiVersion": resource.api_version, "kind": resource.kind, **item}
            for item in body.get("items") or ()
        ]
        items.sort(
            key=lambda item: (item["metadata"].get("namespace", ""), item["metadata"]["name"])
        )
        return items, body["metadata"]["resourceVersion"]

    def create(
        self, resource: Resource, manifest: Mapping[str, Any], *, namespace: str | None = None
    ) -> dict[str, Any]:
        """Create one object and return it."""
        created: dict[str, Any] = self.call("POST", resource.path(namespace), body=manifest)
        return created

    def patch(
        self,
        resource: Resource,
        name: str,
        patch: Any,
        *,
        namespace: str | None = None,
        subresource: str | None = None,
        content_type: str = MERGE_PATCH,
    ) -> dict[str, Any]:
        """Patch one object, or its subresource, and return it."""
        path = resource.path(namespace, name, subresource)
        patched: dict[str, Any] = self.call("PATCH", path, body=patch, content_type=content_type)
        return patched

    def delete(
        self, resource: Resource, name: str, *, namespace: str | None = None, uid: str | None = None
    ) -> bool:
        """Delete one object; tell whether it was there. With `uid`, only that very object."""
        body: dict[str, Any] = {"propagationPolicy": "Background"}
        if uid:
            body["preconditions"] = {"uid": uid}
        try:
            self.call("DELETE", resource.path(namespace, name), body=body)
        except NotFoundError:
            return False
        return True

    def watch(
        self,
        resource: Resource,
        *,
        namespace: str | None,
        resource_version: str,
        timeout_s: int = 300,
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield (type, object) from a version on, until the server ends the watch.

        Raises:
            KubeError: The watch was refused, or expired (410): list again.
        """
        query = {
            "watch": "true",
            "resourceVersion": resource_version,
            "timeoutSeconds": str(timeout_s),
            "allowWatchBookmarks": "true",
        }
        response = self._send(
            "GET", resource.path(namespace), query=query, timeout_s=timeout_s + CALL_TIMEOUT_S
        )
        try:
            if response.status >= 400:
                answer = Answer(status=response.status, body=decode(response.read()))
                raise error_of(answer, f"watch {resource.qualified}")
            for event in _events(response):
                if event["type"] == "ERROR":
                    status = int(event["object"].get("code", 500))
                    answer = Answer(status=status, body=event["object"])
                    raise error_of(answer, f"watch {resource.qualified}")
                yield event["type"], event["object"]
        except urllib3.exceptions.HTTPError as error:
            msg = f"watch {resource.qualified}: the stream broke off: {error}"
            raise UnreachableError(msg) from error
        finally:
            response.close()

    def request_token(self, namespace: str, name: str, *, lifetime_s: int) -> str:
        """Return a token of a ServiceAccount. The API server grants at least 600 s."""
        body = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": max(600, lifetime_s)},
        }
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
        return str(self.call("POST", path, body=body)["status"]["token"])

    def version(self) -> str:
        """Return the API server's own version, for example `v1.37.2`."""
        return str(self.call("GET", "/version")["gitVersion"])

    def user(self) -> str:
        """Return the user name that the API server knows this client by."""
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
        return str(self.call("POST", path, body=body)["status"]["userInfo"]["username"])

    def identity(self) -> str:
        """Return what no two clusters share: the UID of the namespace kube-system."""
        return str(self.get(NAMESPACES, "kube-system")["metadata"]["uid"])

    def discover(self) -> tuple[Resource, ...]:
        """Return every kind that can be listed and deleted, in its preferred version.

        A kind that its group's preferred version does not have is given in another one. An
        aggregated API that is down, or that hangs, has none, and stops nobody.

        Raises:
            KubeError: What the API server itself serves could not be asked: a sweep that does not
                know of a kind would leave its objects behind.
        """
        versions = ["v1"]
        for group in self.call("GET", "/apis")["groups"]:
            served = [group["preferredVersion"], *group.get("versions", ())]
            versions += dict.fromkeys(version["groupVersion"] for version in served)
        documents, unasked = {}, {}
        for version in versions:
            path = f"/apis/{version}" if "/" in version else f"/api/{version}"
            try:
                documents[version] = self.call("GET", path, timeout_s=_DISCOVERY_TIMEOUT_S)
            except NotFoundError:
                continue  # it went away in between
            except KubeError as refused:
                unasked[version] = refused
        aggregated = self._aggregated() if unasked else frozenset()
        for version, error in unasked.items():
            if version not in aggregated:
                raise error
        return resources_of_discovery(documents)

    def _aggregated(self) -> frozenset[str]:
        """Return `group/version` of what another server than the API server answers for."""
        specs = [service["spec"] for service in self.list_objects(API_SERVICES)]
        return frozenset(f"{one['group']}/{one['version']}" for one in specs if one.get("service"))

    def close(self) -> None:
        """Close every connection."""
        self._api.rest_client.pool_manager.clear()

    def _send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None,
        timeout_s: float,
        body: Any = None,
        content_type: str = JSON_TYPE,
    ) -> urllib3.BaseHTTPResponse:
        headers = urllib3.HTTPHeaderDict(self._headers)
        headers["Accept"] = JSON_TYPE
        if self._token_file:
            headers["Authorization"] = f"Bearer {self._token_file.token()}"
        data = None
        if body is not None:
            headers["Content-Type"] = content_type
            data = json.dumps(body).encode()
        url = f"{self._host}{path}" + (f"?{urlencode(query)}" if query else "")
        try:
            response: urllib3.BaseHTTPResponse = self._api.rest_client.pool_manager.request(
                method,
                url,
                body=data,
                headers=headers,
                timeout=urllib3.Timeout(connect=5.0, read=timeout_s),
                retries=False,
                preload_content=False,
            )
        except urllib3.exceptions.HTTPError as error:
            msg = f"{method} {path}: no answer from {self._host}: {error}"
            raise UnreachableError(msg, hint="check that the cluster is running") from error
        return response


def _events(response: urllib3.BaseHTTPResponse) -> Iterator[dict[str, Any]]:
    pending = b""
    # read1 gives what has arrived; `stream` would wait for a full block of a quiet watch.
    while chunk := response.read1(65536):
        *lines, pending = (pending + chunk).split(b"\n")
        for line in lines:
            if line.strip():
                yield json.loads(line)

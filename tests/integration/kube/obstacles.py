"""What keeps objects from going, made for real: dead webhooks, dead APIs, dead conversions.

Each is a manifest that one object of the API server's takes; the test decides whose it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from harness.core.waiting import SYSTEM_CLOCK, wait_until
from harness.errors import KubeError
from harness.kube.client import KubeClient
from harness.kube.resources import (
    API_SERVICES,
    CUSTOM_RESOURCE_DEFINITIONS,
    VALIDATING_WEBHOOKS,
    Resource,
)

#: A URL that nobody serves: port 1 of this machine.
DEAD_URL = "https://127.0.0.1:1/never"


class HurriedClock:
    """Time that passes ten times as fast, so that a bound of 15 s comes after 1.5."""

    def now(self) -> datetime:
        """Return the wall-clock time."""
        return SYSTEM_CLOCK.now()

    def monotonic_s(self) -> float:
        """Return ten times the seconds that passed."""
        return SYSTEM_CLOCK.monotonic_s() * 10

    def sleep(self, seconds: float) -> None:
        """Pause for a tenth."""
        SYSTEM_CLOCK.sleep(seconds / 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Strangers:
    """Objects that are somebody else's: made, compared by UID, removed after the test."""

    client: KubeClient
    made: list[tuple[Resource, str, str | None, str]] = field(default_factory=list)

    def make(
        self, kind: Resource, manifest: dict[str, Any], *, namespace: str | None = None
    ) -> dict[str, Any]:
        """Make one."""
        made = self.client.create(kind, manifest, namespace=namespace)
        metadata = made["metadata"]
        self.made.append((kind, metadata["name"], namespace, metadata["uid"]))
        return made

    def touched(self) -> list[str]:
        """Return those that are gone, were made again, or are being deleted."""
        return [
            f"{kind.qualified} {name}"
            for kind, name, namespace, uid in self.made
            if not self._stands(kind, name, namespace, uid)
        ]

    def remove(self, name: str) -> None:
        """Remove one, as its owner would."""
        (found,) = (one for one in self.made if one[1] == name)
        self.made.remove(found)
        self.client.delete(found[0], name, namespace=found[2])

    def _stands(self, kind: Resource, name: str, namespace: str | None, uid: str) -> bool:
        found = self.client.find(kind, name, namespace=namespace)
        metadata = (found or {}).get("metadata", {})
        return bool(metadata.get("uid") == uid and "deletionTimestamp" not in metadata)


def dead_webhook(
    name: str, *, namespace: str, operations: Sequence[str], labels: dict[str, str] | None = None
) -> dict[str, Any]:
    """Return a Fail webhook on ConfigMaps of one namespace, whose server is gone."""
    return {
        "metadata": {"name": name, "labels": labels or {}},
        "webhooks": [
            {
                "name": f"{name}.example.com",
                "clientConfig": {"url": DEAD_URL},
                "rules": [
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "resources": ["configmaps"],
                        "operations": list(operations),
                    }
                ],
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                "failurePolicy": "Fail",
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
            }
        ],
    }


def await_webhook(client: KubeClient, path: str, *, method: str, body: Any = None) -> None:
    """Wait until a dead webhook refuses a dry run."""
    wait_until(
        lambda: client.ask(method, path, body=body, query={"dryRun": "All"}).message,
        lambda said: "failed calling webhook" in said,
        what="dead webhook",
        timeout_s=10,
    )


def dead_api(group: str, labels: dict[str, str] | None = None) -> dict[str, Any]:
    """Return an aggregated API whose server does not exist."""
    return {
        "metadata": {"name": f"v1.{group}", "labels": labels or {}},
        "spec": {
            "group": group,
            "version": "v1",
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
            "service": {"name": "nobody", "namespace": "default"},
            "insecureSkipTLSVerify": True,
        },
    }


def await_dead_api(client: KubeClient, group: str) -> None:
    """Wait until the API server has noticed."""

    def condition() -> str:
        found = client.get(API_SERVICES, f"v1.{group}")
        (only,) = (found.get("status") or {}).get("conditions") or ({"status": "None"},)
        return str(only["status"])

    wait_until(condition, lambda seen: seen == "False", what="dead API", timeout_s=10)


def converted(
    group: str, *, plural: str = "things", labels: dict[str, str] | None = None
) -> dict[str, Any]:
    """Return a definition in two versions; objects of v1 cannot be read as the preferred v2."""

    def version(name: str) -> dict[str, Any]:
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        return {
            "name": name,
            "served": True,
            "storage": name == "v1",
            "schema": {"openAPIV3Schema": schema},
        }

    return {
        "metadata": {"name": f"{plural}.{group}", "labels": labels or {}},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": plural[:-1], "kind": plural[:-1].title()},
            "versions": [version("v1"), version("v2")],
            "conversion": {
                "strategy": "Webhook",
                "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"url": DEAD_URL}},
            },
        },
    }


def thing_of(group: str, *, plural: str = "things") -> Resource:
    """Return the kind of `converted`, in the version of its storage."""
    return Resource(group=group, version="v1", plural=plural, kind=plural[:-1].title())


def await_kind(client: KubeClient, kind: Resource) -> None:
    """Wait until objects of a new kind can be listed and made."""
    body = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "probe"}}
    wait_until(
        lambda: client.call("POST", kind.path("default"), body=body, query={"dryRun": "All"}),
        bool,
        what=f"kind {kind.kind}",
        timeout_s=20,
        tolerate=(KubeError,),
    )


def hide_objects(client: KubeClient, name: str) -> None:
    """Make the objects of `converted` unreadable in every version that is served."""
    versions = client.get(CUSTOM_RESOURCE_DEFINITIONS, name)["spec"]["versions"]
    for version in versions:
        version["served"] = version["storage"] = version["name"] == "v2"
    client.patch(CUSTOM_RESOURCE_DEFINITIONS, name, {"spec": {"versions": versions}})


def webhooks_of(client: KubeClient) -> list[str]:
    """Return the names of the validating configurations."""
    return [item["metadata"]["name"] for item in client.list_objects(VALIDATING_WEBHOOKS)]

"""A small world that a record names, among strangers: made by the API, swept by its UIDs.

Everything that can keep something else is in it: a Fail webhook to a dead port, a dead aggregated
API, a definition with a dead conversion, finalizers of ours.
"""

from __future__ import annotations

import secrets
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from harness.bench.inventory import Inventory
from harness.bench.platform_sweep import PlatformSwept, sweep_platform
from harness.cluster.existing.provider import INVENTORY_FILE
from harness.core.files import write_json
from harness.core.naming import PLATFORM_LABEL
from harness.kube.identity_guard import ProvenClient
from harness.kube.resources import (
    API_SERVICES,
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    CONFIG_MAPS,
    CUSTOM_RESOURCE_DEFINITIONS,
    NAMESPACES,
    VALIDATING_WEBHOOKS,
    Resource,
)
from harness.kube.sweep import OnStep
from harness.terraform.manifests import AppliedManifest
from tests.integration.kube.obstacles import (
    HurriedClock,
    await_dead_api,
    await_kind,
    await_webhook,
    converted,
    dead_api,
    dead_webhook,
    thing_of,
)

OURS = "strandline.dev/held"


@dataclass(slots=True, kw_only=True)
class World:
    """Objects of ours with one random word in each name.

    Attributes:
        client: Proved.
        state_dir: Where the record is.
        label: What each object carries; None for a stack of somebody's own.
        word: In every name.
        made: Every object, in the order in which they were made.
    """

    client: ProvenClient
    state_dir: Path
    label: str | None = PLATFORM_LABEL
    word: str = field(default_factory=lambda: secrets.token_hex(3))
    made: list[tuple[Resource, dict[str, Any]]] = field(default_factory=list)

    @property
    def namespace(self) -> str:
        """The namespace of the world."""
        return f"ours-{self.word}"

    @property
    def group(self) -> str:
        """The API group of its kind."""
        return f"g{self.word}.example.com"

    @property
    def thing(self) -> Resource:
        """Its own kind, in the version in which objects are written."""
        return thing_of(self.group)

    @property
    def labels(self) -> dict[str, str]:
        """What each object carries."""
        return {self.label: "true"} if self.label else {}

    def make(self, kind: Resource, name: str = "", **more: Any) -> dict[str, Any]:
        """Make one object of the world."""
        place = more.pop("namespace", None)
        metadata = {"name": name or f"ours-{self.word}", "labels": self.labels}
        manifest = {"apiVersion": kind.api_version, "kind": kind.kind, **more}
        manifest["metadata"] = {**metadata, **more.get("metadata", {}), **metadata}
        made = self.client.create(kind, manifest, namespace=place)
        self.made.append((kind, made))
        return made

    def build(self, *, obstacles: bool = True) -> None:
        """Make all of it, and write the record."""
        self.make(NAMESPACES)
        held = {"finalizers": [OURS]}
        self.make(CONFIG_MAPS, "guarded", namespace=self.namespace)
        self.make(CONFIG_MAPS, f"ours-{self.word}", namespace="default", metadata=held)
        self.make(CLUSTER_ROLES, rules=[])
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole"}
        self.make(CLUSTER_ROLE_BINDINGS, roleRef={**role, "name": f"ours-{self.word}"})
        definition = converted(self.group)
        if not obstacles:
            definition["spec"].pop("conversion")
        self.make(
            CUSTOM_RESOURCE_DEFINITIONS, definition["metadata"]["name"], spec=definition["spec"]
        )
        await_kind(self.client, self.thing)
        self.make(self.thing, "mine", namespace=self.namespace, metadata=held)
        self.make(self.thing, "outside", namespace="default", metadata=held)
        if obstacles:
            api = dead_api(self.group.replace("g", "dead", 1))
            self.make(API_SERVICES, api["metadata"]["name"], spec=api["spec"])
            await_dead_api(self.client, api["spec"]["group"])
            webhook = dead_webhook(
                f"ours-{self.word}", namespace=self.namespace, operations=["DELETE", "UPDATE"]
            )
            self.make(VALIDATING_WEBHOOKS, webhooks=webhook["webhooks"])
            path = CONFIG_MAPS.path(self.namespace, "guarded")
            await_webhook(self.client, path, method="DELETE")
        self.record()

    def record(self, *, adopted: tuple[AppliedManifest, ...] = ()) -> None:
        """Write what was made, as an apply would."""
        inventory = Inventory(
            label=self.label,
            objects=tuple(manifest_of(kind, made) for kind, made in self.made),
            adopted=adopted,
        )
        self.state_dir.mkdir(parents=True, exist_ok=True)
        write_json(self.state_dir / INVENTORY_FILE, asdict(inventory))

    def sweep(self, *, on_step: OnStep = lambda _: None, hurried: bool = False) -> PlatformSwept:
        """Sweep it by its record, without any Terraform."""
        more: dict[str, Any] = {"clock": HurriedClock()} if hurried else {}
        return sweep_platform(
            self.client, state_dir=self.state_dir, stack=None, on_step=on_step, **more
        )

    def standing(self) -> list[str]:
        """Return what of it is there with its own UID."""
        found = []
        for kind, made in self.made:
            metadata = made["metadata"]
            answer = self.client.ask("GET", kind.path(metadata.get("namespace"), metadata["name"]))
            if answer.status == 200 and answer.body["metadata"]["uid"] == metadata["uid"]:
                found.append(f"{kind.qualified} {metadata['name']}")
        return found


def manifest_of(kind: Resource, made: dict[str, Any]) -> AppliedManifest:
    """Return what a state would say of an object."""
    metadata = made["metadata"]
    return AppliedManifest(
        api_version=kind.api_version,
        kind=kind.kind,
        namespace=metadata.get("namespace", ""),
        name=metadata["name"],
        uid=metadata["uid"],
    )

"""One laboratory of a test: its namespace, its processes, and hands for each role."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx

from harness.cluster.kubeconfig import write_kubeconfig
from harness.cluster.provider import Cluster
from harness.cluster.services.processes import LabProcess, start_controller, start_instruments
from harness.core.files import PRIVATE_MODE, write_atomic
from harness.core.naming import ROLES, service_account_user
from harness.core.waiting import wait_until
from harness.kube.answers import Answer
from harness.kube.client import KubeClient
from harness.kube.resources import (
    ATTESTATIONS,
    CAPABILITIES,
    INSTRUMENTS,
    LAB_EVENTS,
    LAB_POLICIES,
    LAB_RUNS,
    LAB_TASKS,
    NAMESPACES,
    ROLE_BINDINGS,
    SERVICE_ACCOUNTS,
    Resource,
)
from tests.integration.lab.bench import CATALOGUE

_RBAC = "rbac.authorization.k8s.io"


class Lab:
    """One namespace with everything in it, and hands for each role."""

    def __init__(self, cluster: Cluster, admin: KubeClient, folder: Path) -> None:
        self.cluster = cluster
        self.admin = admin
        self.folder = folder
        self.namespace = f"lab-{secrets.token_hex(4)}"
        self.agent = self.role("agent")
        self.previous = self.role("previous-operator")
        self.controller: LabProcess | None = None
        self.instruments: LabProcess | None = None
        self._controllers = 0
        self._url = ""
        self._setups: list[dict[str, Any]] = []

    def role(self, name: str) -> KubeClient:
        """Act as a role of the namespace."""
        return self.admin.as_service_account(self.namespace, name)

    def user(self, name: str) -> str:
        """Name the user of a role."""
        return service_account_user(self.namespace, name)

    def furnish(
        self, setups: Sequence[Mapping[str, Any]], rules: Sequence[Mapping[str, Any]]
    ) -> None:
        """Make the namespace and all that stands in it."""
        namespace = {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": self.namespace},
        }
        self.admin.create(NAMESPACES, namespace)
        for role in ROLES:
            self._make(SERVICE_ACCOUNTS, role)
            binding = {
                "roleRef": {
                    "apiGroup": _RBAC,
                    "kind": "ClusterRole",
                    "name": f"strandline:{role}",
                },
                "subjects": [{"kind": "ServiceAccount", "name": role, "namespace": self.namespace}],
            }
            self._make(ROLE_BINDINGS, role, **binding)
        self._setups = [dict(setup) for setup in setups]
        for setup in setups:
            simulation = {key: value for key, value in setup.items() if key not in {"name", "type"}}
            spec = {"type": setup["type"], "simulation": simulation}
            self._make(INSTRUMENTS, str(setup["name"]), spec=spec)
        for capability_id, (acts, instrument_type, inputs) in CATALOGUE.items():
            spec = {
                "id": capability_id,
                "inputs": inputs,
                "riskClass": "R1" if acts else "R0",
                "acts": acts,
                "retrySafety": "not_repeatable" if acts else "repeatable",
                "timeoutSeconds": 20,
                "instrumentType": instrument_type,
            }
            self._make(CAPABILITIES, capability_id.replace("_", "-"), spec=spec)
        self._make(LAB_POLICIES, "lab", spec={"rules": list(rules)})

    def _make(self, resource: Resource, name: str, **more: Any) -> None:
        manifest = {
            "apiVersion": resource.api_version,
            "kind": resource.kind,
            "metadata": {"name": name, "namespace": self.namespace},
            **more,
        }
        self.admin.create(resource, manifest, namespace=self.namespace)

    def start_instruments(self) -> None:
        """Turn the instruments on."""
        self.instruments = start_instruments(log_path=self.folder / "instruments.log")
        self.instruments.configure(
            {
                "host": "127.0.0.1",
                "port": 0,
                "journal_path": str(self.folder / "journal.jsonl"),
                "controller_token": "c-token",
                "harness_token": "h-token",
                "instruments": self._setups,
            }
        )

    def start_controller(self, pause_at: str | None = None) -> None:
        """Start a controller; the one before must have ended."""
        self._controllers += 1
        log_path = self.folder / f"controller-{self._controllers}.log"
        self.controller = start_controller(log_path=log_path)
        if self.instruments is not None:
            self._url = f"http://127.0.0.1:{self.instruments.ready()['port']}"
        self.controller.configure(
            {
                "kubeconfig_path": str(self._write_identity()),
                "namespace": self.namespace,
                "instruments_url": self._url,
                "instruments_token": "c-token",
                "pause_at": pause_at,
                "pause_once_path": None,
            }
        )
        self.controller.ready()

    def _write_identity(self) -> Path:
        token = self.admin.request_token(self.namespace, "controller", lifetime_s=600)
        ca_path, token_path = self.folder / "ca.crt", self.folder / "token"
        write_atomic(ca_path, self.cluster.ca_pem)
        write_atomic(token_path, token.encode(), mode=PRIVATE_MODE)
        path = self.folder / "controller.kubeconfig"
        write_kubeconfig(path, server=self.cluster.server, ca_path=ca_path, token_path=token_path)
        return path

    def wait_paused(self, point: str) -> dict[str, Any]:
        """Wait until the controller has stopped at a point; return what it says of the call."""
        log_path = self.folder / f"controller-{self._controllers}.log"
        text = wait_until(
            log_path.read_text, lambda text: f"paused {point} " in text, what=point, timeout_s=15
        )
        facts: dict[str, Any] = json.loads(text.partition(f"paused {point} ")[2].splitlines()[0])
        return facts

    def crash_controller(self) -> None:
        """Kill the controller as a crash would."""
        assert self.controller is not None
        self.controller.crash()
        self.controller.end()

    def end(self) -> None:
        """End every process and delete the namespace."""
        for process in (self.controller, self.instruments):
            if process is not None:
                process.end()
        self.admin.delete(NAMESPACES, self.namespace)

    def run(self, name: str, *steps: Mapping[str, Any], **spec: Any) -> dict[str, Any]:
        """Build a LabRun."""
        return {
            "apiVersion": LAB_RUNS.api_version,
            "kind": "LabRun",
            "metadata": {"name": name},
            "spec": {"steps": list(steps), **spec},
        }

    def submit(self, who: KubeClient, name: str, *steps: Mapping[str, Any], **spec: Any) -> None:
        """Create a LabRun."""
        who.create(LAB_RUNS, self.run(name, *steps, **spec), namespace=self.namespace)

    def try_run(self, who: KubeClient, manifest: Any, *, dry_run: bool = False) -> Answer:
        """Create a LabRun, refused or not."""
        query = {"dryRun": "All"} if dry_run else None
        return who.ask("POST", LAB_RUNS.path(self.namespace), body=manifest, query=query)

    def patch_run(self, who: KubeClient, name: str, **spec: Any) -> Answer:
        """Patch the spec of a LabRun, refused or not."""
        return who.ask(
            "PATCH",
            LAB_RUNS.path(self.namespace, name),
            body={"spec": spec},
            content_type="application/merge-patch+json",
        )

    def attest(self, who: KubeClient, name: str, finding: str = "did_not_occur") -> Answer:
        """Create an Attestation, refused or not."""
        manifest = {
            "apiVersion": ATTESTATIONS.api_version,
            "kind": "Attestation",
            "metadata": {"name": name},
            "spec": {
                "task": name.rpartition("-")[0],
                "finding": finding,
                "basis": "the balance read 0 g",
            },
        }
        return who.ask("POST", ATTESTATIONS.path(self.namespace), body=manifest)

    def state(self, resource: Resource, name: str) -> tuple[str, str]:
        """Read state and reason; `absent` when the object is gone."""
        found = self.admin.find(resource, name, namespace=self.namespace)
        if found is None:
            return "absent", ""
        return found["status"]["state"], found["status"]["reason"]

    def wait_run(self, name: str, state: str, *, timeout_s: float = 15) -> tuple[str, str]:
        """Wait until a run is in a state; return state and reason."""
        return wait_until(
            lambda: self.state(LAB_RUNS, name),
            lambda seen: seen[0] == state,
            what=f"run {name} in {state}",
            timeout_s=timeout_s,
        )

    def task(self, name: str) -> dict[str, Any]:
        """Read a task."""
        return self.admin.get(LAB_TASKS, name, namespace=self.namespace)

    def wait_task(self, name: str, ready: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait until a task is as it should be."""
        return wait_until(
            lambda: self.admin.find(LAB_TASKS, name, namespace=self.namespace) or {"status": {}},
            ready,
            what=f"task {name}",
            timeout_s=15,
        )

    def wait_dispatched(self, name: str) -> dict[str, Any]:
        """Wait until a task has a dispatch on record."""
        return self.wait_task(name, lambda task: bool(task["status"].get("dispatches")))

    def instrument(self, name: str) -> dict[str, Any]:
        """Read the status of an instrument."""
        status: dict[str, Any] = self.admin.get(INSTRUMENTS, name, namespace=self.namespace)[
            "status"
        ]
        return status

    def events(self, kind: str | None = None) -> list[dict[str, Any]]:
        """Read the specs of the events of a type, oldest first."""
        found = [
            item["spec"] for item in self.admin.list_objects(LAB_EVENTS, namespace=self.namespace)
        ]
        chosen = [one for one in found if kind in (None, one["type"])]
        return sorted(chosen, key=lambda one: str(one["at"]))

    def wait_event(self, kind: str, count: int = 1) -> list[dict[str, Any]]:
        """Wait for events of a type."""
        return wait_until(
            lambda: self.events(kind),
            lambda seen: len(seen) >= count,
            what=f"event {kind}",
            timeout_s=15,
        )

    def ask_instruments(self, path: str) -> dict[str, Any]:
        """Read from the instruments as the harness does."""
        headers = {"Authorization": "Bearer h-token"}
        body: dict[str, Any] = httpx.get(f"{self._url}{path}", headers=headers).json()
        return body

    def journal(self, event: str) -> list[dict[str, Any]]:
        """Read the journal's entries of one kind."""
        entries = self.ask_instruments("/v1/journal")["entries"]
        return [entry for entry in entries if entry["event"] == event]

    def wait_idle(self) -> None:
        """Wait until no instrument is at work."""
        wait_until(
            lambda: self.ask_instruments("/v1/state")["idle"],
            lambda idle: idle is True,
            what="idle instruments",
            timeout_s=15,
        )

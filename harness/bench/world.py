"""One attempt's laboratory: made by Terraform, run by services of ours, swept whole."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from harness.bench import ledger
from harness.bench.faults import LostWrites, lost_status_writes
from harness.bench.instruments import InstrumentsClient, parse_journal
from harness.bench.session import Session, create_stack
from harness.bench.story.history import Pause
from harness.bench.world_sweep import sweep_world
from harness.cluster.services.laboratory import Laboratory, ProcessLaboratory
from harness.cluster.services.pods import PodLaboratory
from harness.core.files import PRIVATE_MODE, write_json
from harness.core.naming import owned, service_account_user
from harness.errors import HarnessError
from harness.kube.client import KubeClient
from harness.kube.resources import INSTRUMENTS, ROLE_BINDINGS
from harness.kube.sweep import Swept
from harness.terraform.stack import Stack
from harness.terraform.variables import resolve

#: Names of the RoleBindings that give the agent its rights: ours, made and deleted around the act,
#: and the one of stacks that let it approve.
AGENT_BINDINGS = ("agent", "agent-approves")

#: Seconds that the controller's token lives: longer than any act limit that makes sense.
_CONTROLLER_TOKEN_S = 24 * 3600


class World:
    """The laboratory of one attempt. `sweep` ends and removes all of it, however far it came."""

    def __init__(
        self,
        session: Session,
        entry: ledger.AttemptEntry,
        *,
        stack: str,
        values: Mapping[str, Any],
        labels: Mapping[str, str],
        files_dir: Path,
    ) -> None:
        """Describe it; nothing is made yet.

        Args:
            session: What the run's attempts share.
            entry: The record that answers for it.
            stack: Name of the lab stack.
            values: Overrides of its root variables, the harness's among them.
            labels: Ownership labels.
            files_dir: Bundle of the attempt: logs and the exact var file go there.
        """
        self.session = session
        self.namespace = entry.namespace
        self._entry = entry
        self._stack_name, self._values, self._labels = stack, values, labels
        self._files_dir = files_dir
        self._stack: Stack | None = None
        self._laboratory: Laboratory | None = None
        self._instruments: InstrumentsClient | None = None
        #: Effective values of the root variables, as Terraform gave them.
        self.variables: dict[str, Any] = {}

    @property
    def agent_user(self) -> str:
        """The user name of the agent's identity."""
        return service_account_user(self.namespace, "agent")

    @property
    def client(self) -> KubeClient:
        """The harness's own client."""
        return self.session.client

    def client_as(self, role: str) -> KubeClient:
        """Return a client that is somebody of the laboratory."""
        return self.session.client.as_service_account(self.namespace, role)

    @property
    def stack(self) -> Stack:
        """The private copy of the stack."""
        if self._stack is None:
            raise AssertionError
        return self._stack

    @property
    def instruments(self) -> InstrumentsClient:
        """The harness's own line to the instruments."""
        if self._instruments is None:
            raise AssertionError
        return self._instruments

    @property
    def laboratory(self) -> Laboratory:
        """The running controller and instruments."""
        if self._laboratory is None:
            raise AssertionError
        return self._laboratory

    def provision(self, *, pause: Pause | None) -> None:
        """Apply the stack, wait for instruments and controller, grant the agent its rights."""
        self._laboratory = self._make_laboratory(pause)
        try:
            self._apply({**self._values, **self._laboratory.stack_values()})
        except HarnessError as error:
            if why := self._laboratory.trouble():
                error.message = f"{error.message}; {why}"
            raise
        address = self._laboratory.open()
        self._instruments = InstrumentsClient(address.url, token=address.token)
        self._grant_agent()

    def journal(self) -> list[dict[str, Any]]:
        """Return every entry of the instruments' journal, in order, from where it is kept.

        On a node that takes a process each time; `instruments.journal` tells the same at once.
        """
        kept = self.laboratory.journal()
        return self.instruments.journal() if kept is None else parse_journal(kept)

    def lost_status_writes(self) -> AbstractContextManager[LostWrites]:
        """Lose every write of a task's status in this namespace for as long as it is open."""
        return lost_status_writes(
            self.session.client,
            self.namespace,
            labels=self._labels,
            audit=self.session.audit,
            controller_log=self._logs_dir / "controller.log",
        )

    def vessels(self) -> dict[str, Any]:
        """Return vessel to what is in it, as it is and not as anybody measures it."""
        found: dict[str, Any] = self.instruments.world()["vessels"]
        return found

    def revoke_agent(self) -> None:
        """Take the agent's rights away, with those that only some stacks give. Idempotent."""
        for name in AGENT_BINDINGS:
            self.session.client.delete(ROLE_BINDINGS, name, namespace=self.namespace)

    def sweep(self) -> Swept:
        """End every process, destroy the stack, empty and remove the namespace. Idempotent."""
        if self._laboratory:
            self._laboratory.end()
        if self._instruments:
            self._instruments.close()
        swept = sweep_world(self.session, self._entry, self._stack)
        if not swept.leftovers:
            self._entry.remove()
        return swept

    def _make_laboratory(self, pause: Pause | None) -> Laboratory:
        session = self.session
        cluster = session.cluster
        if cluster.image is None:
            return ProcessLaboratory(
                cluster,
                namespace=self.namespace,
                work_dir=self._entry.work_dir,
                logs_dir=self._logs_dir,
                pause_at=pause.at if pause else None,
                pause_task=pause.task if pause else None,
                read_instruments=lambda: session.client.list_objects(
                    INSTRUMENTS, namespace=self.namespace
                ),
                request_token=lambda: session.client.request_token(
                    self.namespace, "controller", lifetime_s=_CONTROLLER_TOKEN_S
                ),
            )
        return PodLaboratory(
            cluster,
            image=cluster.image,
            node=session.node,
            kubectl=session.kubectl,
            namespace=self.namespace,
            logs_dir=self._logs_dir,
            pause_at=pause.at if pause else None,
            pause_task=pause.task if pause else None,
        )

    @property
    def _logs_dir(self) -> Path:
        folder = self._files_dir / "logs"
        folder.mkdir(exist_ok=True)
        return folder

    def _apply(self, values: Mapping[str, Any]) -> None:
        session = self.session
        stack_dir = session.layout.stack_dir(self._stack_name)
        resolved = resolve(session.engine, stack_dir, values)
        self.variables = resolved.visible
        self._stack = create_stack(
            engine=session.engine,
            cluster=session.cluster,
            stack_dir=stack_dir,
            policies_dir=session.layout.policies_dir,
            work_dir=self._entry.stack_dir,
            values=resolved.values,
            log_path=self._logs_dir / "terraform.log",
        )
        # What is sensitive is made for this attempt, and of no use after it; a bundle is shown.
        write_json(self._files_dir / "vars.tfvars.json", dict(resolved.visible), mode=PRIVATE_MODE)
        self._stack.init()
        self._stack.apply()

    def _grant_agent(self) -> None:
        # Not Terraform's: it begins and ends with the act, and its end must not be drift.
        binding = {
            "apiVersion": ROLE_BINDINGS.api_version,
            "kind": ROLE_BINDINGS.kind,
            "metadata": {"name": "agent", "namespace": self.namespace},
            "roleRef": {
                "apiGroup": ROLE_BINDINGS.group,
                "kind": "ClusterRole",
                "name": "strandline:agent",
            },
            "subjects": [{"kind": "ServiceAccount", "name": "agent", "namespace": self.namespace}],
        }
        self.session.client.create(
            ROLE_BINDINGS, owned(binding, self._labels), namespace=self.namespace
        )

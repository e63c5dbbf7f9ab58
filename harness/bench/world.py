"""One attempt's laboratory: made by Terraform, run by processes of ours, swept whole."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from harness.bench import ledger
from harness.bench.instruments import InstrumentsClient
from harness.bench.session import Session, create_stack
from harness.cluster.services import LabProcess, start_controller, start_instruments
from harness.core.files import PRIVATE_MODE, write_json
from harness.core.naming import owned, service_account_user
from harness.errors import HarnessError
from harness.kube.resources import INSTRUMENTS, NAMESPACES, ROLE_BINDINGS
from harness.kube.sweep import Leftover, Swept, sweep_namespace
from harness.terraform.stack import Stack
from harness.terraform.variables import resolve

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
        self._processes: list[LabProcess] = []
        self._controller: LabProcess | None = None
        self._controller_config: dict[str, Any] = {}
        self._instruments: InstrumentsClient | None = None
        #: Effective values of the root variables, as Terraform gave them.
        self.variables: dict[str, Any] = {}

    @property
    def agent_user(self) -> str:
        """The user name of the agent's identity."""
        return service_account_user(self.namespace, "agent")

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
    def controller(self) -> LabProcess:
        """The running controller."""
        if self._controller is None:
            raise AssertionError
        return self._controller

    def provision(self, *, pause_at: str | None) -> None:
        """Apply the stack, start instruments and controller, and grant the agent its rights."""
        # Both import for a second; they do it while Terraform works.
        instruments = self._start(start_instruments(log_path=self._log("instruments")))
        controller = self._start(start_controller(log_path=self._log("controller")))
        self._apply()
        self._open_instruments(instruments)
        token = self.session.client.request_token(
            self.namespace, "controller", lifetime_s=_CONTROLLER_TOKEN_S
        )
        cluster = self.session.cluster
        self._controller_config |= {
            "server": cluster.server,
            "ca_pem": cluster.ca_pem.decode(),
            "token": token,
            "namespace": self.namespace,
        }
        controller.configure({**self._controller_config, "pause_at": pause_at})
        controller.ready()
        self._controller = controller
        self._grant_agent()

    def replace_controller(self) -> None:
        """Kill the controller as a crash would, and start its successor."""
        self.controller.crash()
        successor = self._start(start_controller(log_path=self._log("controller")))
        successor.configure({**self._controller_config, "pause_at": None})
        successor.ready()
        self._controller = successor

    def revoke_agent(self) -> None:
        """Take the agent's rights away. Idempotent."""
        self.session.client.delete(ROLE_BINDINGS, "agent", namespace=self.namespace)

    def sweep(self) -> Swept:
        """End every process, destroy the stack, empty and remove the namespace. Idempotent."""
        with ExitStack() as always:
            for process in self._processes:
                # Killed, not asked: their journal is on the disk and in the bundle already.
                always.callback(process.end, at_once=True)
        if self._instruments:
            self._instruments.close()
        swept = sweep_world(self.session, self._entry, self._stack)
        if not swept.leftovers:
            self._entry.remove()
        return swept

    def _start(self, process: LabProcess) -> LabProcess:
        self._processes.append(process)
        return process

    def _log(self, name: str) -> Path:
        folder = self._files_dir / "logs"
        folder.mkdir(exist_ok=True)
        return folder / f"{name}.log"

    def _apply(self) -> None:
        session = self.session
        stack_dir = session.layout.stack_dir(self._stack_name)
        resolved = resolve(session.engine, stack_dir, self._values)
        self.variables = resolved.visible
        self._stack = create_stack(
            layout=session.layout,
            engine=session.engine,
            cluster=session.cluster,
            stack=self._stack_name,
            work_dir=self._entry.stack_dir,
            values=resolved.values,
            log_path=self._log("terraform"),
        )
        exact = dict(resolved.values)
        write_json(self._files_dir / "vars.tfvars.json", exact, mode=PRIVATE_MODE)
        self._stack.init()
        self._stack.apply(self._stack.plan())

    def _open_instruments(self, process: LabProcess) -> None:
        found = self.session.client.list_objects(INSTRUMENTS, namespace=self.namespace)
        tokens = {"controller_token": secrets.token_hex(16), "harness_token": secrets.token_hex(16)}
        config = {
            "port": 0,
            "journal_path": str(self._entry.work_dir / "instruments.jsonl"),
            "instruments": [
                {
                    "name": item["metadata"]["name"],
                    "type": item["spec"]["type"],
                    **item["spec"].get("simulation", {}),
                }
                for item in found
            ],
        }
        process.configure({**config, **tokens})
        url = f"http://127.0.0.1:{process.ready()['port']}"
        self._controller_config |= {
            "instruments_url": url,
            "instruments_token": tokens["controller_token"],
        }
        self._instruments = InstrumentsClient(url, token=tokens["harness_token"])

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


def sweep_world(session: Session, entry: ledger.AttemptEntry, stack: Stack | None) -> Swept:
    """Remove what an entry answers for from the cluster; its processes are gone. Idempotent.

    A destroy that fails is not the end: the namespace is emptied all the same, and what is left is
    found by looking.
    """
    trouble: tuple[Leftover, ...] = ()
    if stack is not None and session.client.find(NAMESPACES, entry.namespace) is not None:
        try:
            stack.destroy()
        except HarnessError as error:
            trouble = (
                Leftover(object=f"terraform destroy of {entry.attempt_id}", blocker=str(error)),
            )
    swept = sweep_namespace(session.client, entry.namespace, kinds=session.kinds)
    # With the namespace gone nothing of the stack can be there, whatever destroy said.
    leftovers = swept.leftovers + (trouble if swept.leftovers else ())
    return Swept(deleted=swept.deleted, leftovers=leftovers)

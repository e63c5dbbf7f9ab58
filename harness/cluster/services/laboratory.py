"""The services of one attempt, its controller and its instruments, wherever they run.

`ProcessLaboratory` runs them as processes of this machine, beside an API server that is here too;
`pods.PodLaboratory` is the same for a cluster that can run an image. Called by whoever runs an
attempt.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from harness.cluster.kubeconfig import write_kubeconfig
from harness.cluster.provider import Cluster
from harness.cluster.services.processes import LabProcess, start_controller, start_instruments
from harness.core.files import PRIVATE_MODE, write_atomic
from harness.errors import ClusterError


@dataclass(frozen=True, slots=True, kw_only=True)
class InstrumentsAddress:
    """Where the harness reaches the instruments."""

    url: str
    token: str = field(repr=False)


def pause_text(point: str | None, task: str | None) -> str | None:
    """Return how a controller is told where to stop, and at whose call. Pure."""
    return f"{point}@{task}" if point and task else point or None


class Controllers(Protocol):
    """A laboratory's controller, and the ways in which it can come to grief."""

    @property
    def paused_at(self) -> str | None:
        """The point at which the controller stopped itself, as it was told to."""
        ...

    def replace_controller(self) -> None:
        """Kill the controller as a crash would, and wait for its successor."""
        ...

    def start_second_controller(self) -> None:
        """Freeze the controller where it is, and start another one beside it.

        Raises:
            ClusterError: There can be only one here, or the other is not ready.
        """
        ...

    def wake_first_controller(self) -> None:
        """Let the frozen one go on, although it was replaced."""
        ...

    def end_first_controller(self) -> None:
        """End the older of the two. Idempotent."""
        ...


class Laboratory(Controllers, Protocol):
    """Made before the stack is applied, opened after, ended always."""

    def stack_values(self) -> Mapping[str, Any]:
        """Return what the lab stack must be told for these services."""
        ...

    def open(self) -> InstrumentsAddress:
        """Wait until instruments and controller are ready.

        Raises:
            ClusterError: One of them is not.
        """
        ...

    def journal(self) -> bytes | None:
        """Return the instruments' journal from where it is kept; None: only they can tell."""
        ...

    def trouble(self) -> str:
        """Return what keeps it from coming up, where more than its stack can tell; else empty."""
        ...

    def end(self) -> None:
        """End what runs on this machine for it, at once. Idempotent."""
        ...


class ProcessLaboratory:
    """Controller and instruments as processes that die with the harness."""

    def __init__(
        self,
        cluster: Cluster,
        *,
        namespace: str,
        work_dir: Path,
        logs_dir: Path,
        pause_at: str | None,
        pause_task: str | None = None,
        read_instruments: Callable[[], Sequence[Mapping[str, Any]]],
        request_token: Callable[[], str],
    ) -> None:
        """Start both without their configuration: they import for a second.

        Args:
            cluster: Where the laboratory's objects are.
            namespace: Their namespace.
            work_dir: Folder for what nobody else may read, the journal included.
            logs_dir: Folder of the logs.
            pause_at: Where the controller must stop itself, once; None means nowhere.
            pause_task: LabTask whose call it must be; None means any.
            read_instruments: Returns the Instrument objects, once they are there.
            request_token: Returns a token of the controller's identity.
        """
        self._cluster, self._namespace = cluster, namespace
        self._work_dir, self._logs_dir = work_dir, logs_dir
        self._pause = pause_text(pause_at, pause_task)
        self._read_instruments, self._request_token = read_instruments, request_token
        self._config: dict[str, Any] = {}
        self._processes: list[LabProcess] = []
        self._first: LabProcess | None = None
        try:
            self._instruments = self._start_instruments()
            self._controller = self._start_controller()
        except BaseException:
            self.end()
            raise

    def stack_values(self) -> Mapping[str, Any]:
        """Return nothing: the stack has no part in it."""
        return {}

    def open(self) -> InstrumentsAddress:
        """Tell both what they are, and wait until they are ready."""
        tokens = {"controller_token": secrets.token_hex(16), "harness_token": secrets.token_hex(16)}
        self._instruments.configure(
            {
                "host": "127.0.0.1",
                "port": 0,
                "journal_path": str(self._work_dir / "instruments.jsonl"),
                "instruments": [
                    {
                        "name": item["metadata"]["name"],
                        "type": item["spec"]["type"],
                        **item["spec"].get("simulation", {}),
                    }
                    for item in self._read_instruments()
                ],
                **tokens,
            }
        )
        kubeconfig = self._write_identity()
        url = f"http://127.0.0.1:{self._instruments.ready()['port']}"
        self._config = {
            "kubeconfig_path": str(kubeconfig),
            "namespace": self._namespace,
            "instruments_url": url,
            "instruments_token": tokens["controller_token"],
            "pause_at": self._pause,
            "pause_once_path": str(self._work_dir / "paused"),
        }
        self._controller.configure(self._config)
        self._controller.ready()
        return InstrumentsAddress(url=url, token=tokens["harness_token"])

    @property
    def paused_at(self) -> str | None:
        """The point at which the controller stopped itself, as it was told to."""
        return self._controller.paused_at

    def replace_controller(self) -> None:
        """Kill the controller as a crash would, and start its successor."""
        self._controller.crash()
        self._succeed()

    def start_second_controller(self) -> None:
        """Freeze the controller where it is, and start another one beside it.

        Raises:
            ClusterError: There are two already, or the other is not ready.
        """
        if self._first is not None:
            msg = "the laboratory has two controllers already"
            raise ClusterError(msg, hint="end the first before you start another")
        self._controller.freeze()
        self._first = self._controller
        self._succeed()

    def wake_first_controller(self) -> None:
        """Let the frozen one go on, although it was replaced.

        Raises:
            ClusterError: Nobody replaced it.
        """
        if self._first is None:
            msg = "the laboratory has one controller, and no first one beside it"
            raise ClusterError(msg, hint="start a second one first")
        self._first.thaw()

    def end_first_controller(self) -> None:
        """End the older of the two. Idempotent."""
        if self._first is not None:
            self._first.end(at_once=True)
            self._first = None

    def journal(self) -> bytes | None:
        """Return None: the instruments answer for as long as the harness lives."""
        return None

    def trouble(self) -> str:
        """Return nothing: a process that does not come up says why itself."""
        return ""

    def end(self) -> None:
        """Kill both: the journal is on the disk, and in the bundle already. Idempotent."""
        with ExitStack() as always:
            for process in self._processes:
                always.callback(process.end, at_once=True)

    def _succeed(self) -> None:
        self._controller = self._start_controller()
        self._controller.configure(self._config)
        self._controller.ready()

    def _start(self, process: LabProcess) -> LabProcess:
        self._processes.append(process)
        return process

    def _start_instruments(self) -> LabProcess:
        return self._start(start_instruments(log_path=self._logs_dir / "instruments.log"))

    def _start_controller(self) -> LabProcess:
        return self._start(start_controller(log_path=self._logs_dir / "controller.log"))

    def _write_identity(self) -> Path:
        ca_path, token_path = self._work_dir / "ca.crt", self._work_dir / "controller.token"
        write_atomic(ca_path, self._cluster.ca_pem)
        write_atomic(token_path, self._request_token().encode(), mode=PRIVATE_MODE)
        path = self._work_dir / "controller.kubeconfig"
        write_kubeconfig(path, server=self._cluster.server, ca_path=ca_path, token_path=token_path)
        return path

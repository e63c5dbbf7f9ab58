"""A cluster that outlives the command that made it: start its supervisor, find it, take it down.

The one that carries a platform is called `provisioned`, and there is one a home; `named` gives more
to people who want a bare one. Called through the provider and by `named`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from harness.cluster.embedded.supervisor import ENDED_FILE, REQUEST_FILE
from harness.cluster.home import (
    create_state_dir,
    end_processes,
    make_home,
    read_ledger,
    reap,
    remove,
    state_dir_of,
    write_ledger,
)
from harness.cluster.locks import locked, provisioning
from harness.cluster.provider import CLUSTER_FILE, Cluster
from harness.cluster.services.heard import log_tail
from harness.cluster.services.processes import KEPT_NAMES
from harness.core.files import PRIVATE_MODE, read_json, write_json
from harness.core.identity import ProcessIdentity, identify
from harness.core.process import scrubbed_environment, start_detached
from harness.core.waiting import wait_until
from harness.errors import ClusterError, ConfigError, WaitTimeoutError

#: Name of the one provisioned cluster of a home.
NAME = "provisioned"

#: File of a home that whoever starts or ends a named control plane holds: one at a time, because a
#: start takes both cores for its four seconds.
_NAMED_LOCK = "control-planes.lock"

#: Seconds until a supervisor says that its cluster is ready: the bounds of the API server and of
#: the controllers one after the other, and a margin.
_READY_TIMEOUT_S = 150.0

#: Seconds for a supervisor to end everything; it takes under 1 s.
_END_TIMEOUT_S = 15.0


def provision(
    home: Path,
    *,
    name: str = NAME,
    binaries: Mapping[str, Path],
    webhook_argv: Sequence[str] | None,
    nodes: int = 0,
    progress: Callable[[str], None],
) -> Cluster:
    """Start a supervisor and return its cluster, or the one that is there. Idempotent.

    Args:
        home: Folder of the harness's state.
        name: Its name, and that of its folder.
        binaries: Name to path of `control_plane.binary_names(nodes)`.
        webhook_argv: Command of the webhook; None starts none.
        nodes: How many nodes without containers it has.
        progress: Told when another process is at it already.

    Raises:
        ClusterError: It did not become ready; nothing is left running.
    """
    make_home(home)
    with _alone(home, name, progress):
        if found := find_provisioned(home, name):
            return found
        _end(home, name)  # what a killed one left
        reap(home)
        state_dir = create_state_dir(home, name, owner_pid=os.getpid())
        request = {
            "binaries": {name: str(path) for name, path in binaries.items()},
            "webhook_argv": list(webhook_argv) if webhook_argv is not None else None,
            "nodes": nodes,
        }
        write_json(state_dir / REQUEST_FILE, request, mode=PRIVATE_MODE)
        try:
            return _await_ready(state_dir, start_supervisor(state_dir))
        except BaseException:
            _end(home, name)
            raise


def start_supervisor(state_dir: Path) -> ProcessIdentity | None:
    """Start the supervisor of a folder and name it as the owner there; None when it ended at once.

    It names itself once it has started something. Until then, if whoever provisions is killed, the
    next one could not end it, and would make a folder of that name for it to start in.
    """
    pid = start_detached(
        [sys.executable, "-m", "harness.cluster.embedded.supervisor", str(state_dir)],
        env=scrubbed_environment({}, keep=KEPT_NAMES),
        log_path=state_dir / "supervisor.log",
    )
    supervisor = identify(pid)
    if supervisor is not None:
        write_ledger(state_dir, {}, owner_pid=pid)
    return supervisor


def find_provisioned(home: Path, name: str = NAME) -> Cluster | None:
    """Return the provisioned cluster whose supervisor lives, or None."""
    state_dir = state_dir_of(home, name)
    ledger = read_ledger(state_dir)
    if ledger is None or not ledger.owner.alive or not (state_dir / CLUSTER_FILE).is_file():
        return None
    return Cluster.load(state_dir / CLUSTER_FILE)


def teardown(home: Path, name: str = NAME) -> None:
    """End the provisioned cluster and remove its folder. Idempotent.

    Raises:
        TeardownError: Something of it is still there.
    """
    if state_dir_of(home, name).is_dir():
        with _alone(home, name, lambda _: None):
            _end(home, name)


def nodes_of(state_dir: Path) -> int:
    """Return how many nodes a provisioned cluster was asked to have."""
    with suppress(ConfigError, KeyError, TypeError, ValueError):
        return int(read_json(state_dir / REQUEST_FILE)["nodes"])
    return 0


def why_ended(state_dir: Path) -> str | None:
    """Return the reason that a supervisor left when its cluster ended by itself."""
    with suppress(ConfigError, KeyError, TypeError):
        return str(read_json(state_dir / ENDED_FILE)["reason"])
    return None


def _await_ready(state_dir: Path, supervisor: ProcessIdentity | None) -> Cluster:
    def probe() -> bool:
        # Asked before the files, so that what a supervisor wrote as its last act is seen.
        alive = supervisor is not None and supervisor.alive
        if (state_dir / CLUSTER_FILE).is_file():
            return True
        if not alive:
            reason = why_ended(state_dir) or log_tail(state_dir / "supervisor.log")
            msg = f"the supervisor ended before its cluster was ready: {reason}"
            raise ClusterError(msg, hint="read the message of the process, then start again")
        return False

    try:
        wait_until(probe, bool, what="the provisioned cluster", timeout_s=_READY_TIMEOUT_S)
    except WaitTimeoutError as error:
        msg = f"{error.message}; its log ends: {log_tail(state_dir / 'supervisor.log')}"
        raise ClusterError(msg, hint=f"read {state_dir / 'supervisor.log'}") from error
    return Cluster.load(state_dir / CLUSTER_FILE)


def _alone(home: Path, name: str, progress: Callable[[str], None]) -> AbstractContextManager[None]:
    """Hold the right to start or end this cluster, or any that people gave a name."""
    timeout_s = 2 * _READY_TIMEOUT_S
    if name == NAME:
        return provisioning(home, timeout_s=timeout_s, progress=progress)
    lock = home / _NAMED_LOCK
    return locked(lock, what="a control plane", timeout_s=timeout_s, progress=progress)


def _end(home: Path, name: str) -> None:
    state_dir = state_dir_of(home, name)
    ledger = read_ledger(state_dir)
    if ledger is not None and ledger.owner.pid != os.getpid():
        end_processes({"supervisor": ledger.owner}, timeout_s=_END_TIMEOUT_S)
    if state_dir.is_dir():
        remove(state_dir)

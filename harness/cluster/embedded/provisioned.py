"""A cluster that outlives the command that made it: start its supervisor, find it, take it down.

One a home. Called through the provider.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from harness.cluster.embedded.supervisor import CLUSTER_FILE, ENDED_FILE, REQUEST_FILE
from harness.cluster.home import (
    create_state_dir,
    end_processes,
    read_ledger,
    reap,
    remove,
    state_dir_of,
)
from harness.cluster.locks import provisioning
from harness.cluster.provider import Cluster
from harness.cluster.services.heard import log_tail
from harness.cluster.services.processes import KEPT_NAMES
from harness.core.files import PRIVATE_MODE, read_json, write_json
from harness.core.identity import ProcessIdentity, identify
from harness.core.process import scrubbed_environment, start_detached
from harness.core.waiting import wait_until
from harness.errors import ClusterError, ConfigError, WaitTimeoutError

#: Name of the one provisioned cluster of a home.
NAME = "provisioned"

#: Seconds until a supervisor says that its cluster is ready: the bounds of the API server and of
#: the controllers one after the other, and a margin.
_READY_TIMEOUT_S = 150.0

#: Seconds for a supervisor to end everything; it takes under 1 s.
_END_TIMEOUT_S = 15.0


def provision(
    home: Path,
    *,
    binaries: Mapping[str, Path],
    webhook_argv: Sequence[str] | None,
    progress: Callable[[str], None],
) -> Cluster:
    """Start a supervisor and return its cluster, or the one that is there. Idempotent.

    Args:
        home: Folder of the harness's state.
        binaries: Name to path of the control plane's programs.
        webhook_argv: Command of the webhook; None starts none.
        progress: Told when another process is at it already.

    Raises:
        ClusterError: It did not become ready; nothing is left running.
    """
    home.mkdir(parents=True, exist_ok=True)
    with provisioning(home, timeout_s=2 * _READY_TIMEOUT_S, progress=progress):
        if found := find_provisioned(home):
            return found
        _end(home)  # what a killed one left
        reap(home)
        state_dir = create_state_dir(home, NAME, owner_pid=os.getpid())
        request = {
            "binaries": {name: str(path) for name, path in binaries.items()},
            "webhook_argv": list(webhook_argv) if webhook_argv is not None else None,
        }
        write_json(state_dir / REQUEST_FILE, request, mode=PRIVATE_MODE)
        log_path = state_dir / "supervisor.log"
        pid = start_detached(
            [sys.executable, "-m", "harness.cluster.embedded.supervisor", str(state_dir)],
            env=scrubbed_environment({}, keep=KEPT_NAMES),
            log_path=log_path,
        )
        supervisor = identify(pid)
        try:
            return _await_ready(state_dir, supervisor)
        except BaseException:
            if supervisor is not None:
                end_processes({"supervisor": supervisor}, timeout_s=_END_TIMEOUT_S)
            remove(state_dir)
            raise


def find_provisioned(home: Path) -> Cluster | None:
    """Return the provisioned cluster whose supervisor lives, or None."""
    state_dir = state_dir_of(home, NAME)
    ledger = read_ledger(state_dir)
    if ledger is None or not ledger.owner.alive or not (state_dir / CLUSTER_FILE).is_file():
        return None
    return Cluster.load(state_dir / CLUSTER_FILE)


def teardown(home: Path) -> None:
    """End the provisioned cluster and remove its folder. Idempotent.

    Raises:
        TeardownError: Something of it is still there.
    """
    if state_dir_of(home, NAME).is_dir():
        with provisioning(home, timeout_s=2 * _READY_TIMEOUT_S, progress=lambda _: None):
            _end(home)


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


def _end(home: Path) -> None:
    state_dir = state_dir_of(home, NAME)
    ledger = read_ledger(state_dir)
    if ledger is not None and ledger.owner.pid != os.getpid():
        end_processes({"supervisor": ledger.owner}, timeout_s=_END_TIMEOUT_S)
    if state_dir.is_dir():
        remove(state_dir)

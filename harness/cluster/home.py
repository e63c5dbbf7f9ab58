"""Where clusters keep their state, who owns each, and the end of what a dead owner left behind.

`$STRANDLINE_HOME/clusters/NAME/` is one cluster. Its ledger names the owner and every process by
pid and start time, so that a later process with the same pid is never signalled. Called by the
start and the end of embedded clusters, and by the doctor.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.core.files import PRIVATE_MODE, read_json, write_json
from harness.core.identity import ProcessIdentity, identify
from harness.core.waiting import SYSTEM_CLOCK, Clock, wait_until
from harness.errors import ConfigError, PrerequisiteError, TeardownError, WaitTimeoutError

#: Name of the environment variable that moves the home.
HOME_VARIABLE = "STRANDLINE_HOME"

#: Seconds that a leash may take to end its tree (a grace of 2 s), with a margin for a busy machine.
_END_TIMEOUT_S = 10.0

#: Seconds after which a folder without a ledger has no owner who is still about to write one.
_UNOWNED_AFTER_S = 60.0

#: How names of clusters begin that are not processes of this machine: their owner's end is not
#: theirs, and their folder is the way to what runs elsewhere.
_KEPT_BY_OTHERS = ("strandline-", "existing-")

#: Name of a folder that is being made: by which process, so that it is left to a live one.
_NEW = re.compile(r"\.new-(\d+)-(\d+)-.*")

_LEDGER = "ledger.json"


def default_home(environ: Mapping[str, str], working_dir: Path) -> Path:
    """Return `$STRANDLINE_HOME`, or `.strandline` in the working directory. Pure."""
    named = environ.get(HOME_VARIABLE)
    return working_dir / (named or ".strandline")


def clusters_dir(home: Path) -> Path:
    """Return the folder that holds a folder for each cluster. Pure."""
    return home.absolute() / "clusters"


def state_dir_of(home: Path, name: str) -> Path:
    """Return the folder of a cluster. Pure."""
    return clusters_dir(home) / name


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """Who owns a cluster, and which processes are its.

    Attributes:
        owner: The harness or the supervisor.
        processes: Name to process.
    """

    owner: ProcessIdentity
    processes: Mapping[str, ProcessIdentity]


def read_ledger(state_dir: Path) -> Ledger | None:
    """Return the ledger; None when there is none that can be read."""
    try:
        value = read_json(state_dir / _LEDGER)
        return Ledger(
            owner=_identity(value["owner"]),
            processes={name: _identity(entry) for name, entry in value["processes"].items()},
        )
    except (ConfigError, KeyError, TypeError, AttributeError):
        return None


def write_ledger(state_dir: Path, pids: Mapping[str, int], *, owner_pid: int) -> None:
    """Write the ledger; processes that are gone already are left out."""
    identities = {name: identify(pid) for name, pid in {**pids, "": owner_pid}.items()}
    owner = identities.pop("")
    value = {
        "owner": _entry(owner) if owner else None,
        "processes": {name: _entry(one) for name, one in identities.items() if one},
    }
    write_json(state_dir / _LEDGER, value, mode=PRIVATE_MODE)


def make_home(home: Path) -> None:
    """Make the folder of the harness's state, which nobody commits by mistake. Idempotent.

    Raises:
        PrerequisiteError: It cannot be made or written; the message names the folder.
    """
    try:
        clusters_dir(home).mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError), (home / ".gitignore").open("x") as ignore:
            ignore.write("*\n")
    except OSError as error:
        msg = f"{home.absolute()}: no place for a cluster's state: {error.strerror}"
        raise PrerequisiteError(
            msg, hint=f"set {HOME_VARIABLE} to a folder that can be written"
        ) from error


def create_state_dir(home: Path, name: str, *, owner_pid: int) -> Path:
    """Make the folder of a cluster, with a ledger in it from its first moment.

    Raises:
        OSError: It exists.
        PrerequisiteError: The home cannot be written.
    """
    clusters = clusters_dir(home)
    make_home(home)
    maker = identify(os.getpid())
    ticks = maker.started_ticks if maker else 0
    temporary = Path(tempfile.mkdtemp(dir=clusters, prefix=f".new-{os.getpid()}-{ticks}-"))
    write_ledger(temporary, {}, owner_pid=owner_pid)
    (temporary / "logs").mkdir()
    state_dir = clusters / name
    try:
        temporary.rename(state_dir)
    except OSError:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    return state_dir


def commands_below(pids: Mapping[str, int]) -> dict[str, int]:
    """Return the pids of leashes and, as `NAME-command`, of the commands that they hold."""
    found = dict(pids)
    for name, pid in pids.items():
        try:
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        except OSError:
            continue
        if children:
            found[f"{name}-command"] = int(children[0])
    return found


def stale_state_dirs(home: Path, *, clock: Clock = SYSTEM_CLOCK) -> tuple[Path, ...]:
    """Return the folders whose owner is gone, in order of their names."""
    clusters = clusters_dir(home)
    if not clusters.is_dir():
        return ()
    return tuple(
        sorted(
            folder
            for folder in clusters.iterdir()
            if not folder.name.startswith(_KEPT_BY_OTHERS) and _is_stale(folder, clock)
        )
    )


def reap(home: Path) -> tuple[str, ...]:
    """End what killed owners left and remove their folders; return their names. Idempotent.

    Raises:
        TeardownError: A process is still there, or a folder cannot be removed.
    """
    leftovers: list[str] = []
    reaped: list[str] = []
    for state_dir in stale_state_dirs(home):
        try:
            remove(state_dir)
            reaped.append(state_dir.name)
        except TeardownError as error:
            leftovers += error.leftovers
    if leftovers:
        raise TeardownError(tuple(leftovers), hint="end these processes and try again")
    return tuple(reaped)


def remove(state_dir: Path) -> None:
    """End every process of a ledger but its owner, then remove the folder. Idempotent.

    Raises:
        TeardownError: A process is still there, or the folder cannot be removed.
    """
    ledger = read_ledger(state_dir)
    still_there = end_processes(ledger.processes if ledger else {}, timeout_s=_END_TIMEOUT_S)
    left = tuple(f"{state_dir.name}: {one}" for one in still_there)
    if left:
        raise TeardownError(left, hint="end these processes and try again")
    shutil.rmtree(state_dir, ignore_errors=True)
    if state_dir.exists():
        raise TeardownError((f"folder {state_dir}",), hint="remove the folder")


def end_processes(processes: Mapping[str, ProcessIdentity], *, timeout_s: float) -> list[str]:
    """Ask every process to end, then kill it; return what is still there. Idempotent.

    Args:
        processes: Name to process.
        timeout_s: Seconds to wait after each of the two signals.
    """
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in processes.values():
            with suppress(ProcessLookupError):
                process.signal(number)
        with suppress(WaitTimeoutError):
            wait_until(
                lambda: _alive(processes),
                lambda left: not left,
                what="the end of what was left",
                timeout_s=timeout_s,
            )
            break
    return _alive(processes)


def _alive(processes: Mapping[str, ProcessIdentity]) -> list[str]:
    return [f"{name} (pid {one.pid})" for name, one in processes.items() if one.alive]


def _is_stale(folder: Path, clock: Clock) -> bool:
    ledger = read_ledger(folder)
    if ledger is not None:
        return not ledger.owner.alive
    if maker := _NEW.fullmatch(folder.name):
        # No age: a clock that was set forward would make the folder of this moment an old one.
        return not ProcessIdentity(pid=int(maker[1]), started_ticks=int(maker[2])).alive
    try:
        age_s = clock.now().timestamp() - folder.stat().st_mtime
    except OSError:
        return False
    # One that was made "tomorrow", before the clock was set back, is young.
    return folder.is_dir() and age_s > _UNOWNED_AFTER_S


def _entry(identity: ProcessIdentity) -> dict[str, int]:
    return {"pid": identity.pid, "started_ticks": identity.started_ticks}


def _identity(value: Any) -> ProcessIdentity:
    return ProcessIdentity(pid=value["pid"], started_ticks=value["started_ticks"])

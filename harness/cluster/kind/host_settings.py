"""What a node changes on its machine, noted before the first one and put back after the last.

The systemd and the kubelet of a node set sysctls of the whole machine, and podman leaves chains, a
mount and empty control groups. Measured by comparing a machine before and after. One note for the
machine, not one a cluster: a second cluster would note what the first had changed. It lies where a
reboot clears it, as the settings themselves are.

Without root's rights nothing can be put back, so nothing is noted. Called round the start and after
the end of a cluster, and by a sweep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from harness.cluster.kind.engine import Engine
from harness.cluster.kind.netfilter import undo_commands
from harness.cluster.locks import locked
from harness.core.files import PRIVATE_MODE, read_json, write_json
from harness.core.process import run, scrubbed_environment
from harness.errors import PrerequisiteError, WaitTimeoutError

#: Folder of the note and its lock.
NOTES_DIR = Path("/run/strandline")

#: Sysctls of the whole machine that a node was seen to change, or that kubelet and kube-proxy set.
#: A star stands for any one name.
_SYSCTLS = (
    "fs/file-max",
    "fs/protected_*",
    "kernel/keys/root_max*",
    "kernel/panic",
    "kernel/panic_on_oops",
    "net/ipv4/conf/*/accept_redirects",
    "net/ipv4/conf/*/forwarding",
    "net/ipv4/conf/*/route_localnet",
    "net/ipv4/conf/*/rp_filter",
    "net/ipv4/ip_forward",
    "net/ipv6/conf/*/forwarding",
    "vm/overcommit_memory",
    "vm/panic_on_oom",
)

#: A folder that kind mounts into every node, and that a machine without modules lacks.
_MODULES = "lib/modules"

#: podman mounts it on itself and leaves it.
_NETNS = "run/netns"

#: Network that kind makes and never removes.
_NETWORK = "kind"

_TIMEOUT_S = 20.0

#: Seconds that the start of another cluster may take, during which nobody else may start one.
_START_TIMEOUT_S = 600.0


class HostSettings:
    """The machine's settings as they were before the first node."""

    def __init__(
        self,
        *,
        notes_dir: Path | None,
        root_dir: Path = Path("/"),
        command: Callable[..., str] | None = None,
    ) -> None:
        """Note nothing yet.

        Args:
            notes_dir: Where the note is; None where nothing may be put back.
            root_dir: The machine's root folder.
            command: Runs a command of the machine; returns what it printed, empty on failure.
        """
        self._dir = notes_dir
        self._proc = root_dir / "proc"
        self._modules = root_dir / _MODULES
        self._netns = root_dir / _NETNS
        self._groups = root_dir / "sys" / "fs" / "cgroup"
        self._command = command or _output

    @contextmanager
    def noted(self, engine: Engine, *, progress: Callable[[str], None]) -> Iterator[None]:
        """Note what there is, once, and keep others from putting it back during the block."""
        if self._dir is None:
            yield
            return
        with locked(
            self._dir / "kind.lock",
            what="a kind cluster",
            timeout_s=_START_TIMEOUT_S,
            progress=progress,
        ):
            if not self._path.is_file():
                write_json(self._path, self._look(engine), mode=PRIVATE_MODE)
            self._modules.mkdir(parents=True, exist_ok=True)
            yield

    def pending(self) -> bool:
        """Tell whether there is something to put back that no node needs any more."""
        with suppress(WaitTimeoutError), self._alone() as path:
            return path is not None and not self._node_runs()
        return False

    def restore(self, engine: Engine) -> None:
        """Put everything back, unless a node runs or one is being made. Idempotent."""
        with suppress(WaitTimeoutError), self._alone() as path:
            if path is not None and not self._node_runs():
                self._put_back(engine, read_json(path))
                path.unlink()

    @contextmanager
    def _alone(self) -> Iterator[Path | None]:
        """Give the note, None where there is none, and keep others from starting a cluster.

        Raises:
            WaitTimeoutError: Somebody is at it, and ends again what that comes to.
        """
        if self._dir is None or not self._path.is_file():
            yield None
            return
        with locked(
            self._dir / "kind.lock", what="a kind cluster", timeout_s=0, progress=lambda _: None
        ):
            yield self._path if self._path.is_file() else None

    @property
    def _path(self) -> Path:
        if self._dir is None:
            raise AssertionError
        return self._dir / "host-settings.json"

    def _node_runs(self) -> bool:
        """Tell whether any kubelet runs, of whatever engine, store or tool."""
        for entry in self._proc.glob("[0-9]*/comm"):
            with suppress(OSError):
                if entry.read_text().strip() == "kubelet":
                    return True
        return False

    def _look(self, engine: Engine) -> dict[str, Any]:
        sysctls: dict[str, str] = {}
        for pattern in _SYSCTLS:
            for path in (self._proc / "sys").glob(pattern):
                with suppress(OSError):
                    sysctls[str(path.relative_to(self._proc / "sys"))] = path.read_text().strip()
        return {
            "sysctls": sysctls,
            "rules": {tool: self._command(f"{tool}-save") for tool in ("iptables", "ip6tables")},
            "modules_dir": self._modules.is_dir(),
            "netns_dir": self._netns.is_dir(),
            "network": _NETWORK in _networks(engine),
            "podman_groups": any(self._podman_groups()),
        }

    def _put_back(self, engine: Engine, note: dict[str, Any]) -> None:
        if not note["network"] and _NETWORK in _networks(engine):
            engine.ask("network", "rm", _NETWORK)  # refused where somebody's container is on it
        if engine.name == "podman" and not engine.ask("ps", "--quiet").stdout.strip():
            self._clean_after_podman(note)
        # Twice: setting ip_forward sets `forwarding` of every interface, whatever it was.
        for _ in range(2):
            for name, value in note["sysctls"].items():
                path = self._proc / "sys" / name
                with suppress(OSError):  # an interface may be gone
                    if path.read_text().strip() != value:
                        path.write_text(value)
        if not note["modules_dir"]:
            with suppress(OSError):
                self._modules.rmdir()

    def _clean_after_podman(self, note: dict[str, Any]) -> None:
        for tool, before in note["rules"].items():
            for arguments in undo_commands(before, self._command(f"{tool}-save")):
                self._command(tool, *arguments)
        if not note["netns_dir"] and self._netns.is_dir() and not any(self._netns.iterdir()):
            self._command("umount", str(self._netns))
            with suppress(OSError):
                self._netns.rmdir()
        if not note["podman_groups"]:
            for folder in self._podman_groups():
                with suppress(OSError):  # busy: somebody's container is in it
                    folder.rmdir()

    def _podman_groups(self) -> list[Path]:
        return sorted(self._groups.glob("*/libpod_parent"))


def _networks(engine: Engine) -> list[str]:
    return engine.ask("network", "ls", "--format", "{{.Name}}").stdout.split()


def _output(*argv: str) -> str:
    try:
        return run(argv, env=scrubbed_environment({}), timeout_s=_TIMEOUT_S).stdout
    except PrerequisiteError:  # the program is not there, so it has left nothing either
        return ""

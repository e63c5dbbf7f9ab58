"""Stand-ins for what the kind room meets: a container engine, and a machine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.cluster.kind.config import AUDIT_DIR
from harness.cluster.kind.engine import Engine
from harness.cluster.kind.machine import Machine
from harness.core.process import Finished

ROOT_MACHINE = Machine(
    is_root=True,
    may_raise_limits=True,
    open_files_hard=None,
    processes_hard=None,
    pid_max=32768,
    systemd=True,
    cgroup_v1=False,
    memory_bytes=8 * 1024**3,
    inotify_instances=128,
    inotify_watches=65536,
    runc=Path("/usr/sbin/runc"),
    netavark=Path("/usr/lib/podman/netavark"),
    cni_bridge=None,
)


def machine(**changes: Any) -> Machine:
    """Return a machine on which everything works, but for these changes."""
    return replace(ROOT_MACHINE, **changes)


@dataclass
class FakeCommands:
    """Answers the commands that it was taught, by how they begin; any other is a failed test."""

    answers: dict[tuple[str, ...], Finished] = field(default_factory=dict)
    seen: list[tuple[str, ...]] = field(default_factory=list)
    environments: list[Mapping[str, str]] = field(default_factory=list)

    def teach(
        self, *begin: str, stdout: str = "", stderr: str = "", code: int = 0, late: bool = False
    ) -> None:
        """Set the answer to commands that begin so; the longest beginning wins."""
        self.answers[begin] = Finished(
            argv=begin,
            returncode=code,
            stdout=stdout,
            stderr=stderr,
            duration_s=0.1,
            timed_out=late,
            survivors=0,
        )

    def __call__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        timeout_s: float,
        stdout_path: Path | None = None,
        limit_bytes: int = 0,
        keep_survivors: bool = False,
    ) -> Finished:
        """Answer as `run` would."""
        assert timeout_s > 0
        assert limit_bytes >= 0
        words = (Path(argv[0]).name, *argv[1:])
        # What holds a container is a grandchild of the command that starts it.
        assert keep_survivors or words[1] == "info"
        self.seen.append(words)
        self.environments.append(env)
        fitting = [begin for begin in self.answers if words[: len(begin)] == begin]
        assert fitting, f"nobody taught {words}"
        answer = self.answers[max(fitting, key=len)]
        if stdout_path:
            stdout_path.write_bytes(answer.stdout.encode("utf-8", "surrogateescape"))
        return answer


def engine(commands: FakeCommands, *, name: str = "podman") -> Engine:
    """Return an engine that runs these commands."""
    return Engine(
        name=name, path=Path("/usr/bin") / name, environment={}, cgroup_v1=False, run=commands
    )


def described(
    name: str, *, created: str, state_dir: Path | None = None, running: bool = True
) -> dict[str, Any]:
    """Return a node container as an engine's `container inspect` prints it."""
    mounts = [{"Source": "/lib/modules", "Destination": "/lib/modules"}]
    if state_dir:
        mounts.append({"Source": str(state_dir / "audit"), "Destination": str(AUDIT_DIR)})
    return {
        "Name": f"/{name}",
        "Created": created,
        "State": {"Running": running},
        "Mounts": mounts,
    }


def teach_nodes(commands: FakeCommands, *nodes: dict[str, Any], strangers: str = "") -> None:
    """Let an engine have these node containers, no volumes and no images."""
    names = "\n".join(node["Name"].removeprefix("/") for node in nodes)
    commands.teach("podman", "ps", "--all", stdout=f"{names}\n{strangers}\n")
    commands.teach("podman", "container", "inspect", stdout=json.dumps(nodes))
    commands.teach("podman", "volume", "ls", stdout="")
    commands.teach("podman", "images", stdout="")

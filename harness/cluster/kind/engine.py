"""The container engine that runs nodes: Docker or podman, found by looking, or why neither works.

Owns which one is used and with which environment; refuses to know what is run with it. Called by
the provider, by whatever works on a node, and by the doctor.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from harness.cluster.kind.fitness import EngineAnswer, Reason, reasons_against
from harness.cluster.kind.machine import Machine, look
from harness.cluster.kind.podman_settings import podman_settings
from harness.core.files import sha256_hex, write_atomic
from harness.core.process import Finished, run, scrubbed_environment
from harness.errors import ClusterError, PrerequisiteError

#: Engines in the order of kind's own search.
ENGINE_NAMES = ("docker", "podman")

#: The variable by which kind itself is told which engine to use.
ENGINE_VARIABLE = "KIND_EXPERIMENTAL_PROVIDER"

#: Where podman looks for its settings before it looks anywhere else.
_SETTINGS_VARIABLE = "CONTAINERS_CONF"

#: Seconds for an engine's answer to a question; podman takes 0.1 s, Docker on a busy machine 2 s.
ASK_TIMEOUT_S = 30.0

#: Names of the caller's environment that an engine and kind see: where the engine is, whose
#: settings it has, and the proxies, which kind hands on to its nodes.
_KEPT = (
    *("PATH", "HOME", "LANG", "USER", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "DBUS_SESSION_BUS_ADDRESS"),
    *("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY"),
    *(_SETTINGS_VARIABLE, "CONTAINERS_STORAGE_CONF", "CONTAINER_HOST", "CONTAINER_SSHKEY"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
)


class Runs(Protocol):
    """What `harness.core.process.run` is, as far as an engine needs it."""

    def __call__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        timeout_s: float,
        stdout_path: Path | None = None,
        limit_bytes: int = ...,
        keep_survivors: bool = ...,
    ) -> Finished:
        """Run a command to its end."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A container engine that works.

    What its commands leave running is its own: podman has no daemon, so the process that holds a
    container is a grandchild of the command that started it.

    Attributes:
        name: `docker` or `podman`.
        path: Its program.
        environment: The whole environment of it, and of kind.
        cgroup_v1: Whether its containers see control groups of the old kind.
        run: Starts commands.
    """

    name: str
    path: Path
    environment: Mapping[str, str] = field(repr=False)
    cgroup_v1: bool
    run: Runs = run

    def ask(self, *args: str, timeout_s: float = ASK_TIMEOUT_S) -> Finished:
        """Run it with arguments; return how that ended."""
        return self.run(
            [str(self.path), *args],
            env=self.environment,
            timeout_s=timeout_s,
            keep_survivors=True,
        )

    def call(self, *args: str, timeout_s: float = ASK_TIMEOUT_S) -> str:
        """Run it with arguments; return what it printed.

        Raises:
            ClusterError: It said no, or did not end in time.
        """
        finished = self.ask(*args, timeout_s=timeout_s)
        if finished.returncode or finished.timed_out:
            why = "no answer in time" if finished.timed_out else last_line(finished.stderr)
            msg = f"{self.name} {' '.join(args[:2])}: {why}"
            raise ClusterError(msg, hint=f"check that {self.name} works")
        return finished.stdout


def find_engine(
    environ: Mapping[str, str] = os.environ,
    *,
    settings_dir: Path,
    for_new_node: bool = True,
    machine: Callable[[], Machine] = look,
    run: Runs = run,
    which: Callable[[str], str | None] | None = None,
) -> Engine:
    """Return the engine that works: the one that the user names for kind, else the first.

    Args:
        environ: The caller's environment.
        settings_dir: Where settings for podman are written, if it needs some.
        for_new_node: Whether a node is to be made; to end one, an engine that answers will do.
        machine: Looks at the machine.
        run: Starts commands.
        which: Finds a program; None looks on the caller's PATH.

    Raises:
        PrerequisiteError: None works; why, for each, and what to do about it.
    """
    find = which or (lambda name: shutil.which(name, path=environ.get("PATH")))
    named = environ.get(ENGINE_VARIABLE)
    found: dict[str, tuple[Reason, ...]] = {}
    for name in (named,) if named in ENGINE_NAMES else ENGINE_NAMES:
        path = find(name)
        if path is None:
            found[name] = (Reason(why="not on PATH", fix=f"install {name}"),)
            continue
        here = machine()
        engine, answer = _look_at(
            name, Path(path), environ=environ, settings_dir=settings_dir, machine=here, run=run
        )
        found[name] = reasons_against(answer, here if for_new_node else None)
        if not found[name]:
            return engine
    why = "; ".join(f"{name}: {one.why}" for name, all_ in found.items() for one in all_)
    msg = f"no container engine that can run a node: {why}"
    fixes = [one.fix for _, all_ in sorted(found.items(), key=_likeliest) for one in all_]
    raise PrerequisiteError(msg, hint=fixes[0])


def last_line(text: str) -> str:
    """Return the last line that says something, capped. Pure."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][-400:] if lines else "no message"


def _likeliest(entry: tuple[str, tuple[Reason, ...]]) -> bool:
    """Sort what is installed before what is not: that is the one to repair. Pure."""
    return entry[1][0].why == "not on PATH"


def _look_at(
    name: str,
    path: Path,
    *,
    environ: Mapping[str, str],
    settings_dir: Path,
    machine: Machine,
    run: Runs,
) -> tuple[Engine, EngineAnswer]:
    environment = scrubbed_environment({ENGINE_VARIABLE: name}, keep=_KEPT, ambient=environ)
    answer = _answer(name, path, environment, run)
    if name == "podman" and _SETTINGS_VARIABLE not in environment and not answer.error:
        text = podman_settings(machine, network_backend=answer.network_backend)
        if text:
            # By content, so that it is never written under a running container's feet: podman's
            # own clean-up reads it again when a container ends.
            settings = settings_dir / f"containers-{sha256_hex(text.encode())[:12]}.conf"
            if not settings.is_file():
                write_atomic(settings, text.encode())
            environment[_SETTINGS_VARIABLE] = str(settings)
            answer = _answer(name, path, environment, run)
    engine = Engine(
        name=name, path=path, environment=environment, cgroup_v1=answer.cgroup_v1, run=run
    )
    return engine, answer


def _answer(name: str, path: Path, environment: Mapping[str, str], run: Runs) -> EngineAnswer:
    argv = [str(path), "info", "--format", "{{json .}}"]
    finished = run(argv, env=environment, timeout_s=ASK_TIMEOUT_S)
    if finished.timed_out:
        return EngineAnswer(name=name, error=f"no answer within {ASK_TIMEOUT_S:g} s")
    try:
        value = json.loads(finished.stdout)
    except ValueError:
        return EngineAnswer(name=name, error=last_line(finished.stderr))
    return _docker(value, finished.stderr) if name == "docker" else _podman(value)


def _docker(value: Mapping[str, Any], stderr: str) -> EngineAnswer:
    if errors := value.get("ServerErrors"):
        return EngineAnswer(name="docker", error=str(errors[0]))
    if not value.get("ServerVersion"):  # it prints an empty document and exits 0
        return EngineAnswer(name="docker", error=last_line(stderr))
    return EngineAnswer(
        name="docker",
        cgroup_v1=value.get("CgroupVersion") == "1",
        rootless="name=rootless" in " ".join(value.get("SecurityOptions") or ()),
        store=_folder(value.get("DockerRootDir")),
    )


def _podman(value: Mapping[str, Any]) -> EngineAnswer:
    host = value["host"]
    return EngineAnswer(
        name="podman",
        cgroup_v1=host.get("cgroupVersion") == "v1",
        rootless=bool(host.get("security", {}).get("rootless")),
        runtime=host.get("ociRuntime", {}).get("name", ""),
        network_backend=host.get("networkBackend", ""),
        version=value.get("version", {}).get("Version", ""),
        store=_folder(value.get("store", {}).get("graphRoot")),
    )


def _folder(text: object) -> Path | None:
    """Return a folder of this machine; None where it is another machine's, as with Docker Desktop.

    One that may not be read is as good as none: its file system cannot be asked.
    """
    path = Path(text) if isinstance(text, str) and text else None
    try:
        return path if path and path.is_dir() else None
    except OSError:
        return None

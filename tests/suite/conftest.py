"""Whole commands, as a user types them, in a home of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from harness.core.files import read_lines
from harness.core.process import Child, scrubbed_environment
from harness.core.waiting import wait_until
from harness.kube.client import KubeClient
from harness.kube.resources import NAMESPACES

ROOT = Path(__file__).resolve().parents[2]

#: Seconds for one command on a cold cache: the control plane is built by the first one.
COMMAND_TIMEOUT_S = 2400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """A working directory with a home, from which commands are typed.

    Attributes:
        dir: The working directory.
        root: What is given as --root.
    """

    dir: Path
    root: Path = ROOT
    env: dict[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        """The harness's own folder."""
        return self.dir / ".strandline"

    @property
    def tmp(self) -> Path:
        """Where its commands make temporary folders; nobody else's are there."""
        path = self.dir.with_name(f"{self.dir.name}-tmp")
        path.mkdir(exist_ok=True)
        return path

    @property
    def runs(self) -> list[Path]:
        """Folders of runs, oldest first."""
        return sorted((self.dir / "runs").glob("*"))

    def argv(self, *words: str) -> list[str]:
        """Return a command line; commands that read files get --root."""
        rooted = [*words] if words[0] in {"grade", "--help"} else [*words, "--root", str(self.root)]
        return [sys.executable, "-m", "harness", *rooted]

    def environment(self) -> dict[str, str]:
        """Return what a user's shell would have."""
        passed = {name: os.environ[name] for name in ("XDG_CACHE_HOME",) if name in os.environ}
        return scrubbed_environment({**passed, "TMPDIR": str(self.tmp), **self.env})

    def type(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end; not under a leash, which would end what is to stay."""
        return subprocess.run(
            self.argv(*words),
            env=self.environment(),
            cwd=self.dir,
            timeout=COMMAND_TIMEOUT_S,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def start(self, *words: str) -> Child:
        """Start a command."""
        return Child(self.argv(*words), env=self.environment(), cwd=self.dir)

    @contextmanager
    def start_bare(self, *words: str) -> Iterator[subprocess.Popen[bytes]]:
        """Start a command that nobody tidies up after when it is killed."""
        with (self.dir / "bare.log").open("ab") as log:
            process = subprocess.Popen(
                self.argv(*words),
                env=self.environment(),
                cwd=self.dir,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def with_task(self, suite: str, task: str, edit: Callable[[str], str]) -> Desk:
        """Return a desk whose root has one task edited and no other in the suite."""
        root = self.dir / "root"
        (root / "tasks").mkdir(parents=True)
        for name in ("tf", "policies", "toolchain"):
            (root / name).symlink_to(ROOT / name)
        shutil.copytree(ROOT / "tasks" / suite, root / "tasks" / suite)
        path = root / "tasks" / suite / task / "task.yaml"
        path.write_text(edit(path.read_text()))
        return Desk(dir=self.dir, root=root, env=self.env)


def wait_for_phase(desk: Desk, phase: str, *, timeout_s: float = 120.0) -> None:
    """Wait until the newest run's journal says that a phase began."""
    wait_for_phases(desk, phase, 1, timeout_s=timeout_s)


def wait_for_phases(
    desk: Desk, phase: str, times: int, *, earlier: int = 0, timeout_s: float = 120.0
) -> None:
    """Wait until the newest run's journal says that a phase began in so many attempts.

    Args:
        desk: Where the run was started.
        phase: Its name.
        times: In how many attempts.
        earlier: How many runs there were before.
        timeout_s: Bound in seconds.
    """

    def begun() -> list[str]:
        if len(desk.runs) <= earlier:
            return []
        lines = read_lines(desk.runs[-1] / "journal.jsonl")
        return [line["phase"] for line in lines if line["event"] == "phase_begins"]

    wait_until(
        begun,
        lambda seen: seen.count(phase) >= times,
        what=f"phase {phase}",
        timeout_s=timeout_s,
    )


def processes_below(folder: Path) -> list[str]:
    """Return the live processes that name a folder in their arguments or work below it."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            place = str((process / "cwd").readlink())
        except OSError:
            continue
        if str(folder) in line or str(folder) in place:
            found.append(f"{process.name}: {line}")
    return found


def lab_namespaces(client: KubeClient) -> list[str]:
    """Return the namespaces of attempts."""
    names = [item["metadata"]["name"] for item in client.list_objects(NAMESPACES)]
    return [name for name in names if name.startswith("lab-")]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(dir=tmp_path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provisioned:
    """A desk with a cluster that stays, and a client to look at it."""

    desk: Desk
    client: KubeClient
    facts: dict[str, Any]


@pytest.fixture(scope="session")
def provisioned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provisioned]:
    desk = Desk(dir=tmp_path_factory.mktemp("desk"))
    try:
        done = desk.type("provision", "--json")
        assert done.returncode == 0, done.stderr
        facts = json.loads(done.stdout)
        client = KubeClient.from_kubeconfig(Path(facts["kubeconfig"]))
        try:
            yield Provisioned(desk=desk, client=client, facts=facts)
        finally:
            client.close()
    finally:
        ended = desk.type("teardown")
    assert ended.returncode == 0, ended.stderr
    assert processes_below(desk.dir) == []
    assert list(desk.tmp.iterdir()) == []
    assert not desk.home.exists()

"""What every part of the benchmark shares: binaries, engine, a scratch folder, how often, a voice.

Found once a run. Refuses to know what is measured. Called by `python -m benchmarks`, handed to
every part.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.cluster.embedded.control_plane import BINARY_NAMES
from harness.cluster.embedded.ephemeral import EphemeralCluster
from harness.cluster.provider import Cluster
from harness.cluster.toolchain import Toolchain, default_cache_dir
from harness.core.scratch import scratch_folder
from harness.terraform.engine import Engine, load_engine

#: The checkout: benchmarks are no part of what is installed.
ROOT = Path(__file__).resolve().parents[1]

#: The root module that parts apply: a namespace with ConfigMaps.
STACK_DIR = Path(__file__).resolve().with_name("stack")

#: Under which Python keeps no compiled modules.
_NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Workbench:
    """What a part works with.

    Attributes:
        toolchain: Binaries, found or built.
        engine: Terraform or OpenTofu, with a mirror that has the Kubernetes provider.
        cache_dir: Where built programs are kept.
        scratch_dir: Folder of this run alone.
        repeats: How often each side of a comparison is measured.
        say: Told about progress, a line at a time.
    """

    toolchain: Toolchain
    engine: Engine
    cache_dir: Path
    scratch_dir: Path
    repeats: int
    say: Callable[[str], None]

    def folder(self, name: str) -> Path:
        """Return a new folder below the scratch folder."""
        path = self.scratch_dir / name
        path.mkdir(parents=True)
        return path

    def control_plane_binaries(self) -> Path:
        """Return a folder with links to the binaries of a control plane. Idempotent."""
        folder = self.scratch_dir / "control-plane"
        if not folder.is_dir():
            folder.mkdir()
            for name, path in self.toolchain.ensure(BINARY_NAMES).items():
                (folder / name).symlink_to(path)
        return folder

    def python_environment(self, extra: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of our own programs, with `extra` on top.

        Compiled modules are kept for the run, as they are where the package is installed, whatever
        the caller's environment says; a first call is needed before one that is measured.
        """
        kept = {name: text for name, text in os.environ.items() if name != _NO_BYTECODE}
        return {**kept, "PYTHONPYCACHEPREFIX": str(self.scratch_dir / "pycache"), **extra}

    @contextmanager
    def cluster(self, name: str) -> Iterator[Cluster]:
        """Give a control plane without a laboratory; enter it on the main thread."""
        self.say(f"{name}: starting an embedded cluster")
        binaries = self.toolchain.ensure(BINARY_NAMES)
        home = self.folder(f"{name}-home")
        with EphemeralCluster(home, binaries=binaries, webhook_argv=None) as cluster:
            yield cluster


@contextmanager
def open_workbench(*, repeats: int, say: Callable[[str], None]) -> Iterator[Workbench]:
    """Give a workbench; its scratch folder is gone after the block.

    Raises:
        PrerequisiteError: A binary is nowhere and cannot be built.
    """
    cache_dir = default_cache_dir(os.environ)
    toolchain = Toolchain(root=ROOT, cache_dir=cache_dir, environ=os.environ, progress=say)
    engine = load_engine(toolchain.ensure_terraform(), plugin_mirror=toolchain.provider_mirror())
    with scratch_folder("bench") as scratch_dir:
        yield Workbench(
            toolchain=toolchain,
            engine=engine,
            cache_dir=cache_dir,
            scratch_dir=scratch_dir,
            repeats=repeats,
            say=say,
        )

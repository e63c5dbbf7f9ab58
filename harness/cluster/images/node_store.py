"""Put images into a containerd store that has not been run yet, so that a node begins with them.

Owns a containerd that serves nobody else: its folders and its socket are ours, it mounts nothing
and starts no container. Refuses to know which images. Called by the node image.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.cluster.images.layer import Copied, Entry
from harness.core.process import Child, run, scrubbed_environment
from harness.core.scratch import scratch_folder
from harness.core.waiting import wait_until
from harness.errors import PrerequisiteError

#: Namespace of containerd in which the kubelet looks.
_NAMESPACE = "k8s.io"

#: Where containerd keeps its store in a node.
_STORE = "/var/lib/containerd"

#: The two parts of a store that hold images; the rest is about containers.
_KEPT = ("io.containerd.content.v1.content/blobs", "io.containerd.metadata.v1.bolt/meta.db")

#: Longest start, in seconds; it takes 0.3 s here.
_START_TIMEOUT_S = 60.0

#: Longest import of one image, in seconds. The largest, of 90 MB, takes 1 s here.
_IMPORT_TIMEOUT_S = 300.0

#: Characters of a log that an error carries.
_TAIL_CHARS = 1500

#: Plug-ins that run containers, or touch the host to find out whether they could.
_DISABLED = (
    *("io.containerd.grpc.v1.cri", "io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime"),
    *("io.containerd.snapshotter.v1.blockfile", "io.containerd.snapshotter.v1.btrfs"),
    *("io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"),
    *("io.containerd.snapshotter.v1.overlayfs", "io.containerd.snapshotter.v1.erofs"),
    *("io.containerd.nri.v1.nri", "io.containerd.internal.v1.opt"),
    *("io.containerd.internal.v1.tracing", "io.containerd.tracing.processor.v1.otlp"),
)


def containerd_settings(*, store_dir: Path, state_dir: Path) -> str:
    """Return the configuration of a containerd that only takes images in. Pure."""
    disabled = ", ".join(f'"{name}"' for name in _DISABLED)
    return (
        "version = 3\n"
        f'root = "{store_dir}"\n'
        f'state = "{state_dir}/state"\n'
        f"disabled_plugins = [{disabled}]\n"
        "[grpc]\n"
        f'  address = "{_socket(state_dir)}"\n'
        "[ttrpc]\n"
        f'  address = "{state_dir}/t"\n'
    )


def fill_store(store_dir: Path, archives: Sequence[Path], *, binaries: Mapping[str, Path]) -> None:
    """Import archives into a store at `store_dir`; containerd has ended when this returns.

    Args:
        store_dir: Folder of the store; made when it is not there.
        archives: Docker-archives.
        binaries: Name to file; `containerd` and `ctr`.

    Raises:
        PrerequisiteError: containerd did not start, or refused an archive.
    """
    env = scrubbed_environment({})
    # A folder of its own for the socket: its whole path may have 107 characters and no more.
    with scratch_folder("containerd") as state_dir:
        config = state_dir / "config.toml"
        config.write_text(containerd_settings(store_dir=store_dir, state_dir=state_dir))
        log = state_dir / "log"
        client = [str(binaries["ctr"]), "--address", _socket(state_dir), "--namespace", _NAMESPACE]
        daemon = [str(binaries["containerd"]), "--config", str(config)]
        with Child(daemon, env=env, stdout_path=log, stderr_path=log) as child:
            wait_until(
                lambda: _serves(client, child, env=env, log=log),
                bool,
                what="containerd for the images of the node",
                timeout_s=_START_TIMEOUT_S,
            )
            for archive in archives:
                # Not unpacked: a node's own file system decides how, when it starts one.
                ended = run(
                    [*client, *("images", "import", "--local", "--no-unpack"), str(archive)],
                    env=env,
                    timeout_s=_IMPORT_TIMEOUT_S,
                )
                if ended.returncode != 0:
                    found = (ended.stderr + ended.stdout)[-_TAIL_CHARS:].strip()
                    msg = f"ctr exited {ended.returncode} on {archive.name}: {found}"
                    raise PrerequisiteError(msg, hint="free some disk, and try again")
            child.end()


def store_entries(store_dir: Path) -> list[Entry]:
    """Return what of a store goes into an image. Pure."""
    return [Copied(source=store_dir / part, destination=f"{_STORE}/{part}") for part in _KEPT]


def _socket(state_dir: Path) -> str:
    return f"{state_dir}/s"


def _serves(client: Sequence[str], child: Child, *, env: Mapping[str, str], log: Path) -> bool:
    if not child.running:
        tail = log.read_text(errors="replace")[-_TAIL_CHARS:].strip()
        msg = f"containerd for the images of the node ended: {tail}"
        raise PrerequisiteError(msg, hint="mend what the last line names, and try again")
    return run([*client, "version"], env=env, timeout_s=_START_TIMEOUT_S).returncode == 0

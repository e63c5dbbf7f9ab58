"""Put a node image together from its parts: Debian, the programs, kind's files, and their images.

Owns the order of the steps. No container engine is needed, and nothing is mounted or chrooted into,
so there is nothing to undo but one folder. Called by the node image.
"""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path

from harness.cluster.images import node_components, node_files
from harness.cluster.images.archive import ImageConfig, write_archive
from harness.cluster.images.debian import ensure_rootfs, rootfs_path
from harness.cluster.images.layer import write_layer
from harness.cluster.images.long_commands import Progress
from harness.cluster.images.node_store import fill_store, store_entries
from harness.cluster.toolchain import Toolchain
from harness.core.process import run, scrubbed_environment
from harness.core.waiting import SYSTEM_CLOCK
from harness.errors import PrerequisiteError

#: Groups of toolchain/ whose programs or files are in it.
GROUPS = ("container-runtime", "control-plane", "coredns", "kind", "node")

#: How kind starts a node: systemd, which is told by `container` that it is in one, and which ends
#: on SIGRTMIN+3 and not on SIGTERM.
_NODE_CONFIG = ImageConfig(
    entrypoint=("/usr/local/bin/entrypoint", "/sbin/init"),
    environment={"container": "docker"},
    stop_signal="SIGRTMIN+3",
)

#: Seconds for a command that answers at once.
_ASK_TIMEOUT_S = 60.0


def rootfs_paths(cache_dir: Path) -> tuple[Path, Path]:
    """Return where the two root file systems are kept: of the node and of kube-proxy. Pure."""
    return (
        rootfs_path("node", node_files.DEBIAN_PACKAGES, cache_dir, variant="minbase"),
        rootfs_path("proxy", node_components.PROXY_PACKAGES, cache_dir, variant="extract"),
    )


def build_node_archive(
    archive: Path,
    *,
    reference: str,
    scratch: Path,
    toolchain: Toolchain,
    progress: Progress,
) -> None:
    """Put a node image together at `archive`, whole or not at all.

    Args:
        archive: File to write; root file systems are kept beside it.
        reference: Name and tag of the image.
        scratch: Folder, on the same file system, for what is needed on the way.
        toolchain: Gives the programs.
        progress: Told what was done.

    Raises:
        PrerequisiteError: A part cannot be had or built.
    """
    cache_dir = archive.parent
    debian = ensure_rootfs("node", node_files.DEBIAN_PACKAGES, cache_dir, progress)
    proxy = ensure_rootfs(
        "proxy", node_components.PROXY_PACKAGES, cache_dir, progress, variant="extract"
    )
    binaries = {
        path.name: path
        for folder in map(toolchain.ensure_group, GROUPS)
        for path in folder.iterdir()
    }
    kubernetes = f"v{toolchain.pinned('kubelet')}"
    references = node_components.component_references(
        run(
            [
                *(str(binaries["kubeadm"]), "config", "images", "list"),
                *("--kubernetes-version", kubernetes),
            ],
            env=scrubbed_environment({"HOME": str(scratch)}),
            timeout_s=_ASK_TIMEOUT_S,
        )
    )
    node_components.require_coredns(references["coredns"], pinned=str(toolchain.pinned("coredns")))
    step = _Steps(progress)
    components = node_components.write_components(
        scratch / "components", references=references, binaries=binaries, proxy_rootfs=proxy
    )
    step("wrote the images of the node's own pods")
    fill_store(scratch / "store", components, binaries=binaries)
    shutil.rmtree(scratch / "components")
    step("imported them into the node's containerd")
    entries = node_files.node_entries(
        base_dir=toolchain.module_dir("kind", "sigs.k8s.io/kind") / "images" / "base" / "files",
        binaries=binaries,
        oci_spec=_oci_spec(binaries["ctr"]),
        debian_names=_names(debian),
        pause_reference=references["pause"],
        kubernetes=kubernetes,
    )
    layer = scratch / "node.tar"
    write_layer(layer, [*entries, *store_entries(scratch / "store")])
    shutil.rmtree(scratch / "store")
    # Written beside the rest, so that a build that is killed leaves one folder and no more.
    whole = scratch / archive.name
    write_archive(whole, reference=reference, layers=[debian, layer], config=_NODE_CONFIG)
    whole.replace(archive)
    step("wrote the node's archive")


class _Steps:
    """Says what was done and how long it took since the step before."""

    def __init__(self, progress: Callable[[str], None]) -> None:
        self._progress = progress
        self._since_s = SYSTEM_CLOCK.monotonic_s()

    def __call__(self, done: str) -> None:
        now_s = SYSTEM_CLOCK.monotonic_s()
        self._progress(f"{done} in {now_s - self._since_s:.0f} s")
        self._since_s = now_s


def _oci_spec(ctr: Path) -> Mapping[str, object]:
    ended = run([str(ctr), "oci", "spec"], env=scrubbed_environment({}), timeout_s=_ASK_TIMEOUT_S)
    try:
        spec: Mapping[str, object] = json.loads(ended.stdout)
    except ValueError as error:
        msg = f"ctr oci spec exited {ended.returncode}: {ended.stderr[-400:].strip()}"
        raise PrerequisiteError(msg, hint="remove the toolchain's cache and try again") from error
    return spec


def _names(tar: Path) -> list[str]:
    with tarfile.open(tar) as members:
        return members.getnames()

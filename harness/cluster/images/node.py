"""The node image for kind, where none can be pulled: built from Go modules and Debian packages.

Owns what decides its content, and so its name, and how many are kept; refuses to know how one is
put together. Called by `strandline image node` and by the kind provider, which loads the archive.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.cluster.images import node_files
from harness.cluster.images.debian import (
    SUITE,
    TOOLS,
    require_root,
    require_tools,
)
from harness.cluster.images.long_commands import Progress
from harness.cluster.images.node_build import GROUPS, build_node_archive, rootfs_paths
from harness.cluster.images.places import remove_abandoned, remove_outdated
from harness.cluster.locks import locked
from harness.cluster.toolchain import Toolchain
from harness.core.files import canonical_json, read_json, sha256_hex, write_json
from harness.core.scratch import make_scratch, remove_scratch
from harness.core.waiting import SYSTEM_CLOCK

#: Counts changes of how an image is put together that no list of inputs shows. Raise it with one.
_RECIPE = 1

#: Name of the image, without registry: it is loaded, and never pulled or pushed.
_NAME = "localhost/strandline-node"

#: Longest build, in seconds: 14 to 16 min with empty caches on two cores, and a margin.
_BUILD_TIMEOUT_S = 3600.0

#: How many archives are kept; each has 1 GB. The one before is what another checkout may use.
_KEPT_ARCHIVES = 2

#: Binary whose pin is the version of a part, by the name of the part.
_PARTS: Mapping[str, str] = {
    "kubernetes": "kubelet",
    "etcd": "etcd",
    "containerd": "containerd",
    "crictl": "crictl",
    "cni-plugins": "ptp",
    "coredns": "coredns",
    "kind": "kind",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeImage:
    """A node image in the cache.

    Attributes:
        reference: Name and tag under which an engine has it after loading the archive.
        archive: A docker-archive.
        versions: Part to version, for example `kubernetes` to `1.37.2`.
    """

    reference: str
    archive: Path
    versions: Mapping[str, str]


def find_node_image(toolchain: Toolchain, cache_dir: Path) -> NodeImage | None:
    """Return the image that a build would make now, if it is in the cache. Builds nothing."""
    archive, record = _paths(toolchain, cache_dir)
    if not (archive.is_file() and record.is_file()):
        return None
    document = read_json(record)
    return NodeImage(
        reference=document["reference"], archive=archive, versions=document["versions"]
    )


def ensure_node_image(
    toolchain: Toolchain, cache_dir: Path, progress: Progress, *, user_id: int | None = None
) -> NodeImage:
    """Return the image; build it when it is not in the cache. Idempotent, atomic, done once.

    Args:
        toolchain: Gives the programs.
        cache_dir: Folder of image archives; see `default_images_dir`.
        progress: Told what goes on, at least every 10 s.
        user_id: Who we are; the default asks the kernel.

    Raises:
        PrerequisiteError: Not root, a program is missing, or a part cannot be had or built.
    """
    found = find_node_image(toolchain, cache_dir)
    if found:
        return found
    require_root(os.geteuid() if user_id is None else user_id, what="the node image")
    require_tools(TOOLS)
    archive, record = _paths(toolchain, cache_dir)
    lock = archive.with_suffix(".lock")
    with locked(lock, what="the node image", timeout_s=_BUILD_TIMEOUT_S, progress=progress):
        found = find_node_image(toolchain, cache_dir)
        if found:
            return found
        remove_abandoned(cache_dir)
        began_s = SYSTEM_CLOCK.monotonic_s()
        versions = _versions(toolchain)
        reference = f"{_NAME}:{archive.stem.removeprefix('node-')}"
        scratch = make_scratch("node", parent_dir=cache_dir)
        try:
            build_node_archive(
                archive,
                reference=reference,
                scratch=scratch,
                toolchain=toolchain,
                progress=progress,
            )
        finally:
            remove_scratch(scratch)
        write_json(record, {"reference": reference, "versions": versions})
        remove_outdated(cache_dir, "node-*.tar", keep=archive, count=_KEPT_ARCHIVES)
        took_s = SYSTEM_CLOCK.monotonic_s() - began_s
        progress(f"built {reference} in {took_s:.0f} s, {archive.stat().st_size / 1e6:.0f} MB")
    return NodeImage(reference=reference, archive=archive, versions=versions)


def image_key(toolchain: Toolchain, cache_dir: Path) -> str:
    """Return what the content is decided by, as 12 hexadecimal digits. Pure but for toolchain/."""
    parts = [
        _RECIPE,
        [toolchain.group_key(group) for group in GROUPS],
        [path.name for path in rootfs_paths(cache_dir)],
        node_files.fingerprint(),
    ]
    return sha256_hex(canonical_json(parts))[:12]


def _paths(toolchain: Toolchain, cache_dir: Path) -> tuple[Path, Path]:
    version = toolchain.pinned("kubelet")
    archive = cache_dir / f"node-{version}-{image_key(toolchain, cache_dir)}.tar"
    return archive, archive.with_suffix(".json")


def _versions(toolchain: Toolchain) -> dict[str, str]:
    pins = {part: str(toolchain.pinned(binary)) for part, binary in _PARTS.items()}
    return {**pins, "debian": SUITE}

"""Which image a node is made from, and that the engine has it.

Called by the start of a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from harness.cluster.images.node import find_node_image
from harness.cluster.kind.containers import has_image
from harness.cluster.kind.engine import Engine
from harness.cluster.toolchain import Toolchain
from harness.errors import ClusterError

#: Environment variable that names the node image to use.
NODE_IMAGE_VARIABLE = "STRANDLINE_NODE_IMAGE"

#: Seconds to load an archive of 1 GB; it takes 11 to 20 s.
_LOAD_TIMEOUT_S = 300.0


class ArchivedImage(Protocol):
    """An image that we built, in a file."""

    @property
    def reference(self) -> str:
        """Its name."""
        ...

    @property
    def archive(self) -> Path:
        """The file."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSource:
    """Where a node comes from.

    Attributes:
        reference: The image; None means the one that kind itself would take.
        archive: A file that has it; None where the engine must have it, or pull it.
    """

    reference: str | None
    archive: Path | None = None


def choose_node_image(
    environ: Mapping[str, str], *, toolchain: Toolchain, cache_dir: Path
) -> NodeSource:
    """Return the image that the user names, else the one that was built here, else kind's own."""
    if named := environ.get(NODE_IMAGE_VARIABLE):
        return NodeSource(reference=named)
    built = find_node_image(toolchain, cache_dir)
    if built:
        return NodeSource(reference=built.reference, archive=built.archive)
    return NodeSource(reference=None)


def ensure_in_engine(engine: Engine, source: NodeSource, progress: Callable[[str], None]) -> None:
    """Load the archive of a node image unless the engine has the image. Idempotent.

    Raises:
        ClusterError: The archive was not taken, or holds another image.
    """
    if source.archive is None or source.reference is None or has_image(engine, source.reference):
        return
    progress(f"loading the node image into {engine.name}")
    engine.call("load", "--input", str(source.archive), timeout_s=_LOAD_TIMEOUT_S)
    if not has_image(engine, source.reference):
        msg = f"{source.archive}: no image {source.reference} in it"
        raise ClusterError(msg, hint="remove the file and run make node-image")

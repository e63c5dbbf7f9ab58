"""What killed runs left of kind clusters, on this machine and in its engine, and its end.

Ours by name alone is never enough for a container of another home: its folder must be gone, or its
owner dead, and it must be old. Called by the provider's `abandoned` and `reap`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from harness.cluster.kind.cluster import end_cluster
from harness.cluster.kind.containers import (
    node_containers,
    orphaned_volumes,
    our_images,
    remove_node,
    remove_volumes,
)
from harness.cluster.kind.engine import Engine
from harness.cluster.kind.host_settings import HostSettings
from harness.cluster.kind.state import NodeContainer, answered_for, node_name, state_dirs
from harness.core.waiting import SYSTEM_CLOCK
from harness.errors import TeardownError


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftovers:
    """What nobody alive answers for.

    Attributes:
        state_dirs: Folders of clusters of this home.
        nodes: Names of containers of other homes, or of a home that is gone.
        volumes: Names of nodes that are gone but for a volume.
        images: References of images of ours that no archive stands for any more.
        host: Whether settings of the machine wait to be put back.
    """

    state_dirs: tuple[Path, ...] = ()
    nodes: tuple[str, ...] = ()
    volumes: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    host: bool = False

    def lines(self) -> tuple[str, ...]:
        """Return one line for each. Pure."""
        return (
            *(f"kind cluster {folder.name}" for folder in self.state_dirs),
            *(f"node container {name}" for name in self.nodes),
            *(f"volume of the node {name}" for name in self.volumes),
            *(f"image {reference}" for reference in self.images),
            *(["settings of this machine that nodes changed"] if self.host else []),
        )


def find_leftovers(
    home: Path,
    engine: Engine,
    host: HostSettings,
    *,
    older_than_s: float,
    images_dir: Path,
    kept_images: Collection[str],
    now: datetime | None = None,
) -> Leftovers:
    """Look; change nothing.

    Args:
        home: Folder of the harness's state.
        engine: Where containers are.
        host: Settings of the machine.
        older_than_s: Age in seconds from which what has no folder in this home counts.
        images_dir: Where the archives of our images are.
        kept_images: References that somebody named.
        now: The time; None is the machine's.
    """
    nodes = node_containers(engine)
    running = {node.name for node in nodes if node.running}
    ours = state_dirs(home)
    before = (now or SYSTEM_CLOCK.now()) - timedelta(seconds=older_than_s)
    archives = [path.name for path in images_dir.iterdir()] if images_dir.is_dir() else []
    return Leftovers(
        state_dirs=tuple(
            folder
            for folder in ours
            if not answered_for(folder, running=node_name(folder.name) in running)
        ),
        nodes=tuple(
            node.name
            for node in nodes
            if node.state_dir not in ours and _nobodys(node, before=before)
        ),
        volumes=orphaned_volumes(
            engine,
            [*(node.name for node in nodes), *(node_name(folder.name) for folder in ours)],
            before=before,
        ),
        images=tuple(
            reference
            for reference in stale_images(our_images(engine), archives)
            if reference not in kept_images
        ),
        host=host.pending(),
    )


def take_down(leftovers: Leftovers, engine: Engine, host: HostSettings) -> None:
    """Remove everything, whatever happens to one of them. Idempotent.

    Raises:
        TeardownError: Something is still there.
    """
    left: list[str] = []
    for folder in leftovers.state_dirs:
        try:
            end_cluster(folder, engine, host)
        except TeardownError as error:
            left += error.leftovers
    for name in leftovers.nodes:
        left += remove_node(engine, name)
    for name in leftovers.volumes:
        left += remove_volumes(engine, name)
    for reference in leftovers.images:
        engine.ask("image", "rm", reference)  # refused while a container of anybody's needs it
    host.restore(engine)
    if left:
        raise TeardownError(tuple(left), hint=f"remove it with {engine.name}")


def stale_images(references: Sequence[str], archive_names: Sequence[str]) -> tuple[str, ...]:
    """Return the images of which there are archives, and none with their tag, in their order. Pure.

    Their age says nothing: an image of ours is made at no time, so that equal ones are equal. A
    folder that has no archive of an image knows nothing of it: another one may have made it.
    """

    def stale(reference: str) -> bool:
        name, _, tag = reference.rpartition(":")
        kind = name.rpartition("-")[2]
        known = [one for one in archive_names if one.startswith(f"{kind}-")]
        return bool(known) and not any(tag in one for one in known)

    return tuple(reference for reference in references if stale(reference))


def _nobodys(node: NodeContainer, *, before: datetime) -> bool:
    if node.created_at > before:
        return False
    folder = node.state_dir
    return folder is None or not folder.is_dir() or not answered_for(folder, running=node.running)

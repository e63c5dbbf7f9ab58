"""Node containers, their volumes and our images in an engine: listed and removed.

Everything here goes by our names alone. Called by the end of a cluster and by a sweep.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from harness.cluster.kind.config import AUDIT_DIR
from harness.cluster.kind.engine import Engine, last_line
from harness.cluster.kind.monitors import end_unknown
from harness.cluster.kind.state import NODE_NAME, PREFIX, NodeContainer

#: Seconds to end and remove a node at once; Docker on a busy machine needs 15.
_REMOVE_TIMEOUT_S = 120.0

#: Repositories of the images that we build.
_REPOSITORIES = ("localhost/strandline-lab", "localhost/strandline-node")


def node_containers(engine: Engine) -> tuple[NodeContainer, ...]:
    """Return the node containers of ours, whatever their state, sorted by name."""
    listing = ["ps", "--all", "--filter", f"name={PREFIX}", "--format", "{{.Names}}"]
    names = sorted(name for name in engine.call(*listing).split() if NODE_NAME.match(name))
    if not names:
        return ()
    # One may be removed in between; the engine still describes the others.
    described = json.loads(engine.ask("container", "inspect", *names).stdout or "[]")
    return tuple(_container(item) for item in described)


def remove_node(engine: Engine, name: str) -> tuple[str, ...]:
    """End a node at once and remove it with its volumes; return what is still there. Idempotent."""
    # podman waits 10 s for a shutdown that nobody needs; Docker kills at once, and has no such
    # argument.
    at_once = ("--time", "0") if engine.name == "podman" else ()
    removed = engine.ask("rm", "--force", "--volumes", *at_once, name, timeout_s=_REMOVE_TIMEOUT_S)
    for volume in _volumes(engine, name):
        engine.ask("volume", "rm", "--force", volume)
    left = [f"node container {name}: {last_line(removed.stderr)}"] if _there(engine, name) else []
    left += end_unknown(name)
    return (*left, *(f"volume {volume} of {name}" for volume in _volumes(engine, name)))


def orphaned_volumes(engine: Engine, known: Sequence[str], *, before: datetime) -> tuple[str, ...]:
    """Return the nodes, other than `known`, of which only old volumes are left, sorted.

    Young ones count for nothing: kind makes a node's volume before the node.
    """
    listed = engine.call("volume", "ls", "--format", "{{json .Labels}}")
    owners = {name for line in listed.splitlines() for name in _labels(line)}
    unknown = sorted(name for name in owners if NODE_NAME.match(name) and name not in known)
    return tuple(
        name
        for name in unknown
        if not _there(engine, name)
        and all(_made_at(engine, volume) < before for volume in _volumes(engine, name))
    )


def remove_volumes(engine: Engine, node: str) -> tuple[str, ...]:
    """Remove the volumes of a node that is gone; return what is still there. Idempotent.

    A volume that a container uses stays: the engine refuses.
    """
    for volume in _volumes(engine, node):
        engine.ask("volume", "rm", volume)
    return tuple(f"volume {volume} of {node}" for volume in _volumes(engine, node))


def our_images(engine: Engine) -> tuple[str, ...]:
    """Return the references of the images of ours, sorted."""
    listed = engine.call("images", "--format", "{{.Repository}}:{{.Tag}}").split()
    return tuple(sorted(name for name in listed if name.rpartition(":")[0] in _REPOSITORIES))


def has_image(engine: Engine, reference: str) -> bool:
    """Tell whether an image is there."""
    return engine.ask("image", "inspect", reference).returncode == 0


def _container(item: dict[str, Any]) -> NodeContainer:
    sources = [
        Path(mount["Source"]) for mount in item["Mounts"] if mount["Destination"] == str(AUDIT_DIR)
    ]
    return NodeContainer(
        name=item["Name"].removeprefix("/"),
        created_at=_time(item["Created"]),
        running=item["State"]["Running"],
        state_dir=sources[0].parent if sources else None,
    )


def _time(text: str) -> datetime:
    # Engines give nanoseconds, which Python 3.11 reads and cuts.
    return datetime.fromisoformat(text)


def _there(engine: Engine, name: str) -> bool:
    return engine.ask("container", "inspect", name).returncode == 0


def _volumes(engine: Engine, node: str) -> list[str]:
    # kind labels the volume that it makes for podman with the node's name; Docker's is anonymous
    # and goes with the container.
    return engine.ask("volume", "ls", "--quiet", "--filter", f"label={node}").stdout.split()


def _made_at(engine: Engine, volume: str) -> datetime:
    described = json.loads(engine.call("volume", "inspect", volume))
    return _time(described[0]["CreatedAt"])


def _labels(line: str) -> list[str]:
    """Return the keys of a volume's labels: podman prints an object, Docker `a=1,b=2`. Pure."""
    value = json.loads(line)
    if isinstance(value, dict):
        return list(value)
    return [pair.partition("=")[0] for pair in str(value or "").split(",")]

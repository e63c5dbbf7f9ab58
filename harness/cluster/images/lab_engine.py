"""Build the lab image by Docker or podman, where they can pull a base image.

Owns the two commands and the context's Containerfile; refuses to know how the engine was found.
Called by whoever makes the image.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from harness.cluster.images.lab_library import library_key
from harness.cluster.images.long_commands import Progress

_CONTAINERFILE = Path(__file__).with_name("Containerfile")

#: Seconds to pull a base image of 50 MB on a slow line, and to copy and compile.
_BUILD_TIMEOUT_S = 900.0

#: Seconds to write an archive of 200 MB.
_SAVE_TIMEOUT_S = 120.0


class ImageEngine(Protocol):
    """Docker or podman."""

    def call(self, *args: str, timeout_s: float) -> str:
        """Run it with arguments; return what it printed, or raise ClusterError."""
        ...


def engine_tag(parts: Sequence[bytes], base: str | None) -> str:
    """Return the tag of what an engine would build. Pure but for the Containerfile.

    Args:
        parts: What decides the library.
        base: Base image; None means the Containerfile's own.
    """
    return library_key([*parts, _CONTAINERFILE.read_bytes(), (base or "").encode()])


def build_by_engine(
    engine: ImageEngine,
    context_dir: Path,
    reference: str,
    archive: Path,
    *,
    base: str | None,
    progress: Progress,
) -> None:
    """Build the image and save it to `archive`, whole or not at all.

    Args:
        engine: What builds.
        context_dir: Folder with `lib/`.
        reference: Name and tag.
        archive: File to write.
        base: Base image; None means the Containerfile's own.
        progress: Told what goes on.

    Raises:
        ClusterError: The base image cannot be pulled, or the build failed.
    """
    containerfile = context_dir.with_suffix(".containerfile")
    shutil.copyfile(_CONTAINERFILE, containerfile)
    chosen = ["--build-arg", f"BASE={base}"] if base else []
    progress(f"building {reference} by the Containerfile")
    engine.call(
        *("build", *chosen, "--tag", reference, "--file", str(containerfile), str(context_dir)),
        timeout_s=_BUILD_TIMEOUT_S,
    )
    saved = context_dir.with_suffix(".tar")
    engine.call("save", "--output", str(saved), reference, timeout_s=_SAVE_TIMEOUT_S)
    saved.replace(archive)

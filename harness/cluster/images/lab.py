"""The image of the laboratory's services: Python, what they import, and our rooms, in three layers.

Owns the image's name, how it is started and which layers are made again; a change of one line makes
only the last one anew. Called by the kind provider and by the command line.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.cluster.images.archive import ImageConfig, write_archive
from harness.cluster.images.lab_base import (
    USER_ID,
    base_key,
    base_path,
    compile_library,
    ensure_base,
    unpack,
)
from harness.cluster.images.lab_engine import ImageEngine, build_by_engine, engine_tag
from harness.cluster.images.lab_library import (
    fetch,
    harness_files,
    installed_requirements,
    library_key,
    write_harness,
)
from harness.cluster.images.layer import Copied, write_layer
from harness.cluster.images.long_commands import Progress
from harness.cluster.images.places import remove_abandoned
from harness.cluster.locks import locked
from harness.cluster.toolchain.go import installers
from harness.core.files import canonical_json
from harness.core.scratch import make_scratch, remove_scratch
from harness.core.waiting import SYSTEM_CLOCK

#: Name of the image, with no registry's host: it is never pulled.
REPOSITORY = "localhost/strandline-lab"

#: Where the packages are in the image.
LIBRARY = "/opt/strandline/lib"

CONFIG = ImageConfig(
    entrypoint=("/usr/bin/python3", "-m", "harness.lab"),
    user=f"{USER_ID}:{USER_ID}",
    environment={"PYTHONPATH": LIBRARY, "PYTHONDONTWRITEBYTECODE": "1", "HOME": "/"},
)

#: Archives and layers of a kind that are kept: going back and forth between two branches must not
#: make them again, and 100 MB each is enough to clean up after.
_KEPT = 3

#: Seconds that another process may take to make the image, downloads included.
_BUILD_TIMEOUT_S = 1800.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LabImage:
    """An image that is ready to be loaded.

    Attributes:
        reference: Name and tag; the tag is a digest over everything in it.
        archive: The file that an engine, or kind, loads.
    """

    reference: str
    archive: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What the image will hold."""

    cache_dir: Path
    requirements: str
    files: Mapping[str, bytes]

    @property
    def library_path(self) -> Path:
        parts = [self.requirements.encode(), base_key(self.cache_dir).encode()]
        return self.cache_dir / f"lab-library-{library_key(parts)}.tar"

    @property
    def code(self) -> bytes:
        return "".join(
            f"{name} {library_key([data])}\n" for name, data in self.files.items()
        ).encode()

    @property
    def tag(self) -> str:
        """First 12 digits of a digest over everything that decides the content."""
        config = canonical_json([CONFIG.entrypoint, CONFIG.user, dict(CONFIG.environment), LIBRARY])
        return library_key([self.library_path.name.encode(), self.code, config])


def ensure_lab_image(
    cache_dir: Path,
    progress: Progress,
    *,
    environ: Mapping[str, str] = os.environ,
    engine: ImageEngine | None = None,
    base: str | None = None,
) -> LabImage:
    """Return the image; make it when it is not kept yet. Idempotent, atomic, and done once.

    Args:
        cache_dir: Folder of image archives; see `default_images_dir`.
        progress: Told what goes on, in one line each.
        environ: The caller's environment.
        engine: Build with this engine from a base image, instead of from Debian packages.
        base: Base image for the engine; None means the Containerfile's own.

    Raises:
        PrerequisiteError: Packages, rights or programs are missing.
        ClusterError: The engine could not build.
    """
    cache_dir.mkdir(parents=True, exist_ok=True)
    plan = _Plan(cache_dir=cache_dir, requirements=installed_requirements(), files=harness_files())
    tag = engine_tag([plan.requirements.encode(), plan.code], base) if engine else plan.tag
    image = LabImage(reference=f"{REPOSITORY}:{tag}", archive=cache_dir / f"lab-{tag}.tar")
    lock = cache_dir / "lab.lock"
    with locked(lock, what="the lab image", timeout_s=_BUILD_TIMEOUT_S, progress=progress):
        if not image.archive.is_file():
            remove_abandoned(cache_dir)
            began_s = SYSTEM_CLOCK.monotonic_s()
            _make(plan, image, progress, environ=environ, engine=engine, base=base)
            took_s = SYSTEM_CLOCK.monotonic_s() - began_s
            size_mb = image.archive.stat().st_size / 1e6
            progress(f"made {image.reference} in {took_s:.1f} s, {size_mb:.0f} MB")
        used = (image.archive, base_path(cache_dir), plan.library_path)
        for path in used:
            if path.is_file():
                os.utime(path)  # what is used last is removed last
        for path in outdated(sorted(cache_dir.glob("lab-*.tar"))):
            path.unlink()
    return image


def outdated(paths: Sequence[Path]) -> list[Path]:
    """Return what to remove: of images, bases and libraries each all but those used last."""
    kinds: dict[str, list[Path]] = {}
    for path in paths:
        kinds.setdefault(path.name.rpartition("-")[0], []).append(path)
    old: list[Path] = []
    for found in kinds.values():
        old += sorted(found, key=lambda path: path.stat().st_mtime_ns, reverse=True)[_KEPT:]
    return sorted(old)


def _make(
    plan: _Plan,
    image: LabImage,
    progress: Progress,
    *,
    environ: Mapping[str, str],
    engine: ImageEngine | None,
    base: str | None,
) -> None:
    scratch = make_scratch("lab", parent_dir=plan.cache_dir)
    try:
        if engine:
            library = scratch / "context" / "lib"
            library.parent.mkdir()
            _fetch(plan, library, environ, progress)
            write_harness(plan.files, library)
            build_by_engine(
                engine, library.parent, image.reference, image.archive, base=base, progress=progress
            )
            return
        lowest = ensure_base(plan.cache_dir, progress)
        root = scratch / "root"
        unpack(lowest, root)
        if not plan.library_path.is_file():
            library = scratch / "library"
            _fetch(plan, library, environ, progress)
            _write_compiled(root, library, plan.library_path, progress)
        ours = scratch / "harness"
        write_harness(plan.files, ours)
        _write_compiled(root, ours, scratch / "harness.tar", progress)
        write_archive(
            image.archive,
            reference=image.reference,
            layers=[lowest, plan.library_path, scratch / "harness.tar"],
            config=CONFIG,
        )
    finally:
        remove_scratch(scratch)


def _fetch(plan: _Plan, folder: Path, environ: Mapping[str, str], progress: Progress) -> None:
    commands = installers(environ)
    fetch(plan.requirements, folder, installers=commands, environ=environ, progress=progress)


def _write_compiled(root: Path, folder: Path, path: Path, progress: Progress) -> None:
    compile_library(root, folder, shown_as=LIBRARY, progress=progress)
    made = folder.with_suffix(".layer")
    write_layer(made, [Copied(source=folder, destination=LIBRARY)])
    made.replace(path)

"""Write a container image as a docker-archive: what `docker load`, `podman load` and kind take.

Owns the format, so that building an image needs no container engine. Refuses to know what an image
is for. Called by whoever makes an image.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from harness.cluster.images.layer import FORMAT, Entry, write_layer
from harness.cluster.toolchain.binaries import go_platform
from harness.core.files import PUBLIC_MODE, canonical_json

#: Search path of a program in an image that says nothing else; Docker's own default.
DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

#: When every image was made, so that the same content is the same image. Some tools refuse the
#: year 1970.
_CREATED = "2020-01-01T00:00:00Z"

#: A tar file that is a layer as it is (uncompressed), or what to put into one.
Layer: TypeAlias = Path | Sequence[Entry]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageConfig:
    """How a container of the image is started.

    Attributes:
        entrypoint: Program and first arguments.
        command: Further arguments, which a user may replace.
        user: `UID` or `UID:GID`; empty means root.
        environment: Variables; PATH has a default.
        working_dir: Working directory; empty means `/`.
        stop_signal: Signal that asks it to end; empty means SIGTERM.
        ports: TCP ports that it listens on.
        labels: What the image says about itself.
        architecture: Go's name of the processor; the default is this machine's.
    """

    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    user: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    working_dir: str = ""
    stop_signal: str = ""
    ports: tuple[int, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    architecture: str = field(default_factory=lambda: go_platform().removeprefix("linux_"))


def write_archive(
    path: Path, *, reference: str, layers: Sequence[Layer], config: ImageConfig
) -> str:
    """Write an image to `path`, whole or not at all, and return its id. Deterministic.

    Args:
        path: The archive, an uncompressed tar.
        reference: Name and tag that it is loaded under.
        layers: Lowest first.
        config: How it is started.

    Raises:
        ConfigError: A source of a layer is not there.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as name:
        scratch = Path(name)
        tars = [_layer_tar(layer, scratch / f"{n}.tar") for n, layer in enumerate(layers)]
        digests = [_sha256_of(tar) for tar in tars]
        document = canonical_json(image_document(digests, config))
        image_id = hashlib.sha256(document).hexdigest()
        names = [f"{n}-{digest}/layer.tar" for n, digest in enumerate(digests)]
        manifest = [{"Config": f"{image_id}.json", "RepoTags": [reference], "Layers": names}]
        whole = scratch / "archive.tar"
        with tarfile.open(whole, "w", format=FORMAT) as out:
            _add_bytes(out, f"{image_id}.json", document)
            for member, tar in zip(names, tars, strict=True):
                _add_file(out, member, tar)
            _add_bytes(out, "manifest.json", canonical_json(manifest))
        whole.chmod(PUBLIC_MODE)
        whole.replace(path)
    return f"sha256:{image_id}"


def image_document(diff_ids: Sequence[str], config: ImageConfig) -> dict[str, Any]:
    """Return the image configuration of the OCI and Docker formats. Pure.

    Args:
        diff_ids: SHA-256 of each uncompressed layer, lowest first.
        config: How it is started.
    """
    environment = {"PATH": DEFAULT_PATH} | dict(config.environment)
    optional = {
        "Entrypoint": list(config.entrypoint),
        "Cmd": list(config.command),
        "User": config.user,
        "WorkingDir": config.working_dir,
        "StopSignal": config.stop_signal,
        "ExposedPorts": {f"{port}/tcp": {} for port in config.ports},
        "Labels": dict(config.labels),
    }
    return {
        "architecture": config.architecture,
        "os": "linux",
        "created": _CREATED,
        "config": {
            "Env": [f"{name}={value}" for name, value in sorted(environment.items())],
            **{key: value for key, value in optional.items() if value},
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}" for digest in diff_ids]},
        "history": [{"created": _CREATED, "created_by": "strandline"} for _ in diff_ids],
    }


def _layer_tar(layer: Layer, scratch_path: Path) -> Path:
    if isinstance(layer, Path):
        return layer
    write_layer(scratch_path, layer)
    return scratch_path


def _sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _add_bytes(out: tarfile.TarFile, name: str, data: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    out.addfile(info, io.BytesIO(data))


def _add_file(out: tarfile.TarFile, name: str, source: Path) -> None:
    info = tarfile.TarInfo(name)
    info.size = source.stat().st_size
    with source.open("rb") as file:
        out.addfile(info, file)

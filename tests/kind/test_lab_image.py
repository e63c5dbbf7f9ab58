"""The lab image, for real: made whole, and run as a pod would run it."""

from __future__ import annotations

import json
import os
import secrets
import tarfile
from pathlib import Path

from harness.cluster.images.lab import ensure_lab_image
from harness.cluster.images.places import default_images_dir
from harness.cluster.kind.engine import find_engine
from harness.core.waiting import wait_until


def test_the_image_is_made_once_and_holds_only_compiled_modules_of_ours() -> None:
    images_dir = default_images_dir(os.environ)
    first = ensure_lab_image(images_dir, lambda _: None)
    said: list[str] = []

    again = ensure_lab_image(images_dir, said.append)

    assert (again, said) == (first, [])
    with tarfile.open(first.archive) as archive:
        listed = archive.extractfile("manifest.json")
        assert listed is not None
        (manifest,) = json.load(listed)
        top = archive.extractfile(manifest["Layers"][-1])
        with tarfile.open(fileobj=top) as layer:
            names = layer.getnames()
    sources = [name for name in names if name.endswith(".py")]
    compiled = [name for name in names if name.endswith(".pyc")]
    assert len(sources) == len(compiled) > 50
    assert not [name for name in names if "/harness/cli" in name or "/harness/bench" in name]


def test_each_process_imports_what_it_needs_as_nobody_on_a_read_only_root(tmp_path: Path) -> None:
    images_dir = default_images_dir(os.environ)
    engine = find_engine(settings_dir=images_dir, for_new_node=False)
    image = ensure_lab_image(images_dir, lambda _: None)
    engine.call("load", "--input", str(image.archive), timeout_s=50)
    config = tmp_path / "config.json"
    config.write_text("{}")
    for path in (tmp_path.parent.parent, tmp_path.parent, tmp_path, config):
        path.chmod(0o755)

    # With no key at all each says which it expects, and that is after its imports.
    for name in ("webhook", "controller", "instruments"):
        ended = engine.ask(
            *("run", "--rm", "--name", f"strandline-test-{secrets.token_hex(4)}"),
            *("--network", "none", "--read-only", "--cap-drop", "all"),
            *("--security-opt", "no-new-privileges", "--user", "65532:65532"),
            *("--volume", f"{config}:/config.json:ro", image.reference, name, "/config.json"),
        )
        assert f"{name}: keys [], expected [" in ended.stderr
        assert ended.returncode == 3

    gone = wait_until(
        lambda: engine.call("ps", "--all", "--format", "{{.Names}}"),
        lambda names: "strandline-test-" not in names,
        what="the end of the containers",
        timeout_s=10,
    )
    assert "strandline-test-" not in gone

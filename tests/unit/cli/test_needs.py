"""What each kind of cluster needs, and that looking for it disturbs nobody else's."""

from __future__ import annotations

from pathlib import Path

from harness.cli.needs import look_for_clusters, needed_by
from harness.cluster.doctor import Finding
from harness.cluster.toolchain import Toolchain

ROOT = Path(__file__).resolve().parents[3]


def _looked(folder: Path, **named: str) -> dict[str, Finding]:
    environ = {"PATH": "", "HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache"), **named}
    toolchain = Toolchain(
        root=ROOT, cache_dir=folder / "cache", environ=environ, progress=lambda _: None
    )
    return {finding.name: finding for finding in look_for_clusters(toolchain, environ)}


def test_what_only_one_kind_needs_is_not_asked_of_the_others() -> None:
    assert needed_by("etcd") == ("embedded",)
    assert needed_by("container engine") == ("kind",)
    assert needed_by("allowed contexts") == ("existing",)
    assert needed_by("kubectl") == ("embedded", "kind", "existing")


def test_a_bare_machine_is_told_what_kind_and_existing_would_take(tmp_path: Path) -> None:
    found = _looked(tmp_path)

    assert all(finding.ok for finding in found.values())
    assert found["kind"].found == "will be built"
    assert found["node image"].hint == "where nothing can be pulled, run make node-image"
    assert found["allowed contexts"].found.startswith("none in ")
    assert list(tmp_path.iterdir()) == []
    assert {needed_by(name) for name in found} == {("kind",), ("existing",)}


def test_contexts_that_are_allowed_are_named_and_a_wrong_list_is_not_well(tmp_path: Path) -> None:
    path = tmp_path / "strandline" / "allowed-contexts.yaml"
    path.parent.mkdir()
    path.write_text("contexts:\n  - { context: prod, server: 'https://10.0.0.1:6443' }\n")

    good = _looked(tmp_path, XDG_CONFIG_HOME=str(tmp_path))["allowed contexts"]
    path.write_text("contexts: [prod]\n")
    bad = _looked(tmp_path, XDG_CONFIG_HOME=str(tmp_path))["allowed contexts"]

    assert (good.ok, good.found) == (True, "prod")
    assert not bad.ok
    assert bad.found.startswith(f"{path}:1: contexts.0: ")


def test_a_node_image_that_the_user_names_is_the_one(tmp_path: Path) -> None:
    found = _looked(tmp_path, STRANDLINE_NODE_IMAGE="mine:1")["node image"]

    assert (found.found, found.hint) == ("mine:1", "")

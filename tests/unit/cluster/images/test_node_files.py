"""What is laid over Debian to make it a kind node."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.cluster.images.layer import Copied, Made
from harness.cluster.images.node_files import (
    containerd_config,
    cri_base,
    node_entries,
    whiteouts,
)
from harness.errors import PrerequisiteError

CONFIG = """\
version = 2
  restrict_oom_score_adj = false
  sandbox_image = "registry.example/pause:1"
"""
NAMES = (
    *("kubelet", "kubeadm", "kubectl", "containerd", "containerd-shim-runc-v2", "ctr", "crictl"),
    *("host-local", "loopback", "portmap", "ptp"),
)


class _Tree(dict[str, Any]):
    """Destination to entry, each placed once."""

    def __setitem__(self, key: str, value: Any) -> None:
        assert key not in self
        super().__setitem__(key, value)


def _base(tmp_path: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = tmp_path / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o444)
    return tmp_path / "files"


def _node(tmp_path: Path) -> dict[str, Made | Copied]:
    base_dir = _base(
        tmp_path,
        {
            "etc/containerd/config.toml": CONFIG,
            "kind/bin/x.sh": "#!/bin/sh\n",
            "etc/systemd/system/kubelet.service": "[Unit]\n",
            "LICENSES/README.txt": "none\n",
        },
    )
    tree = _Tree()
    for entry in node_entries(
        base_dir=base_dir,
        binaries={name: Path("/bin", name) for name in NAMES},
        oci_spec={"process": {}},
        debian_names=(),
        pause_reference="registry.example/pause:9",
        kubernetes="v1.37.2",
    ):
        tree[entry.destination] = entry
    return tree


def test_kinds_scripts_can_be_run_and_its_settings_only_read(tmp_path: Path) -> None:
    tree = _node(tmp_path)

    script, unit = tree["/kind/bin/x.sh"], tree["/etc/systemd/system/kubelet.service"]
    assert isinstance(script, Made)
    assert isinstance(unit, Made)
    assert (script.mode, unit.mode) == (0o755, 0o644)
    assert "/LICENSES/README.txt" not in tree


def test_kind_reads_the_version_of_kubernetes_and_two_manifests(tmp_path: Path) -> None:
    tree = _node(tmp_path)

    version = tree["/kind/version"]
    assert isinstance(version, Made)
    assert version.content == b"v1.37.2"
    for name in ("default-cni.yaml", "default-storage.yaml"):
        manifest = tree[f"/kind/manifests/{name}"]
        assert isinstance(manifest, Made)
        assert json.loads(manifest.content or b"")["metadata"]["name"]


def test_the_units_of_a_node_start_with_it_and_one_of_the_hosts_never(tmp_path: Path) -> None:
    tree = _node(tmp_path)

    wants = "/etc/systemd/system/multi-user.target.wants"
    started = {name for name in tree if name.startswith(wants)}
    assert started == {
        f"{wants}/{unit}.service" for unit in ("kubelet", "containerd", "undo-mount-hacks")
    }
    masked = tree["/etc/systemd/system/systemd-binfmt.service"]
    assert isinstance(masked, Made)
    assert masked.target == "/dev/null"


def test_every_program_has_its_place(tmp_path: Path) -> None:
    tree = _node(tmp_path)

    programs = {Path(name).name: name for name, entry in tree.items() if isinstance(entry, Copied)}
    assert programs.keys() == set(NAMES)
    assert programs["kubelet"] == "/usr/bin/kubelet"
    assert programs["containerd"] == "/usr/local/bin/containerd"
    assert programs["ptp"] == "/opt/cni/bin/ptp"


def test_files_of_a_kind_that_has_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PrerequisiteError) as caught:
        node_entries(
            base_dir=tmp_path,
            binaries={},
            oci_spec={"process": {}},
            debian_names=(),
            pause_reference="x",
            kubernetes="v1",
        )

    assert str(caught.value) == f"{tmp_path}: no files of kind's node image"


def test_containerd_lowers_no_score_and_takes_the_sandbox_of_kubeadm() -> None:
    text = containerd_config(CONFIG, pause_reference="registry.example/pause:9")

    assert "restrict_oom_score_adj = true" in text
    assert 'sandbox_image = "registry.example/pause:9"' in text
    assert text.endswith('conf_template = "/etc/containerd/cni.template"\n')


def test_a_containerd_setting_that_is_no_longer_there_is_refused() -> None:
    with pytest.raises(PrerequisiteError, match="has 0 times 'restrict_oom_score_adj"):
        containerd_config("version = 3\n", pause_reference="x")


def test_containers_begin_without_limits_and_with_the_hook_of_kind() -> None:
    spec = {
        "process": {"cwd": "/", "rlimits": [{"type": "RLIMIT_NOFILE"}]},
        "hooks": {"createContainer": [{"path": "/a"}]},
    }

    assert cri_base(spec) == {
        "process": {"cwd": "/"},
        "hooks": {
            "createContainer": [{"path": "/a"}, {"path": "/kind/bin/mount-product-files.sh"}]
        },
    }


def test_units_that_have_no_place_in_a_container_are_hidden_and_others_stay() -> None:
    wants = "usr/lib/systemd/system"
    names = [
        f"./{wants}/sockets.target.wants/systemd-udevd-kernel.socket",
        f"./{wants}/sockets.target.wants/dbus.socket",
        f"./{wants}/multi-user.target.wants/getty.target",
        f"./{wants}/multi-user.target.wants/",
        "./etc/systemd/system/timers.target.wants/apt-daily.timer",
        "./etc/systemd/system/dbus.service",
    ]

    hidden = [entry.destination for entry in whiteouts(names)]

    assert hidden == [
        "/etc/systemd/system/timers.target.wants/.wh.apt-daily.timer",
        f"/{wants}/multi-user.target.wants/.wh.getty.target",
        f"/{wants}/sockets.target.wants/.wh.systemd-udevd-kernel.socket",
    ]

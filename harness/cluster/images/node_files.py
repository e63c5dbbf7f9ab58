"""What a kind node has on top of Debian: kind's own files, the programs, and settings. Pure.

Every setting that a machine like ours needs says which error it cures. Called by the node image.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from harness.cluster.images.layer import Copied, Entry, Made
from harness.core.files import canonical_json, readable_json, sha256_hex
from harness.errors import PrerequisiteError

#: Debian packages of a node: those of kind's own base image but for network file systems, and runc,
#: which needs a C compiler to be built from its module.
DEBIAN_PACKAGES = (
    *("systemd", "systemd-sysv", "dbus", "iproute2", "iptables", "nftables", "conntrack"),
    *("ethtool", "socat", "kmod", "util-linux", "mount", "procps", "ca-certificates", "curl"),
    *("libseccomp2", "hostname", "jq", "gettext-base", "rsync", "e2fsprogs", "ebtables", "runc"),
)

#: Binary to its folder in a node. kubectl is what kind calls inside of it.
_PROGRAMS: Mapping[str, str] = {
    **dict.fromkeys(("kubelet", "kubeadm", "kubectl"), "/usr/bin"),
    **dict.fromkeys(
        ("containerd", "containerd-shim-runc-v2", "ctr", "crictl"),
        "/usr/local/bin",
    ),
    **dict.fromkeys(("host-local", "loopback", "portmap", "ptp"), "/opt/cni/bin"),
}

#: Files of a node that are programs; the module cache of Go keeps no rights.
_EXECUTABLE = ("kind/bin/*", "usr/local/bin/*")

#: Links that kind's own image removes: units that start nothing useful in a container.
_PRUNED = (
    "usr/lib/systemd/system/sysinit.target.wants/systemd-tmpfiles-setup.service",
    "usr/lib/systemd/system/multi-user.target.wants/*",
    "usr/lib/systemd/system/local-fs.target.wants/*",
    "usr/lib/systemd/system/sockets.target.wants/*udev*",
    "usr/lib/systemd/system/sockets.target.wants/*initctl*",
    "usr/lib/systemd/system/basic.target.wants/*",
    "etc/systemd/system/*.wants/*",
)

#: Units that kind's own image enables.
_ENABLED = ("kubelet", "containerd", "undo-mount-hacks")

#: kindnetd comes as an image only, so containerd renders this with the node's range of addresses.
_CNI_TEMPLATE: Mapping[str, Any] = {
    "cniVersion": "0.4.0",
    "name": "strandline",
    "plugins": [
        {
            "type": "ptp",
            "ipMasq": True,
            "mtu": 1500,
            "ipam": {
                "type": "host-local",
                "dataDir": "/run/cni-ipam-state",
                "routes": [{"dst": "0.0.0.0/0"}],
                "ranges": [[{"subnet": "{{.PodCIDR}}"}]],
            },
        },
        {"type": "portmap", "capabilities": {"portMappings": True}},
    ],
}

#: kind applies both after kubeadm; they only have to be something that can be created.
_MANIFESTS: Mapping[str, Mapping[str, Any]] = {
    "default-cni.yaml": {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "strandline-cni", "namespace": "kube-system"},
        "data": {"plugin": "ptp"},
    },
    "default-storage.yaml": {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {
            "name": "standard",
            "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
        },
        "provisioner": "kubernetes.io/no-provisioner",
    },
}

_CONTAINERD_CNI = (
    '\n[plugins."io.containerd.grpc.v1.cri".cni]\n'
    '  conf_template = "/etc/containerd/cni.template"\n'
)


def fingerprint() -> str:
    """Return a digest of all that this module lays down by itself. Pure."""
    parts = [DEBIAN_PACKAGES, _PROGRAMS, _EXECUTABLE, _PRUNED, _ENABLED, _CNI_TEMPLATE, _MANIFESTS]
    return sha256_hex(canonical_json([*parts, _CONTAINERD_CNI]))


def node_entries(
    *,
    base_dir: Path,
    binaries: Mapping[str, Path],
    oci_spec: Mapping[str, Any],
    debian_names: Iterable[str],
    pause_reference: str,
    kubernetes: str,
) -> list[Entry]:
    """Return what is laid over Debian to make it a kind node. Reads kind's files, else pure.

    Args:
        base_dir: `images/base/files` of kind's module.
        binaries: Name to file of every program of a node.
        oci_spec: What `ctr oci spec` prints: how a container is started when nobody says more.
        debian_names: Paths in the Debian file system, to find what must go.
        pause_reference: Image of the sandbox of every pod.
        kubernetes: Version with its `v`; kind reads it.

    Raises:
        PrerequisiteError: kind's files are not as expected.
    """
    return [
        *_kind_files(base_dir, pause_reference),
        *(
            Copied(source=binaries[name], destination=f"{folder}/{name}")
            for name, folder in _PROGRAMS.items()
        ),
        *whiteouts(debian_names),
        *(
            Made(
                destination=f"/etc/systemd/system/multi-user.target.wants/{unit}.service",
                target=f"/etc/systemd/system/{unit}.service",
            )
            for unit in _ENABLED
        ),
        # It would register things with the kernel, which is the host's.
        Made(destination="/etc/systemd/system/systemd-binfmt.service", target="/dev/null"),
        Made(
            destination="/etc/systemd/journald.conf.d/kind.conf",
            content=b"[Journal]\nReadKMsg=no\n",
        ),
        Made(
            destination="/etc/containerd/cri-base.json", content=readable_json(cri_base(oci_spec))
        ),
        Made(destination="/etc/containerd/cni.template", content=_json_line(_CNI_TEMPLATE)),
        *(
            Made(destination=f"/kind/manifests/{name}", content=_json_line(manifest))
            for name, manifest in _MANIFESTS.items()
        ),
        Made(destination="/kind/version", content=kubernetes.encode()),
        *(
            Made(destination=folder)
            for folder in ("/etc/cni/net.d", "/etc/kubernetes/manifests", "/var/lib/kubelet")
        ),
    ]


def containerd_config(text: str, *, pause_reference: str) -> str:
    """Return kind's containerd configuration with what is different here. Pure.

    `restrict_oom_score_adj`: without CAP_SYS_RESOURCE a pod ends in `runc create failed: unable to
    start container process: can't get final child's PID from pipe: EOF`.

    Raises:
        PrerequisiteError: A setting that is to be changed is not there.
    """
    for pattern, line in (
        (r"restrict_oom_score_adj = \w+", "restrict_oom_score_adj = true"),
        (r'sandbox_image = "[^"]*"', f'sandbox_image = "{pause_reference}"'),
    ):
        text, changed = re.subn(pattern, line, text)
        if changed != 1:
            msg = f"kind's containerd configuration has {changed} times {pattern!r}, expected once"
            raise PrerequisiteError(
                msg, hint="pin kind in toolchain/kind to a version that we know"
            )
    return text + _CONTAINERD_CNI


def cri_base(oci_spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the spec that every container of the node begins with, as kind's own image does. Pure.

    Without limits of its own, since a lower one would win over the node's.
    """
    process = {key: value for key, value in oci_spec["process"].items() if key != "rlimits"}
    hooks: Mapping[str, Any] = oci_spec.get("hooks") or {}
    before: Sequence[Any] = hooks.get("createContainer", ())
    added = [*before, {"path": "/kind/bin/mount-product-files.sh"}]
    return {**oci_spec, "process": process, "hooks": {**hooks, "createContainer": added}}


def whiteouts(names: Iterable[str]) -> list[Made]:
    """Return what hides files of the layer below, of those that must not be in a node. Pure."""
    gone = sorted(
        name
        for name in (given.removeprefix("./").rstrip("/") for given in names)
        if any(fnmatchcase(name, pattern) for pattern in _PRUNED)
    )
    paths = [PurePosixPath("/", name) for name in gone]
    return [
        Made(destination=str(path.with_name(f".wh.{path.name}")), content=b"") for path in paths
    ]


def _kind_files(base_dir: Path, pause_reference: str) -> list[Made]:
    entries = []
    for path in sorted(base_dir.rglob("*")):
        name = path.relative_to(base_dir).as_posix()
        if not path.is_file() or name.startswith("LICENSES/"):
            continue
        content = path.read_bytes()
        if name == "etc/containerd/config.toml":
            text = containerd_config(content.decode(), pause_reference=pause_reference)
            content = text.encode()
        mode = 0o755 if any(fnmatchcase(name, pattern) for pattern in _EXECUTABLE) else 0o644
        entries.append(Made(destination=f"/{name}", content=content, mode=mode))
    if not entries:
        msg = f"{base_dir}: no files of kind's node image"
        raise PrerequisiteError(msg, hint="pin kind in toolchain/kind to a version that has them")
    return entries


def _json_line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value).encode() + b"\n"

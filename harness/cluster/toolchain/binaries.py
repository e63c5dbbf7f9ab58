"""Which binaries there are, which group of Go modules makes them, and which versions will do.

Pure. The pinned versions are read from toolchain/GROUP/go.mod, their only home. Called by the rest
of this package.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass

#: Name of the Terraform provider's binary.
PROVIDER_BINARY = "terraform-provider-kubectl"

#: Address of the Terraform provider below a registry's host name.
PROVIDER_ADDRESS = "gavinbunney/kubectl"

#: Hosts that Terraform and OpenTofu prefix a provider's address with.
PROVIDER_HOSTS = ("registry.terraform.io", "registry.opentofu.org")

_VERSION = re.compile(r"(?<![0-9.])v?(\d+)\.(\d+)\.(\d+)([-+][0-9A-Za-z.+-]+)?")
_REQUIREMENT = re.compile(r"^\s*(?:require\s+)?(\S+)\s+(v[0-9]\S*)(?:\s+//.*)?$", re.MULTILINE)
_TOOL = re.compile(r"^\s*(?:tool\s+)?([a-z][\w.-]*\.[a-z]+/\S+)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Version:
    """The three numbers of a release."""

    major: int
    minor: int
    patch: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"

    @property
    def series(self) -> tuple[int, int]:
        """Major and minor."""
        return self.major, self.minor


def parse_version(text: str) -> Version | None:
    """Return the first released version in `text`; a pre-release or custom build gives None. Pure.

    `v1.32.4-dispatcher`, for example, names a program that is not kubectl.
    """
    match = _VERSION.search(text)
    if match is None or (match[4] and match[4].startswith("-")):
        return None
    return Version(major=int(match[1]), minor=int(match[2]), patch=int(match[3]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary:
    """One program.

    Attributes:
        name: How it is called here and on PATH.
        group: Folder below toolchain/ whose modules build it.
        module: Go module whose version is its version.
        package: Go package of its `main`.
        version_args: Arguments that print its version; empty where it cannot say.
        at_least: Lowest version that will do, as (major, minor); None means the pinned series.
        on_path: Whether one from PATH will do.
        also_in: Other groups that build it as well; their copy will do when it is there.
    """

    name: str
    group: str
    module: str
    package: str
    version_args: tuple[str, ...]
    at_least: tuple[int, int] | None = None
    on_path: bool = True
    also_in: tuple[str, ...] = ()

    @property
    def built_name(self) -> str:
        """The file name that `go build` gives it: the last part of its path but for /vN."""
        parts = [part for part in self.package.split("/") if not re.fullmatch(r"v\d+", part)]
        return parts[-1]


_KUBERNETES = "k8s.io/kubernetes"
_CONTAINERD = "github.com/containerd/containerd/v2"
_CNI_PLUGINS = "github.com/containernetworking/plugins"
_CRI_TOOLS = "sigs.k8s.io/cri-tools"
_COREDNS = "github.com/coredns/coredns"


def _of_node(package: str, *, group: str, module: str) -> Binary:
    """Describe a binary that goes into a node image, where only the pinned one will do."""
    name = package.rpartition("/")[2]
    return Binary(
        name=name, group=group, module=module, package=package, version_args=(), on_path=False
    )


#: What a node of a cluster runs. Theirs are names like `bridge` or `pause`: never taken from PATH.
_NODE_BINARIES = (
    *(
        _of_node(f"k8s.io/kubernetes/cmd/{name}", group="node", module=_KUBERNETES)
        for name in ("kube-proxy", "kubeadm", "kubelet")
    ),
    _of_node("strandline.dev/toolchain/node/pause", group="node", module=_KUBERNETES),
    _of_node(f"{_CRI_TOOLS}/cmd/crictl", group="container-runtime", module=_CRI_TOOLS),
    *(
        _of_node(f"{_CNI_PLUGINS}/plugins/{path}", group="container-runtime", module=_CNI_PLUGINS)
        for path in ("ipam/host-local", "main/loopback", "main/ptp", "meta/portmap")
    ),
    *(
        _of_node(f"{_CONTAINERD}/cmd/{name}", group="container-runtime", module=_CONTAINERD)
        for name in ("containerd", "containerd-shim-runc-v2", "ctr")
    ),
    _of_node("strandline.dev/toolchain/coredns", group="coredns", module=_COREDNS),
)

BINARIES: Mapping[str, Binary] = {
    binary.name: binary
    for binary in (
        Binary(
            name="etcd",
            group="control-plane",
            module="go.etcd.io/etcd/server/v3",
            package="go.etcd.io/etcd/server/v3",
            version_args=("--version",),
        ),
        Binary(
            name="kube-apiserver",
            group="control-plane",
            module=_KUBERNETES,
            package="k8s.io/kubernetes/cmd/kube-apiserver",
            version_args=("--version",),
        ),
        Binary(
            name="kube-controller-manager",
            group="control-plane",
            module=_KUBERNETES,
            package="k8s.io/kubernetes/cmd/kube-controller-manager",
            version_args=("--version",),
        ),
        Binary(
            name="kubectl",
            group="control-plane",
            module=_KUBERNETES,
            package="k8s.io/kubernetes/cmd/kubectl",
            version_args=("version", "--client"),
            at_least=(1, 33),
        ),
        Binary(
            name=PROVIDER_BINARY,
            group="terraform-provider",
            module="github.com/gavinbunney/terraform-provider-kubectl",
            package="github.com/gavinbunney/terraform-provider-kubectl",
            version_args=(),
            on_path=False,
        ),
        Binary(
            name="tofu",
            group="opentofu",
            module="github.com/opentofu/opentofu",
            package="github.com/opentofu/opentofu/cmd/tofu",
            version_args=("version",),
            at_least=(1, 8),
        ),
        Binary(
            name="kind",
            group="kind",
            module="sigs.k8s.io/kind",
            package="sigs.k8s.io/kind",
            version_args=("version",),
            at_least=(0, 27),
        ),
        # The node image's group builds it too, beside a kubelet that a cluster without containers
        # has no use for.
        Binary(
            name="kube-scheduler",
            group="scheduler",
            module=_KUBERNETES,
            package="k8s.io/kubernetes/cmd/kube-scheduler",
            version_args=("--version",),
            also_in=("node",),
        ),
        Binary(
            name="kwok",
            group="kwok",
            module="sigs.k8s.io/kwok",
            package="sigs.k8s.io/kwok/cmd/kwok",
            version_args=(),
            on_path=False,
        ),
        *_NODE_BINARIES,
    )
}

#: Groups whose programs say which Kubernetes they are.
_STAMPED_GROUPS = ("control-plane", "node", "scheduler")


def pinned_versions(go_mod: str) -> dict[str, Version]:
    """Return module path to pinned version of a go.mod. Pure."""
    found = {match[1]: parse_version(match[2]) for match in _REQUIREMENT.finditer(go_mod)}
    return {module: version for module, version in found.items() if version is not None}


def tools(go_mod: str) -> tuple[str, ...]:
    """Return the packages of the `tool` block of a go.mod, in its order. Pure."""
    return tuple(match[1] for match in _TOOL.finditer(go_mod))


def linker_flags(group: str, pinned: Mapping[str, Version]) -> str:
    """Return the -ldflags of a group. Pure.

    Without a stamp the API server calls itself `v0.0.0-master+$Format`, which kubectl and others
    cannot parse, and the kubelet is refused by kubeadm.
    """
    flags = ["-s", "-w"]
    if group in _STAMPED_GROUPS:
        version = pinned[_KUBERNETES]
        stamp = {
            "k8s.io/component-base/version.gitVersion": f"v{version}",
            "k8s.io/component-base/version.gitMajor": str(version.major),
            "k8s.io/component-base/version.gitMinor": str(version.minor),
            "k8s.io/component-base/version.gitTreeState": "clean",
            "k8s.io/client-go/pkg/version.gitVersion": f"v{version}",
        }
        flags += [f"-X {name}={value}" for name, value in stamp.items()]
    return " ".join(flags)


def go_platform(machine: str | None = None) -> str:
    """Return Go's name of this machine, for example `linux_amd64`. Pure but for its default."""
    name = machine or platform.machine()
    return f"linux_{ {'x86_64': 'amd64', 'aarch64': 'arm64'}.get(name, name) }"

"""The images of a node's own pods: API server, scheduler, DNS and the rest, one program each.

Owns what is in them; their names are asked of kubeadm, which will look for exactly those. Called by
the node image.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.cluster.images.archive import ImageConfig, Layer, write_archive
from harness.cluster.images.layer import Copied, Made
from harness.core.process import Finished
from harness.errors import PrerequisiteError

#: Debian packages of which kube-proxy's image has the files: it calls iptables, whose plug-ins need
#: libm. Without it Services silently do not work while the cluster says that it is ready.
PROXY_PACKAGES = ("conntrack", "iptables", "nftables")

#: Names under which kube-proxy calls iptables. Debian makes these links when the package is
#: installed; here its files are only unpacked.
_IPTABLES = tuple(
    f"{family}tables{suffix}" for family in ("ip", "ip6") for suffix in ("", "-save", "-restore")
)

#: User of the sandbox, as in the image of the Kubernetes project.
_PAUSE_USER = "65535:65535"


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """One image.

    Attributes:
        binary: Name of the program.
        destination: Where it is in the image.
        runs_itself: Whether it is started without being named; the manifests name the others.
        user: `UID:GID`; empty means root.
        on_debian: Whether it needs Debian's iptables beside it.
    """

    binary: str
    destination: str
    runs_itself: bool = True
    user: str = ""
    on_debian: bool = False


#: Last part of the image's name, as kubeadm has it, to what is in it.
COMPONENTS: Mapping[str, Component] = {
    **{
        name: Component(binary=name, destination=f"/usr/local/bin/{name}")
        for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
    },
    "kube-proxy": Component(
        binary="kube-proxy", destination="/usr/local/bin/kube-proxy", on_debian=True
    ),
    "etcd": Component(binary="etcd", destination="/usr/local/bin/etcd", runs_itself=False),
    "coredns": Component(binary="coredns", destination="/coredns"),
    "pause": Component(binary="pause", destination="/pause", user=_PAUSE_USER),
}


def component_references(listing: Finished) -> dict[str, str]:
    """Return component to image reference. Pure.

    Args:
        listing: How `kubeadm config images list` ended.

    Raises:
        PrerequisiteError: It names other components than the ones that we can make.
    """
    references = {}
    for line in listing.stdout.split():
        match = re.fullmatch(r"\S+/([a-z-]+):\S+", line)
        if match:
            references[match[1]] = line
    if references.keys() != COMPONENTS.keys():
        found = ", ".join(sorted(references)) or listing.stderr[-400:].strip() or "nothing"
        msg = f"kubeadm asks for images {found}; expected {', '.join(sorted(COMPONENTS))}"
        raise PrerequisiteError(msg, hint="pin a Kubernetes in toolchain/node that we know")
    return references


def require_coredns(reference: str, *, pinned: str) -> None:
    """Refuse to give an image of CoreDNS the name of another version. Pure.

    Raises:
        PrerequisiteError: kubeadm asks for another one than toolchain/coredns pins.
    """
    if not reference.endswith(f":v{pinned}"):
        msg = f"kubeadm asks for {reference}, toolchain/coredns pins {pinned}"
        raise PrerequisiteError(msg, hint="pin in toolchain/coredns what kubeadm asks for")


def write_components(
    out_dir: Path,
    *,
    references: Mapping[str, str],
    binaries: Mapping[str, Path],
    proxy_rootfs: Path,
) -> list[Path]:
    """Write one archive a component, in the order of their names."""
    paths = []
    for name, component in sorted(COMPONENTS.items()):
        path = out_dir / f"{name}.tar"
        write_archive(
            path,
            reference=references[name],
            layers=component_layers(component, binaries[component.binary], proxy_rootfs),
            config=ImageConfig(
                entrypoint=(component.destination,) if component.runs_itself else (),
                user=component.user,
            ),
        )
        paths.append(path)
    return paths


def component_layers(component: Component, binary: Path, proxy_rootfs: Path) -> Sequence[Layer]:
    """Return the layers of one image, lowest first. Pure."""
    program = Copied(source=binary, destination=component.destination)
    if not component.on_debian:
        return [[Made(destination="/tmp", mode=0o1777), program]]  # noqa: S108 - in an image
    links = [
        Made(destination=f"/usr/sbin/{name}", target="xtables-nft-multi") for name in _IPTABLES
    ]
    return [proxy_rootfs, [program, Made(destination="/run"), *links]]

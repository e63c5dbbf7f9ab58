"""What is in the images of a node's own pods, and under which names."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cluster.images.layer import Copied, Made
from harness.cluster.images.node_components import (
    COMPONENTS,
    component_layers,
    component_references,
    require_coredns,
)
from harness.core.process import Finished
from harness.errors import PrerequisiteError

#: What `kubeadm config images list` of v1.37.2 prints, with another registry.
LISTING = """\
registry.example/kube-apiserver:v1.37.2
registry.example/kube-controller-manager:v1.37.2
registry.example/kube-scheduler:v1.37.2
registry.example/kube-proxy:v1.37.2
registry.example/coredns/coredns:v1.14.6
registry.example/pause:3.10.2
registry.example/etcd:3.7.0-0
"""


def _said(stdout: str, stderr: str = "") -> Finished:
    return Finished(
        argv=("kubeadm",),
        returncode=0,
        stdout=stdout,
        stderr=stderr,
        duration_s=0.0,
        timed_out=False,
        survivors=0,
    )


def test_images_are_called_what_kubeadm_will_look_for() -> None:
    references = component_references(_said(LISTING))

    assert references.keys() == COMPONENTS.keys()
    assert references["coredns"] == "registry.example/coredns/coredns:v1.14.6"
    assert references["pause"] == "registry.example/pause:3.10.2"


def test_a_component_that_we_cannot_make_is_refused() -> None:
    with pytest.raises(PrerequisiteError) as caught:
        component_references(_said("registry.example/konnectivity:v1\n"))

    assert str(caught.value) == (
        "kubeadm asks for images konnectivity; expected coredns, etcd, kube-apiserver, "
        "kube-controller-manager, kube-proxy, kube-scheduler, pause"
    )


def test_a_kubeadm_that_only_complains_is_quoted() -> None:
    with pytest.raises(PrerequisiteError, match="kubeadm asks for images no such flag; expected"):
        component_references(_said("", "no such flag\n"))


def test_coredns_is_not_given_the_name_of_another_version() -> None:
    require_coredns("registry.example/coredns/coredns:v1.14.6", pinned="1.14.6")

    with pytest.raises(PrerequisiteError) as caught:
        require_coredns("registry.example/coredns/coredns:v1.15.0", pinned="1.14.6")

    assert str(caught.value) == (
        "kubeadm asks for registry.example/coredns/coredns:v1.15.0, toolchain/coredns pins 1.14.6"
    )


def test_the_proxy_has_iptables_under_the_names_that_it_calls_and_others_are_alone() -> None:
    proxy, pause = (
        component_layers(COMPONENTS[name], Path("/b"), Path("/rootfs.tar"))
        for name in ("kube-proxy", "pause")
    )

    assert proxy[0] == Path("/rootfs.tar")
    assert not isinstance(proxy[1], Path)
    links = {entry.destination for entry in proxy[1] if isinstance(entry, Made) and entry.target}
    assert links == {
        *("/usr/sbin/iptables", "/usr/sbin/iptables-save", "/usr/sbin/iptables-restore"),
        *("/usr/sbin/ip6tables", "/usr/sbin/ip6tables-save", "/usr/sbin/ip6tables-restore"),
    }
    assert len(pause) == 1
    assert not isinstance(pause[0], Path)
    assert Copied(source=Path("/b"), destination="/pause") in pause[0]

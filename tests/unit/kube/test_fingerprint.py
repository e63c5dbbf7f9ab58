"""What belongs to nobody's run is told apart while other attempts of the same run come and go."""

from __future__ import annotations

from typing import Any, cast

import pytest

from harness.core.naming import RUN_LABEL
from harness.kube.client import KubeClient
from harness.kube.resources import CONFIG_MAPS, NAMESPACES, Resource
from harness.kube.snapshot import fingerprint

RUN = "20260101-000000-abcdef"


def _namespace(name: str, run: str | None) -> dict[str, Any]:
    labels = {RUN_LABEL: run} if run else {}
    return {"metadata": {"name": name, "uid": f"uid-{name}", "labels": labels}}


def _config_map(namespace: str) -> dict[str, Any]:
    return {"metadata": {"namespace": namespace, "name": "root-ca", "uid": f"uid-{namespace}"}}


#: Lives in no namespace, and is kept by the API server for a Service that does.
IP_ADDRESSES = Resource(
    group="networking.k8s.io",
    version="v1",
    plural="ipaddresses",
    kind="IPAddress",
    namespaced=False,
)


def _ip_address(name: str, namespace: str) -> dict[str, Any]:
    parent = {"resource": "services", "name": "instruments", "namespace": namespace}
    return {"metadata": {"name": name, "uid": f"uid-{name}"}, "spec": {"parentRef": parent}}


class _Moving:
    """A cluster whose namespaces are others at each look."""

    def __init__(self, *namespaces: tuple[dict[str, Any], ...]) -> None:
        self._looks = list(namespaces)

    def discover(self) -> list[Resource]:
        """Return three kinds."""
        return [NAMESPACES, CONFIG_MAPS, IP_ADDRESSES]

    def list_objects(self, resource: Resource) -> list[dict[str, Any]]:
        """Return the namespaces of this look, or what was in one that came or went meanwhile."""
        if resource == CONFIG_MAPS:
            return [_config_map("lab-one"), _config_map("theirs")]
        if resource == IP_ADDRESSES:
            return [_ip_address("10.0.0.1", "lab-one"), _ip_address("10.0.0.2", "theirs")]
        return list(self._looks.pop(0))


OURS, THEIRS = _namespace("lab-one", RUN), _namespace("theirs", None)


@pytest.mark.parametrize(
    "looks",
    [((OURS, THEIRS), (THEIRS,), (THEIRS,)), ((THEIRS,), (THEIRS,), (OURS, THEIRS))],
    ids=["went meanwhile", "came meanwhile"],
)
def test_a_namespace_of_the_run_that_comes_or_goes_meanwhile_is_no_strangers(
    looks: tuple[tuple[dict[str, Any], ...], ...],
) -> None:
    client = cast("KubeClient", _Moving(*looks))

    found = fingerprint(client, RUN)

    assert sorted(found) == [
        "configmaps theirs/root-ca",
        "ipaddresses.networking.k8s.io 10.0.0.2",
        "namespaces theirs",
    ]

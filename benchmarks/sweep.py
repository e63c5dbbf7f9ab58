"""How long the sweep of a namespace takes, by how much is in it.

ConfigMaps, Secrets and objects of a custom kind in equal parts, made through the API and swept as
an attempt's namespace is. Called by `python -m benchmarks`, and by hand for the sweep alone.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from typing import Any

import click

from benchmarks.measuring import MeasurementError
from benchmarks.workbench import open_workbench
from harness.cli.options import say_on_stderr
from harness.core.waiting import SYSTEM_CLOCK, wait_until
from harness.errors import KubeError
from harness.kube.client import KubeClient
from harness.kube.identity_guard import ProvenClient, prove_identity
from harness.kube.resources import (
    CONFIG_MAPS,
    CUSTOM_RESOURCE_DEFINITIONS,
    NAMESPACES,
    SECRETS,
    SERVICE_ACCOUNTS,
    Resource,
)
from harness.kube.sweep import sweep_namespace

PART = "sweep"

#: Objects in a namespace: an attempt has some tens.
SIZES = (10, 100, 1000)

#: Namespaces of each size; a median of 3 bears one that the machine disturbed.
REPEATS = 3

#: A custom kind of the measurement's own.
_SAMPLES = Resource(group="bench.strandline.dev", version="v1", plural="samples", kind="Sample")

#: Kinds that are mixed.
_MIXED = (CONFIG_MAPS, SECRETS, _SAMPLES)

#: Threads that make objects; that is not measured.
_THREADS = 8


def measure(
    client: KubeClient, *, sizes: Sequence[int] = SIZES, repeats: int = REPEATS
) -> dict[str, Any]:
    """Sweep namespaces of each size, and return the seconds of every sweep and the medians.

    Returns:
        `sizes`: a list of `{objects, seconds, median_s, objects_per_s}`, smallest size first.

    Raises:
        MeasurementError: A sweep left something.
    """
    proven = prove_identity(client, client.identity())
    _define(client)
    try:
        kinds = client.discover()
        found = []
        for size in sorted(sizes):
            seconds = [_sweep_once(proven, kinds, size) for _ in range(repeats)]
            middle = median(seconds)
            found.append(
                {
                    "objects": size,
                    "seconds": [round(one, 3) for one in seconds],
                    "median_s": round(middle, 3),
                    "objects_per_s": round(size / middle, 1),
                }
            )
    finally:
        client.delete(CUSTOM_RESOURCE_DEFINITIONS, _SAMPLES.qualified)
    return {"repeats": repeats, "sizes": found}


def _sweep_once(client: ProvenClient, kinds: Sequence[Resource], size: int) -> float:
    namespace = f"sweep-{secrets.token_hex(4)}"
    client.create(NAMESPACES, {"metadata": {"name": namespace}})
    wait_until(
        lambda: client.find(SERVICE_ACCOUNTS, "default", namespace=namespace),
        lambda found: found is not None,
        what=f"default account of {namespace}",
        timeout_s=30,
    )

    def make(number: int) -> None:
        kind = _MIXED[number % len(_MIXED)]
        manifest = {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "metadata": {"name": f"object-{number}"},
        }
        client.create(kind, manifest, namespace=namespace)

    with ThreadPoolExecutor(_THREADS) as pool:
        for _ in pool.map(make, range(size)):
            pass
    began_s = SYSTEM_CLOCK.monotonic_s()
    swept = sweep_namespace(client, namespace, kinds=kinds)
    taken_s = SYSTEM_CLOCK.monotonic_s() - began_s
    if swept.leftovers or swept.deleted < size:
        left = "; ".join(str(one) for one in swept.leftovers)
        msg = f"a sweep of {size} objects deleted {swept.deleted} and left: {left or 'nothing'}"
        raise MeasurementError(msg)
    return taken_s


def _define(client: KubeClient) -> None:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": _SAMPLES.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
    }
    names = {"plural": "samples", "singular": "sample", "kind": _SAMPLES.kind}
    spec = {"group": _SAMPLES.group, "scope": "Namespaced", "names": names, "versions": [version]}
    client.create(
        CUSTOM_RESOURCE_DEFINITIONS, {"metadata": {"name": _SAMPLES.qualified}, "spec": spec}
    )
    probe = {
        "apiVersion": _SAMPLES.api_version,
        "kind": _SAMPLES.kind,
        "metadata": {"name": "probe"},
    }
    wait_until(
        lambda: client.call("POST", _SAMPLES.path("default"), body=probe, query={"dryRun": "All"}),
        bool,
        what="kind Sample",
        timeout_s=30,
        tolerate=(KubeError,),
    )


@click.command()
@click.option("--repeats", type=click.IntRange(1, 100), default=REPEATS, show_default=True)
def sweep(*, repeats: int) -> None:
    """Measure the sweep alone, on a cluster of its own, and print it as JSON."""
    with (
        open_workbench(repeats=repeats, say=say_on_stderr) as bench,
        bench.cluster(PART) as cluster,
    ):
        client = KubeClient.from_kubeconfig(cluster.kubeconfig)
        try:
            click.echo(json.dumps(measure(client, repeats=repeats), indent=2))
        finally:
            client.close()


if __name__ == "__main__":
    sweep()

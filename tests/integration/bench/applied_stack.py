"""Put a stack of somebody's own on a cluster, as a process that can be killed: `CLUSTER STACK`.

CLUSTER is a file that `Cluster.save` wrote. The values are read from `values.json` beside it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from harness.bench.inventory import apply_recorded, keep_standing
from harness.bench.platform_sweep import WORKING_COPY
from harness.bench.record import Record
from harness.bench.session import create_stack
from harness.cluster.provider import Cluster
from harness.cluster.toolchain import Toolchain, default_cache_dir
from harness.core.files import read_json
from harness.kube.client import KubeClient
from harness.terraform.engine import Engine, load_engine

ROOT = Path(__file__).resolve().parents[3]


def find_engine() -> Engine:
    """Return the engine with a mirror that has the provider."""
    toolchain = Toolchain(
        root=ROOT, cache_dir=default_cache_dir(os.environ), environ=os.environ, progress=print
    )
    return load_engine(toolchain.ensure_terraform(), plugin_mirror=toolchain.provider_mirror())


def main(cluster_file: str, stack_dir: str) -> None:
    """Apply it, and record what it made."""
    cluster = Cluster.load(Path(cluster_file))
    client = KubeClient.from_kubeconfig(cluster.kubeconfig)
    keep_standing(client, cluster.state_dir)
    client.close()
    record = Record(
        stack_dir=Path(stack_dir),
        policies_dir=Path(stack_dir),
        overrides={},
        laboratory=False,
        files={},
    )
    record.write(cluster.state_dir, complete=False)
    stack = create_stack(
        engine=find_engine(),
        cluster=cluster,
        stack_dir=Path(stack_dir),
        policies_dir=None,
        work_dir=cluster.state_dir / WORKING_COPY,
        values=read_json(Path(cluster_file).with_name("values.json")),
        log_path=cluster.state_dir / "logs" / "terraform.log",
    )
    stack.init()
    apply_recorded(stack, cluster.state_dir)


if __name__ == "__main__":
    main(*sys.argv[1:])

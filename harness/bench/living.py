"""A cluster for as long as a block of code needs one: the provisioned one, or one of its own.

Refuses to know what is put on it. Called by whatever works on a cluster for one command or one run
of tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.bench import ledger
from harness.cluster.provider import Cluster, ClusterProvider, Progress
from harness.cluster.toolchain import Toolchain
from harness.core.interrupts import shielded


@contextmanager
def living_cluster(
    provider: ClusterProvider,
    *,
    home: Path,
    toolchain: Toolchain,
    say: Progress,
    of_its_own: bool = False,
    before_end: Callable[[Cluster], None] = lambda _: None,
) -> Iterator[Cluster]:
    """Give the cluster that is provisioned in this home, else one that ends with the block.

    Enter it on the main thread. One interrupt does not stop the end of a cluster half-way.

    Args:
        provider: Who gives it.
        home: Folder of the harness's state.
        toolchain: Gives its binaries.
        say: Told about progress, a line at a time.
        of_its_own: Whether the provisioned one is left alone.
        before_end: Called with a cluster that is about to end; it ends all the same when this
            fails.
    """
    found = None if of_its_own else provider.find(home)
    if found is not None:
        say(f"using the provisioned cluster at {found.server}")
        yield found
        return
    ephemeral = provider.ephemeral(home, toolchain=toolchain, progress=say)
    try:
        cluster = ephemeral.__enter__()
        try:
            yield cluster
        finally:
            with shielded(say):
                try:
                    before_end(cluster)
                finally:
                    ephemeral.__exit__(None, None, None)
                    _forget(home, cluster.name)
    finally:  # also when it never came up
        ledger.remove_empty(home)


def _forget(home: Path, cluster: str) -> None:
    """Remove the records of what was on a cluster that is gone, and everything with it."""
    for entry in tuple(ledger.entries(home)):
        if entry.cluster == cluster:
            entry.remove()

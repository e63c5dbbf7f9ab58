"""Take down what a killed harness left: its clusters, its attempts' worlds, and nothing else's."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass

from harness.bench import ledger
from harness.bench.elsewhere import settle_abandoned
from harness.bench.session import Session
from harness.bench.tools import Tools, engine_with_provider
from harness.bench.world_sweep import sweep_abandoned
from harness.cluster.home import state_dir_of
from harness.cluster.images.places import default_images_dir
from harness.cluster.provider import Cluster, ClusterProvider
from harness.core.naming import ATTEMPT_LABEL
from harness.core.scratch import abandoned_scratch, remove_scratch
from harness.errors import AnotherClusterError, ConfigError, HarnessError, TeardownError
from harness.kube.client import KubeClient
from harness.kube.sweep import Leftover, labelled_namespaces

#: Seconds; a day. A run of the whole suite with many repeats takes hours.
OLDER_THAN_S = 24 * 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Orphans:
    """What a sweep found.

    Attributes:
        found: What nobody alive answers for, one line each.
        deleted: Objects removed; 0 on a dry run.
        leftovers: What of ours is still there.
        elsewhere: Attempts on clusters that could not be looked at.
        strangers: Namespaces that carry our label and stand in no record of ours; none is touched.
    """

    found: tuple[str, ...]
    deleted: int = 0
    leftovers: tuple[Leftover, ...] = ()
    elsewhere: tuple[Leftover, ...] = ()
    strangers: tuple[Leftover, ...] = ()


def sweep_orphans(
    tools: Tools,
    *,
    providers: Sequence[ClusterProvider],
    dry_run: bool,
    older_than_s: float = OLDER_THAN_S,
) -> Orphans:
    """Sweep what abandoned entries of the ledger answer for, and dead clusters. Idempotent.

    A namespace that carries our label and stands in no entry is reported and left alone: labels can
    be set by anybody.

    Args:
        tools: What this machine gives.
        providers: Those whose clusters are looked at; one that fails does not stop the others.
        dry_run: Only look.
        older_than_s: Age in seconds from which a cluster of ours that no record of this home names
            counts as abandoned.
    """
    names = {provider.name for provider in providers}
    entries = [entry for entry in ledger.entries(tools.home) if entry.provider in names]
    abandoned = [entry for entry in entries if entry.abandoned]
    found = [f"attempt {entry.attempt_id} of run {entry.run_id}" for entry in abandoned]
    trouble: list[Leftover] = []
    for provider in providers:
        with _noting(trouble, f"clusters of provider {provider.name}"):
            found += provider.abandoned(tools.home, older_than_s=older_than_s)
    scratch = (*abandoned_scratch(), *abandoned_scratch(default_images_dir(os.environ)))
    found += [f"folder {folder}" for folder in scratch]
    if dry_run:
        return Orphans(found=tuple(found), leftovers=tuple(trouble))
    trouble.clear()  # what kept it from being found keeps it from being taken down
    for provider in providers:
        with _noting(trouble, f"clusters of provider {provider.name}"):
            if not provider.keeps_cluster:
                settle_abandoned(tools)
            provider.reap(tools.home, older_than_s=older_than_s)
    for folder in scratch:
        remove_scratch(folder)
    swept = []
    for provider in providers:
        theirs = [entry for entry in entries if entry.provider == provider.name]
        with _noting(trouble, f"attempts on the cluster of provider {provider.name}"):
            swept.append(_sweep_worlds(tools, provider, theirs))
    ledger.remove_empty(tools.home)
    return Orphans(
        found=tuple(found),
        deleted=sum(one.deleted for one in swept),
        leftovers=(*trouble, *(left for one in swept for left in one.leftovers)),
        elsewhere=tuple(left for one in swept for left in one.elsewhere),
        strangers=tuple(left for one in swept for left in one.strangers),
    )


def _sweep_worlds(
    tools: Tools, provider: ClusterProvider, entries: Sequence[ledger.AttemptEntry]
) -> Orphans:
    """Sweep the worlds that nobody alive answers for from the provisioned cluster."""
    cluster = provider.find(tools.home)
    here: list[ledger.AttemptEntry] = []
    elsewhere: list[Leftover] = []
    leftovers: list[Leftover] = []
    for entry in entries:
        if not entry.abandoned:
            continue
        if cluster is not None and entry.cluster == cluster.name:
            here.append(entry)
        elif not provider.keeps_cluster and not state_dir_of(tools.home, entry.cluster).is_dir():
            entry.remove()  # its cluster is gone, and everything on it
        else:
            blocker = f"its cluster {entry.cluster} was not named, or does not answer"
            elsewhere.append(Leftover(object=f"attempt {entry.attempt_id}", blocker=blocker))
    if cluster is None:
        return Orphans(found=(), elsewhere=tuple(elsewhere))
    deleted = 0
    with closing(KubeClient.from_kubeconfig(cluster.kubeconfig)) as client:
        session = _session(tools, cluster, client)
        for entry in here:
            swept = sweep_abandoned(session, entry)
            deleted += swept.deleted
            leftovers += swept.leftovers
        known = {entry.namespace for entry in entries}
        strangers = tuple(
            Leftover(
                object=f"namespace {item['metadata']['name']}",
                blocker="carries our label, and no record of ours names it",
            )
            for item in labelled_namespaces(client, ATTEMPT_LABEL)
            if item["metadata"]["name"] not in known
        )
    return Orphans(
        found=(),
        deleted=deleted,
        leftovers=tuple(leftovers),
        elsewhere=tuple(elsewhere),
        strangers=strangers,
    )


@contextmanager
def _noting(trouble: list[Leftover], what: str) -> Iterator[None]:
    """Note what a provider could not take down, so that the next one has its turn."""
    try:
        yield
    except TeardownError as error:
        blocker = error.hint or "it could not be taken down"
        trouble += (Leftover(object=line, blocker=blocker) for line in error.leftovers)
    except (AnotherClusterError, ConfigError):
        raise  # what was named is not what was meant: nothing is done until a person looks
    except HarnessError as error:
        trouble.append(Leftover(object=what, blocker=error.message))


def _session(tools: Tools, cluster: Cluster, client: KubeClient) -> Session:
    return Session(
        layout=tools.layout,
        home=tools.home,
        engine=engine_with_provider(tools),
        kubectl=tools.engine.path,
        cluster=cluster,
        node=None,
        client=client,
        kinds=client.discover(),
        specs=(),
        strangers={},
    )

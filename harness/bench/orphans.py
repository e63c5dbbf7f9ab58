"""Take down what a killed harness left: its clusters, its attempts' worlds, and nothing else's."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

from harness.bench import ledger
from harness.bench.platform import Tools, engine_with_provider
from harness.bench.session import Session, open_stack
from harness.bench.world import sweep_world
from harness.cluster.embedded.home import reap, stale_state_dirs
from harness.cluster.provider import Cluster
from harness.cluster.providers import PROVIDERS
from harness.core.naming import ATTEMPT_LABEL
from harness.core.scratch import abandoned_scratch, remove_scratch
from harness.errors import HarnessError
from harness.kube.client import KubeClient
from harness.kube.sweep import Leftover, labelled_namespaces
from harness.terraform.stack import Stack


@dataclass(frozen=True, slots=True, kw_only=True)
class Orphans:
    """What a sweep found.

    Attributes:
        found: What nobody alive answers for, one line each.
        deleted: Objects removed; 0 on a dry run.
        leftovers: What is still there.
    """

    found: tuple[str, ...]
    deleted: int
    leftovers: tuple[Leftover, ...]


def sweep_orphans(tools: Tools, *, provider: str, dry_run: bool) -> Orphans:
    """Sweep what abandoned entries of the ledger answer for. Idempotent.

    A namespace that carries our label and stands in no entry is reported and left alone: labels can
    be set by anybody.
    """
    entries = list(ledger.entries(tools.home))
    abandoned = [entry for entry in entries if entry.abandoned]
    found = [f"attempt {entry.attempt_id} of run {entry.run_id}" for entry in abandoned]
    found += [f"cluster {folder.name}" for folder in stale_state_dirs(tools.home)]
    scratch = abandoned_scratch()
    found += [f"folder {folder}" for folder in scratch]
    if dry_run:
        return Orphans(found=tuple(found), deleted=0, leftovers=())
    reap(tools.home)
    for folder in scratch:
        remove_scratch(folder)
    cluster = PROVIDERS[provider]().find(tools.home)
    deleted = 0
    leftovers: list[Leftover] = []
    if cluster is None:
        for entry in abandoned:  # its cluster is gone, and everything on it
            entry.remove()
    else:
        with closing(KubeClient.from_kubeconfig(cluster.kubeconfig)) as client:
            session = _session(tools, cluster, client)
            for entry in abandoned:
                swept = sweep_world(session, entry, _stack_of(session, entry))
                deleted += swept.deleted
                leftovers += swept.leftovers
                if not swept.leftovers:
                    entry.remove()
            known = {entry.namespace for entry in entries}
            leftovers += [
                Leftover(
                    object=f"namespace {item['metadata']['name']}",
                    blocker="carries our label, and no record of ours names it",
                )
                for item in labelled_namespaces(client, ATTEMPT_LABEL)
                if item["metadata"]["name"] not in known
            ]
    ledger.remove_empty(tools.home)
    return Orphans(found=tuple(found), deleted=deleted, leftovers=tuple(leftovers))


def _session(tools: Tools, cluster: Cluster, client: KubeClient) -> Session:
    return Session(
        layout=tools.layout,
        home=tools.home,
        engine=engine_with_provider(tools),
        kubectl=tools.engine.path,
        cluster=cluster,
        client=client,
        kinds=client.discover(),
        specs=(),
        strangers={},
    )


def _stack_of(session: Session, entry: ledger.AttemptEntry) -> Stack | None:
    """Return the entry's working copy; None when it never came to one, or it cannot be read."""
    if not entry.stack_dir.is_dir():
        return None
    try:
        return open_stack(engine=session.engine, cluster=session.cluster, work_dir=entry.stack_dir)
    except HarnessError:
        return None  # copied half-way; the namespace is swept without it

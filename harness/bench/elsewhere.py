"""What a stack of somebody's own made elsewhere than in its cluster: it does not end with that.

A cluster of ours takes with it whatever is in it, and the state of the stack besides, so the rest
is destroyed before. Refuses to know of clusters that stay. Called by whoever ends one.
"""

from __future__ import annotations

from pathlib import Path

from harness.bench.platform_sweep import WORKING_COPY
from harness.bench.record import read_record
from harness.bench.session import open_stack
from harness.bench.tools import Tools, engine_with_provider
from harness.cluster.home import clusters_dir, stale_state_dirs
from harness.cluster.provider import CLUSTER_FILE
from harness.core.files import read_json
from harness.errors import HarnessError, TeardownError
from harness.terraform.copies import holds_copy


def destroy_elsewhere(tools: Tools, state_dir: Path) -> None:
    """Destroy what a stack made outside of its cluster, which is gone or will be. Idempotent.

    Args:
        tools: What this machine gives.
        state_dir: The cluster's folder, with the record and the working copy of the stack.

    Raises:
        TeardownError: Something is left, or cannot be known; the state must be kept.
    """
    work_dir = state_dir / WORKING_COPY
    try:
        record = read_record(state_dir)
        if (record is not None and record.laboratory) or not holds_copy(work_dir):
            return  # our platform is in the cluster, all of it
        stack = open_stack(engine=engine_with_provider(tools), cluster=None, work_dir=work_dir)
        if addresses := stack.elsewhere:
            tools.say(f"destroying what is outside of the cluster: {', '.join(addresses)}")
            stack.destroy(cluster_gone=True)
    except HarnessError as error:
        left = (f"terraform state of {work_dir} ({error.message})",)
        raise TeardownError(left, hint="remove what keeps them, then try again") from error


def settle_abandoned(tools: Tools) -> None:
    """Do the same for the clusters of this home whose owner is gone, before they are removed.

    Raises:
        TeardownError: Something of one is left, or cannot be known.
    """
    for state_dir in stale_state_dirs(tools.home):
        try:
            destroy_elsewhere(tools, state_dir)
        except TeardownError:
            if state_dir.is_dir():  # else another sweep was faster
                raise


def provisioned_by(home: Path, provider: str) -> tuple[Path, ...]:
    """Return the state folders of the clusters that a provider has or had in a home, sorted."""
    records = sorted(clusters_dir(home).glob(f"*/{CLUSTER_FILE}"))
    return tuple(path.parent for path in records if read_json(path).get("provider") == provider)

"""What stands on a cluster is remembered, and trusted only while it is whole and unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.bench.foundation import Foundation
from harness.cluster.provider import Cluster
from harness.errors import ClusterError


@pytest.fixture
def foundation(tmp_path: Path) -> Foundation:
    root = tmp_path.resolve()
    for name in ("stack", "policies", "state"):
        (root / name).mkdir()
    (root / "stack" / "main.tf").write_text("locals {}\n")
    return Foundation(
        stack_dir=root / "stack", policies_dir=root / "policies", overrides={"size": 1}
    )


@pytest.fixture
def cluster(foundation: Foundation) -> Cluster:
    state_dir = foundation.stack_dir.parent / "state"
    return Cluster(
        provider="embedded",
        name="provisioned",
        kubeconfig=state_dir / "kubeconfig",
        server="https://127.0.0.1:1",
        ca_pem=b"",
        capabilities=frozenset(),
        versions={},
        audit_log_path=None,
        state_dir=state_dir,
    )


def test_what_was_provisioned_is_recalled_whole(foundation: Foundation, cluster: Cluster) -> None:
    foundation.record().write(cluster.state_dir, complete=True)

    assert Foundation.recalled(cluster) == foundation


def test_nothing_is_recalled_where_nothing_was_provisioned(cluster: Cluster) -> None:
    with pytest.raises(ClusterError) as caught:
        Foundation.recalled(cluster)

    assert caught.value.message == "cluster provisioned: nothing was provisioned there"
    assert caught.value.hint == "run `strandline provision`"


def test_what_did_not_come_up_is_not_recalled(foundation: Foundation, cluster: Cluster) -> None:
    foundation.record().write(cluster.state_dir, complete=False)

    with pytest.raises(ClusterError) as caught:
        Foundation.recalled(cluster)

    assert caught.value.message == (
        f"cluster provisioned: {foundation.stack_dir} was begun there, and its apply did not end "
        "well"
    )


def test_a_stack_that_changed_since_is_not_recalled(
    foundation: Foundation, cluster: Cluster
) -> None:
    foundation.record().write(cluster.state_dir, complete=True)
    (foundation.stack_dir / "main.tf").write_text("locals { a = 1 }\n")

    with pytest.raises(ClusterError) as caught:
        Foundation.recalled(cluster)

    assert caught.value.message == (
        f"cluster provisioned: main.tf of {foundation.stack_dir} has changed since it was "
        "provisioned"
    )

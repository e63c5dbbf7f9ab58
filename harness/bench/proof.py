"""Which cluster this is: kept before the first thing is made on it, proved before any is deleted.

Joins the UID in a cluster's state folder with the client that asks for it. Called by whoever
applies the platform, and by everybody who sweeps.
"""

from __future__ import annotations

from harness.cluster.identity import read_identity, record_identity
from harness.cluster.provider import Cluster
from harness.kube.client import KubeClient
from harness.kube.identity_guard import ProvenClient, prove_identity


def keep_identity(client: KubeClient, cluster: Cluster) -> None:
    """Keep the UID of a cluster, of whatever provider, before its first apply. Idempotent.

    Raises:
        AnotherClusterError: Another one was kept in this state folder.
    """
    record_identity(cluster.state_dir, client.identity())


def prove_cluster(client: KubeClient, cluster: Cluster) -> ProvenClient:
    """Return the client that may sweep this cluster.

    Raises:
        AnotherClusterError: Another cluster answers; nothing was touched.
        ClusterError: No UID was ever kept.
    """
    return prove_identity(client, read_identity(cluster.state_dir))

"""What the platform stack must be told about the admission webhook of a cluster.

Beside the cluster it is a process that serves already; in the cluster the stack makes it, with a
certificate that is made here, once a cluster. Called by whoever applies the platform.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import trustme

from harness.cluster.provider import Cluster
from harness.errors import ClusterError

#: Where the API server finds it: the Service `webhook` of tf/modules/lab_webhook, in the namespace
#: that tf/stacks/platform names.
_SERVICE_HOST = "webhook.strandline-system.svc"


def webhook_values(cluster: Cluster, *, harness_user: str) -> Mapping[str, Any]:
    """Return the values of the platform stack's variables `webhook_*`.

    Args:
        cluster: Where the platform goes.
        harness_user: User name of the harness there, which the webhook lets delete anything.

    Raises:
        ClusterError: The cluster has neither a webhook nor an image to make one of.
    """
    if cluster.image is not None:
        authority = trustme.CA()
        leaf = authority.issue_cert(_SERVICE_HOST)
        service = {
            "image": cluster.image,
            "harness_user": harness_user,
            "certificate": b"".join(blob.bytes() for blob in leaf.cert_chain_pems).decode(),
            "key": leaf.private_key_pem.bytes().decode(),
        }
        return {
            "webhook_service": service,
            "webhook_ca_bundle": _base64(authority.cert_pem.bytes()),
        }
    if cluster.webhook_port is None:
        msg = f"cluster {cluster.name}: neither a webhook nor an image for one"
        raise ClusterError(msg, hint="take the cluster down and provision it again")
    return {
        "webhook_url": f"https://127.0.0.1:{cluster.webhook_port}",
        "webhook_ca_bundle": _base64(cluster.webhook_ca_pem),
    }


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()

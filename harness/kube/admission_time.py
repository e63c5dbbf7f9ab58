"""How long a request may still wait in admission after its caller is gone.

Without an audit log nobody sees when the last request of the agent's has ended. Its connections
are cut, which cancels what is in flight; what was past that point is bounded by the webhooks that
it can meet, one after the other. Called by the freeze.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from harness.kube.client import KubeClient
from harness.kube.resources import LAB_GROUP, MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS

#: Seconds that the API server gives a webhook which names no time-out of its own.
#: Source: kubernetes.io, admissionregistration.k8s.io/v1, timeoutSeconds.
_DEFAULT_TIMEOUT_S = 10

#: Seconds after which an API server ends any request that is no watch, whatever it waits for.
#: Source: kube-apiserver --request-timeout.
_REQUEST_TIMEOUT_S = 60.0

#: Seconds for the write itself, after the last webhook.
_MARGIN_S = 2.0


def longest_admission_s(client: KubeClient) -> float:
    """Return the bound in seconds for requests of the laboratory's kinds on a live cluster."""
    configurations = [
        *client.list_objects(MUTATING_WEBHOOKS),
        *client.list_objects(VALIDATING_WEBHOOKS),
    ]
    return admission_bound_s(configurations)


def admission_bound_s(configurations: Iterable[Mapping[str, Any]]) -> float:
    """Return the sum of the time-outs of every webhook that can be met, and a margin. Pure.

    Validating webhooks are called at once, so the sum is more than is needed, never less.
    """
    total = sum(
        webhook.get("timeoutSeconds", _DEFAULT_TIMEOUT_S)
        for configuration in configurations
        for webhook in configuration.get("webhooks") or ()
        if _meets_the_lab(webhook)
    )
    return min(float(total), _REQUEST_TIMEOUT_S) + _MARGIN_S


def _meets_the_lab(webhook: Mapping[str, Any]) -> bool:
    groups = {group for rule in webhook.get("rules") or () for group in rule.get("apiGroups") or ()}
    return bool(groups & {LAB_GROUP, "*"})

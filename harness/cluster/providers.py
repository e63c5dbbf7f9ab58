"""The table of cluster providers: name to constructor. A new one adds one line.

Called by whoever turns what a person named into a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.cluster.embedded.provider import EmbeddedProvider
from harness.cluster.existing.provider import ExistingProvider
from harness.cluster.kind.provider import KindProvider
from harness.cluster.provider import ClusterProvider


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What a person named of a cluster of their own; None is left to the environment.

    Attributes:
        context: Context of a kubeconfig.
        kubeconfig: File with that context.
        image: Reference of the laboratory's image there.
    """

    context: str | None = None
    kubeconfig: Path | None = None
    image: str | None = None


def _existing(named: Named) -> ClusterProvider:
    return ExistingProvider(context=named.context, kubeconfig=named.kubeconfig, image=named.image)


PROVIDERS: Mapping[str, Callable[[Named], ClusterProvider]] = {
    "embedded": lambda _: EmbeddedProvider(),
    "kind": lambda _: KindProvider(),
    "existing": _existing,
}

"""The table of cluster providers: name to constructor. A new one adds one line.

Called by whoever turns what a person named into a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.cluster.provider import ClusterProvider


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What a person named of a cluster; None is left to the environment.

    Attributes:
        context: Context of a kubeconfig, of somebody's own cluster.
        kubeconfig: File with that context.
        image: Reference of the laboratory's image there.
        laboratory: Whether the laboratory's services are to run on it: else there is no webhook
            beside it, and no image of theirs is made for it or loaded into it.
        nodes: Nodes without containers of an embedded cluster; kind has its own.
    """

    context: str | None = None
    kubeconfig: Path | None = None
    image: str | None = None
    laboratory: bool = True
    nodes: int = 0


def _embedded(named: Named) -> ClusterProvider:
    from harness.cluster.embedded.provider import EmbeddedProvider

    return EmbeddedProvider(laboratory=named.laboratory, nodes=named.nodes)


def _kind(named: Named) -> ClusterProvider:
    from harness.cluster.kind.provider import KindProvider

    return KindProvider(laboratory=named.laboratory)


def _existing(named: Named) -> ClusterProvider:
    from harness.cluster.existing.provider import ExistingProvider

    return ExistingProvider(
        context=named.context,
        kubeconfig=named.kubeconfig,
        image=named.image,
        laboratory=named.laboratory,
    )


PROVIDERS: Mapping[str, Callable[[Named], ClusterProvider]] = {
    "embedded": _embedded,
    "kind": _kind,
    "existing": _existing,
}

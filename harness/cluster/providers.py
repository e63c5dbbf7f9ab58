"""The table of cluster providers: name to constructor. A new one adds one line.

Called by whoever turns the name that a person gave into a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from harness.cluster.embedded.provider import EmbeddedProvider
from harness.cluster.existing.provider import ExistingProvider
from harness.cluster.kind.provider import KindProvider
from harness.cluster.provider import ClusterProvider

PROVIDERS: Mapping[str, Callable[[], ClusterProvider]] = {
    "embedded": EmbeddedProvider,
    "kind": KindProvider,
    "existing": ExistingProvider,
}

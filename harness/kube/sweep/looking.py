"""What stands now under the names that a record has, and of which nobody could say.

It reads, and deletes nothing; whether what is found is ours is for the caller to tell by its UID.
Called by the sweep of what a record names.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from harness.errors import KubeError
from harness.kube.client import KubeClient
from harness.kube.resources import Resource
from harness.kube.sweep.leftovers import line_of
from harness.kube.sweep.listing import THREADS, find_readable


@dataclass(frozen=True, slots=True, kw_only=True)
class Owned:
    """One object that a record names.

    Attributes:
        namespace: Empty for what is cluster-scoped.
        uid: What the API server gave it; empty when that was never recorded, and then it is never
            deleted, and named while something of its name stands.
    """

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str


class Looking:
    """Looks at one cluster.

    Attributes:
        unreadable: What could not be read when it was looked at last, to why.
    """

    def __init__(self, client: KubeClient) -> None:
        self._client = client
        self.unreadable: dict[str, str] = {}

    def at(
        self, pairs: Iterable[tuple[Resource, Owned]]
    ) -> list[tuple[Resource, Owned, dict[str, Any] | None]]:
        """Return each with what has its name now; None where nothing has, or nobody can tell."""

        def look(kind: Resource, one: Owned) -> tuple[Resource, Owned, dict[str, Any] | None]:
            line = line_of(kind, {"namespace": one.namespace, "name": one.name})
            self.unreadable.pop(line, None)
            try:
                readable, item = find_readable(
                    self._client, kind, one.name, namespace=one.namespace or None
                )
            except KubeError as error:
                self.unreadable[line] = error.message  # whoever cannot look cannot say it is gone
                return kind, one, None
            return readable, one, item

        with ThreadPoolExecutor(THREADS) as pool:
            return list(pool.map(lambda pair: look(*pair), list(pairs)))

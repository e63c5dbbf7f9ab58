"""Kinds that a spec names: looked up by their group, and again as long as they are missing."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import KubeError, NotFoundError
from harness.specs.kinds import Kinds

WIDGETS = {
    "resources": [
        {"name": "widgets", "kind": "Widget", "namespaced": True, "verbs": ["list", "delete"]}
    ]
}
GROUP = {"preferredVersion": {"groupVersion": "example.com/v2"}}


class FakeDiscovery:
    """Gives scripted answers in order; anything else fails the test."""

    def __init__(self, *script: tuple[str, Any]) -> None:
        self._script = list(script)

    def call(self, method: str, path: str) -> Any:
        """Give the next answer of the script."""
        assert self._script, f"unexpected {method} {path}"
        expected, answer = self._script.pop(0)
        assert f"{method} {path}" == f"GET {expected}"
        if isinstance(answer, KubeError):
            raise answer
        return answer

    @property
    def used_up(self) -> bool:
        """Whether every scripted request was made."""
        return not self._script


def _kinds(discovery: FakeDiscovery) -> Kinds:
    return Kinds(discovery)  # type: ignore[arg-type] # a strict fake


def test_a_kind_is_looked_up_once_in_the_version_that_its_group_prefers() -> None:
    discovery = FakeDiscovery(("/apis/example.com", GROUP), ("/apis/example.com/v2", WIDGETS))
    kinds = _kinds(discovery)

    found = [kinds.named("widgets.example.com") for _ in range(2)]

    assert [one.api_version for one in found if one] == ["example.com/v2", "example.com/v2"]
    assert discovery.used_up


def test_a_kind_that_is_missing_is_asked_for_again_until_it_is_there() -> None:
    missing = NotFoundError("GET /apis/example.com: not found", status=404)
    discovery = FakeDiscovery(
        ("/apis/example.com", missing),
        ("/apis/example.com", GROUP),
        ("/apis/example.com/v2", {"resources": []}),
        ("/apis/example.com", GROUP),
        ("/apis/example.com/v2", WIDGETS),
    )
    kinds = _kinds(discovery)

    found = [kinds.named("widgets.example.com") for _ in range(3)]

    assert found[:2] == [None, None]
    assert found[2] is not None
    assert discovery.used_up


def test_a_kind_of_the_core_group_is_looked_up_there() -> None:
    discovery = FakeDiscovery(("/api/v1", WIDGETS))

    found = _kinds(discovery).named("widgets")

    assert found is not None
    assert found.path("a") == "/api/v1/namespaces/a/widgets"


def test_a_cluster_that_does_not_say_what_it_has_does_not_lack_it() -> None:
    discovery = FakeDiscovery(("/apis/example.com", KubeError("no answer", status=503)))

    with pytest.raises(KubeError, match="no answer"):
        _kinds(discovery).named("widgets.example.com")

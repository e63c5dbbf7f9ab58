"""Older news never overwrites newer."""

from __future__ import annotations

from typing import Any

from harness.lab.cache import Cache
from harness.model.lab import Instrument


def _instrument(name: str, version: int, kind: str = "mixer") -> dict[str, Any]:
    return {"metadata": {"name": name, "resourceVersion": str(version)}, "spec": {"type": kind}}


def _seen(cache: Cache) -> dict[str, str]:
    return {one.name: one.spec.type for one in cache.of(Instrument)}


def test_what_was_written_here_is_not_undone_by_an_older_change() -> None:
    cache = Cache()
    cache.apply("Instrument", "MODIFIED", _instrument("a", 7, "new"))

    cache.apply("Instrument", "MODIFIED", _instrument("a", 5, "old"))

    assert _seen(cache) == {"a": "new"}


def test_an_object_that_is_gone_does_not_come_back_by_an_older_change() -> None:
    cache = Cache()
    cache.apply("Instrument", "ADDED", _instrument("a", 5))

    cache.apply("Instrument", "DELETED", _instrument("a", 8))
    cache.apply("Instrument", "MODIFIED", _instrument("a", 7))

    assert _seen(cache) == {}


def test_one_made_again_under_the_same_name_is_there() -> None:
    cache = Cache()
    cache.apply("Instrument", "DELETED", _instrument("a", 8))

    cache.apply("Instrument", "ADDED", _instrument("a", 9))

    assert _seen(cache) == {"a": "mixer"}


def test_a_list_forgets_what_is_gone_and_keeps_what_is_newer_than_itself() -> None:
    cache = Cache()
    cache.apply("Instrument", "ADDED", _instrument("gone", 3))
    cache.apply("Instrument", "ADDED", _instrument("fresh", 12))

    cache.replace("Instrument", [_instrument("listed", 4)], "10")

    assert _seen(cache) == {"fresh": "mixer", "listed": "mixer"}
    assert cache.listed == {"Instrument"}


def test_events_are_known_by_name() -> None:
    cache = Cache()
    cache.replace("LabEvent", [{"metadata": {"name": "e1", "resourceVersion": "4"}}], "5")
    cache.apply("LabEvent", "ADDED", {"metadata": {"name": "e2", "resourceVersion": "6"}})
    cache.apply("LabEvent", "DELETED", {"metadata": {"name": "e1", "resourceVersion": "7"}})

    assert cache.events == {"e2"}


def test_an_object_that_cannot_be_read_is_left_out() -> None:
    cache = Cache()
    broken = {"metadata": {"name": "a", "resourceVersion": "3"}, "spec": {"type": 7}}

    cache.apply("Instrument", "ADDED", broken)

    assert _seen(cache) == {}


def test_a_change_ends_a_wait_for_something_newer() -> None:
    cache = Cache()
    version = cache.version
    cache.bump()

    cache.wait(version, None)

    assert cache.version == version + 1

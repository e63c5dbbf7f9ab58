"""What counts as a change of an object, and what does not."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.resources import CONFIG_MAPS, LAB_RUNS, NAMESPACES, SECRETS
from harness.kube.snapshot import changed, digest_of, is_probe, key_of


def _object(**metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": "one", "namespace": "there", "uid": "u1", **metadata}}


def test_nothing_changed_gives_no_line() -> None:
    assert changed({"configmaps a/b": "u1 d1"}, {"configmaps a/b": "u1 d1"}) == ()


def test_each_object_that_differs_is_named_with_what_happened_to_it() -> None:
    before = {"configmaps a/changed": "u1 d1", "configmaps a/gone": "u2 d1", "nodes made": "u3 d1"}
    after = {"configmaps a/changed": "u1 d2", "nodes made": "u4 d1", "roles a/new": "u5 d1"}

    assert changed(before, after) == (
        "configmaps a/changed: changed",
        "configmaps a/gone: deleted",
        "nodes made: deleted and made again",
        "roles a/new: added",
    )


def test_an_object_has_a_key_with_its_namespace_where_it_has_one() -> None:
    assert key_of(LAB_RUNS, _object()) == "labruns.lab.strandline.dev there/one"
    assert key_of(NAMESPACES, {"metadata": {"name": "one"}}) == "namespaces one"


@pytest.mark.parametrize(
    "change",
    [
        {"metadata": {"name": "one", "resourceVersion": "9", "managedFields": [{}]}},
        {"metadata": {"name": "one", "generation": 3}},
        {"metadata": {"name": "one"}, "status": {"phase": "Ready"}},
    ],
)
def test_what_moves_by_itself_does_not_change_a_digest(change: dict[str, Any]) -> None:
    before = {"metadata": {"name": "one"}, "data": {"a": "b"}}

    assert digest_of(CONFIG_MAPS, {**before, **change}) == digest_of(CONFIG_MAPS, before)


@pytest.mark.parametrize(
    "change",
    [
        {"data": {"a": "c"}},
        {"metadata": {"name": "one", "labels": {"a": "b"}}},
        {"metadata": {"name": "one", "finalizers": ["a/b"]}},
        {"metadata": {"name": "one", "deletionTimestamp": "2026-01-01T00:00:00Z"}},
    ],
)
def test_what_somebody_writes_changes_a_digest(change: dict[str, Any]) -> None:
    before = {"metadata": {"name": "one"}, "data": {"a": "b"}}

    assert digest_of(CONFIG_MAPS, {**before, **change}) != digest_of(CONFIG_MAPS, before)


def test_a_secret_is_told_by_its_version_and_never_by_its_content() -> None:
    secret = {"metadata": {"name": "one", "resourceVersion": "1"}, "data": {"password": "YQ=="}}

    same = digest_of(SECRETS, {**secret, "data": {"password": "Yg=="}})
    other = digest_of(SECRETS, {**secret, "metadata": {"name": "one", "resourceVersion": "2"}})

    assert same == digest_of(SECRETS, secret)
    assert other != same


def test_only_what_a_probe_made_in_the_canary_is_a_probe() -> None:
    made = [{"manager": "strandline-probe-7f3a"}]

    assert is_probe(_object(namespace="strandline-canary", managedFields=made))
    assert not is_probe(_object(managedFields=made))
    assert not is_probe(
        _object(namespace="strandline-canary", managedFields=[{"manager": "kubectl"}])
    )

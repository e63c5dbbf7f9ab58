"""Names that sort, differ and fit where they go."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from harness.core.naming import (
    ID_PATTERN,
    ROLES,
    attempt_namespace,
    new_attempt_id,
    new_run_id,
    owned,
    ownership_labels,
    service_account_user,
)


def test_run_ids_sort_by_time_and_differ_within_one_second() -> None:
    earlier = datetime(2026, 11, 30, 1, 45, 12, tzinfo=UTC)
    later = datetime(2026, 11, 30, 1, 45, 13, tzinfo=UTC)

    assert new_run_id(earlier).startswith("20261130-014512-")
    assert new_run_id(earlier) < new_run_id(later)
    assert new_run_id(earlier) != new_run_id(earlier)


def test_a_run_id_and_a_namespace_are_dns_labels() -> None:
    run_id = new_run_id(datetime(2026, 1, 1, tzinfo=UTC))
    namespace = attempt_namespace(new_attempt_id())

    assert re.match(ID_PATTERN, run_id)
    assert re.match(ID_PATTERN, namespace)
    assert re.fullmatch(r"lab-[0-9a-f]{8}", namespace)


def test_no_two_attempts_have_the_same_id() -> None:
    assert len({new_attempt_id() for _ in range(200)}) == 200


def test_the_pattern_of_an_id_allows_a_label_and_nothing_else() -> None:
    good = ["a", "lab-operation", "0", "a" * 63]
    bad = ["", "-a", "a-", "A", "a_b", "a.b", "a/b", "..", "a" * 64, "a b"]

    assert [name for name in good if not re.match(ID_PATTERN, name)] == []
    assert [name for name in bad if re.match(ID_PATTERN, name)] == []


def test_owning_adds_labels_and_changes_nothing_that_was_passed_in() -> None:
    manifest = {"kind": "LabRun", "metadata": {"name": "a", "labels": {"app": "x"}}}

    found = owned(manifest, ownership_labels("r1", "a1"))

    assert found == {
        "kind": "LabRun",
        "metadata": {
            "name": "a",
            "labels": {"app": "x", "strandline.dev/run": "r1", "strandline.dev/attempt": "a1"},
        },
    }
    assert manifest == {"kind": "LabRun", "metadata": {"name": "a", "labels": {"app": "x"}}}


def test_a_manifest_without_metadata_can_be_owned() -> None:
    assert owned({}, {"a": "b"}) == {"metadata": {"labels": {"a": "b"}}}


def test_ownership_wins_over_a_label_that_was_there() -> None:
    manifest = {"metadata": {"labels": {"strandline.dev/run": "forged"}}}

    found = owned(manifest, ownership_labels("r1", "a1"))

    assert found["metadata"]["labels"]["strandline.dev/run"] == "r1"


def test_a_role_is_the_user_that_the_api_server_makes_of_a_service_account() -> None:
    assert service_account_user("lab-1", "agent") == "system:serviceaccount:lab-1:agent"
    assert list(ROLES) == sorted(set(ROLES))

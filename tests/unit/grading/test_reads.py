"""Which read shows which object, and when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from harness.grading.reads import labels_match, saw
from harness.model.evidence import AuditRecord

NAME = "night-mix"
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def _at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def _read(
    verb: str = "get", *, at: float = 0, until: float | None = None, **changes: Any
) -> AuditRecord:
    """Return a read that took 5 ms, unless it ended at another time."""
    fields = {
        "audit_id": "audit-1",
        "received_at": _at(at),
        "completed_at": _at(at + 0.005 if until is None else until),
        "user": "agent",
        "verb": verb,
        "group": "lab.strandline.dev",
        "resource": "labtasks",
        "subresource": "",
        "namespace": "lab-1",
        "name": NAME if verb == "get" else "",
        "code": 200,
        "refused_by": None,
        "dry_run": False,
    }
    return AuditRecord.model_validate({**fields, **changes})


def _list(**selectors: str) -> AuditRecord:
    return _read("list", selectors=selectors)


@pytest.mark.parametrize(
    ("record", "seen"),
    [
        (_read(), True),
        (_read(subresource="status"), True),
        (_read(name="another"), False),
        (_read(subresource="log"), False),
        (_read(resource="labruns"), False),
        (_read(code=404), False),
        (_read(code=403), False),
        (_read(code=0), False),
        (_read("patch", name=NAME), False),
        (_read("delete", name=NAME), False),
        (_read("list"), True),
        (_read("watch"), True),
        (_read("list", name="another"), False),
        (_read("list", name=NAME), True),
    ],
)
def test_a_get_of_the_name_a_list_and_a_watch_of_the_kind_show_it(
    record: AuditRecord, *, seen: bool
) -> None:
    assert saw([record], "labtasks", NAME) is seen


def test_nothing_shows_nothing() -> None:
    assert not saw([], "labtasks", NAME)


def test_any_read_of_the_kind_shows_something_of_it() -> None:
    assert saw([_read(name="another")], "labtasks", None)
    assert not saw([_read(name="another")], "labruns", None)


@pytest.mark.parametrize(
    ("namespace", "asked", "seen"),
    [
        ("lab-1", "lab-1", True),
        ("", "lab-1", True),
        ("lab-2", "lab-1", False),
        ("lab-2", None, True),
    ],
)
def test_a_read_of_another_namespace_shows_nothing_of_this_one(
    namespace: str, asked: str | None, *, seen: bool
) -> None:
    record = _read("list", namespace=namespace)

    assert saw([record], "labtasks", NAME, namespace=asked) is seen


@pytest.mark.parametrize(
    ("selector", "seen"),
    [
        ("metadata.name=night-mix", True),
        ("metadata.name==night-mix", True),
        ("metadata.name=night-mix,metadata.namespace=lab-1", True),
        ("metadata.name=night", False),
        ("metadata.name!=night-mix", False),
        ("metadata.name!=day-mix", True),
        ("metadata.namespace=lab-2", False),
        ("status.state=failed", False),
        ("rubbish", False),
        ("", True),
    ],
)
def test_a_field_selector_that_takes_the_name_in_shows_it(selector: str, *, seen: bool) -> None:
    assert saw([_list(fieldSelector=selector)], "labtasks", NAME) is seen
    assert saw([_read("watch", selectors={"fieldSelector": selector})], "labtasks", NAME) is seen


@pytest.mark.parametrize(
    ("selector", "match"),
    [
        ("", True),
        ("group=night", True),
        ("group==night", True),
        ("group = night", True),
        ("group=day", False),
        ("group!=day", True),
        ("group!=night", False),
        ("other!=night", True),
        ("group in (day, night)", True),
        ("group in (day)", False),
        ("group notin (day)", True),
        ("group notin (day,night)", False),
        ("other notin (day)", True),
        ("group", True),
        ("!group", False),
        ("other", False),
        ("!other", True),
        ("group=night,shift=1", True),
        ("group in (day,night),shift=2", False),
        ("group=night,", True),
        ("group>1", False),
        ("(", False),
    ],
)
def test_a_label_selector_matches_as_the_api_server_matches(selector: str, *, match: bool) -> None:
    labels = {"group": "night", "shift": "1"}

    assert labels_match(selector, labels) is match
    assert saw([_list(labelSelector=selector)], "labtasks", NAME, labels=labels) is match


def test_a_list_by_labels_shows_no_object_without_them() -> None:
    assert not saw([_list(labelSelector="group=night")], "labtasks", NAME)


@pytest.mark.parametrize(
    ("selectors", "seen"),
    [
        ({"limit": "500"}, True),
        ({"limit": "3"}, True),
        ({"limit": "2"}, False),
        ({"limit": "0"}, True),
        ({"limit": ""}, True),
        ({"limit": "1", "continue": "token"}, True),
    ],
)
def test_a_page_shows_the_first_names_and_the_next_one_the_rest(
    selectors: dict[str, str], *, seen: bool
) -> None:
    names = ["day-mix", "early-mix", NAME, "other-mix"]

    assert saw([_list(**selectors)], "labtasks", NAME, names=names) is seen
    assert saw([_list(**selectors)], "labtasks", NAME)


@pytest.mark.parametrize(("at", "seen"), [(9, False), (10, True), (19, True), (20, False)])
@pytest.mark.parametrize("verb", ["get", "list"])
def test_a_get_or_a_list_shows_what_is_when_it_is_asked(
    verb: str, at: float, *, seen: bool
) -> None:
    found = saw([_read(verb, at=at)], "labtasks", NAME, after=_at(10), before=_at(20))

    assert found is seen


@pytest.mark.parametrize(
    ("at", "until", "selectors", "seen"),
    [
        (0, 15, {"resourceVersion": "7"}, True),
        (0, 10, {"resourceVersion": "7"}, False),
        (0, 9, {}, False),
        (0, 60, {}, True),
        (12, 15, {}, True),
        (12, 15, {"resourceVersion": "0"}, True),
        (12, 15, {"resourceVersion": "7"}, False),
        (12, 15, {"resourceVersion": "7", "sendInitialEvents": "true"}, True),
        (20, 30, {}, False),
    ],
)
def test_a_watch_shows_what_changes_while_it_is_open_and_what_it_begins_with(
    at: float, until: float, selectors: dict[str, str], *, seen: bool
) -> None:
    watch = _read("watch", at=at, until=until, selectors=selectors)

    assert saw([watch], "labtasks", NAME, after=_at(10), before=_at(20)) is seen


def test_a_watch_that_is_still_open_shows_what_changes_now() -> None:
    watch = _read("watch", completed_at=None, selectors={"resourceVersion": "7"})

    assert saw([watch], "labtasks", NAME, after=_at(10))


@pytest.mark.parametrize(("version", "seen"), [(8, True), (7, False), (None, False)])
def test_a_watch_that_was_opened_later_shows_what_came_after_its_version(
    version: int | None, *, seen: bool
) -> None:
    watch = _read("watch", at=12, until=15, selectors={"resourceVersion": "7"})

    assert saw([watch], "labtasks", NAME, after=_at(10), version=version) is seen


def test_a_watch_shows_the_whole_kind_whatever_its_limit() -> None:
    watch = _read("watch", selectors={"limit": "1"})

    assert saw([watch], "labtasks", NAME, names=["a", "b", NAME])

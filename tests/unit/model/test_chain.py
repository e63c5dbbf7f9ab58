"""Lines that hold on to each other: what is changed at any place is found, and where."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.core.files import sha256_hex
from harness.model.chain import BrokenLink, Chain, broken_link, chained, without_link

VALUES: list[dict[str, Any]] = [{"n": n, "text": "\u2028 \x1b"} for n in range(5)]


def _check(content: bytes, chain: Chain) -> BrokenLink | None:
    lines = content.removesuffix(b"\n").split(b"\n") if content else []
    return broken_link(lines, [json.loads(line) for line in lines], chain)


def test_what_was_chained_is_found_whole_and_as_it_was() -> None:
    content, chain = chained(VALUES, start="start.1")

    lines = content.splitlines()
    assert _check(content, chain) is None
    assert [without_link(json.loads(line)) for line in lines] == VALUES
    assert chain == Chain(start="start.1", count=5, head=sha256_hex(lines[-1]))


def test_equal_values_give_equal_bytes() -> None:
    assert chained(VALUES, start="a") == chained(list(VALUES), start="a")


def test_no_lines_come_to_the_digest_of_the_start() -> None:
    content, chain = chained([], start="start.1")

    assert (content, chain.count, chain.head) == (b"", 0, sha256_hex(b"start.1"))
    assert _check(b"", chain) is None


@pytest.mark.parametrize("other", ["start.2", ""])
def test_lines_that_follow_another_start_are_found(other: str) -> None:
    content, chain = chained(VALUES, start="start.1")

    found = _check(content, chain.model_copy(update={"start": other}))

    assert found is not None
    assert found.line == 1
    assert found.what == (
        f"follows {sha256_hex(b'start.1')[:12]}, expected the start marker's "
        f"{sha256_hex(other.encode())[:12]}"
    )


def test_lines_that_are_missing_at_the_end_are_found() -> None:
    content, chain = chained(VALUES, start="s")
    lines = content.splitlines(keepends=True)

    assert _check(b"".join(lines[:3]), chain) == BrokenLink(
        line=3, what="is the last of 3 records, expected 5"
    )
    assert _check(b"", chain) == BrokenLink(line=0, what="is the last of 0 records, expected 5")


def test_a_last_line_that_was_forged_is_found() -> None:
    content, chain = chained(VALUES, start="s")
    forged = content.replace(b'"n":4', b'"n":5')

    found = _check(forged, chain)

    assert found is not None
    assert found.line == 5
    assert found.what.startswith("found sha256 ")
    assert found.what.endswith(f"the chain ends in {chain.head[:12]}")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b"{}", "is record None of the chain, expected 1"),
        (b"7", "is record None of the chain, expected 1"),
        (b'{"seq":true,"previous":""}', "is record None of the chain, expected 1"),
        (b'{"seq":1}', "follows None, expected the start marker's 043a718774c5"),
    ],
)
def test_a_line_without_a_link_is_found(line: bytes, what: str) -> None:
    assert _check(line, chained([], start="s")[1]) == BrokenLink(line=1, what=what)

"""Files that are whole or absent."""

from __future__ import annotations

import resource
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.files import (
    PRIVATE_MODE,
    append_line,
    canonical_json,
    read_json,
    read_lines,
    readable_json,
    sha256_hex,
    write_atomic,
    write_json,
)
from harness.errors import ConfigError

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_equal_values_have_the_same_bytes_whatever_the_order_of_their_keys() -> None:
    assert canonical_json({"b": 1, "a": "é"}) == canonical_json({"a": "é", "b": 1})
    assert canonical_json({"b": 1, "a": "é"}) == '{"a":"é","b":1}'.encode()
    assert canonical_json({"a": 1}) != canonical_json({"a": 2})


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("write", [canonical_json, readable_json])
def test_a_number_that_json_does_not_have_is_refused(write: Any, number: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        write({"score": number})


@settings(max_examples=40)
@given(value=JSON)
def test_what_is_written_readably_is_read_back(
    value: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "value.json"

    write_json(path, value)

    assert read_json(path) == value


def test_a_digest_is_sha256_in_hexadecimal() -> None:
    assert sha256_hex(b"abc").startswith("ba7816bf8f01cfea")
    assert len(sha256_hex(b"")) == 64


def test_a_file_is_replaced_whole_and_its_folder_is_made(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    write_atomic(path, b"first, and longer")

    write_atomic(path, b"second")

    assert path.read_bytes() == b"second"
    assert [each.name for each in path.parent.iterdir()] == ["file"]


@pytest.mark.parametrize("mode", [PRIVATE_MODE, 0o644])
def test_a_file_has_the_mode_that_was_asked_for(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "file"
    path.touch(mode=0o666)

    write_atomic(path, b"token", mode=mode)

    assert _mode(path) == mode


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "taken"
    (path / "inside").mkdir(parents=True)

    with pytest.raises(OSError, match="directory"):
        write_atomic(path, b"a folder cannot be replaced by a file")

    assert [each.name for each in tmp_path.iterdir()] == ["taken"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", ":1: not JSON: Expecting value"),
        (b'{"a": 1,\n "b": }', ":2: not JSON: Expecting value"),
        (b'{"a": "\xff"}', ":1: not JSON: 'utf-8' codec can't decode byte 0xff in position 7"),
        (b"[" * 100_000, ":1: not JSON: "),
        (b"1" * 5000, ":1: not JSON: Exceeds the limit (4300 digits)"),
    ],
)
def test_what_is_not_json_is_named_with_file_and_line(
    tmp_path: Path, data: bytes, said: str
) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(data)

    with pytest.raises(ConfigError) as caught:
        read_json(path)

    assert str(caught.value).startswith(f"{path}{said}")
    assert "\n" not in str(caught.value)


def test_a_missing_json_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        read_json(tmp_path / "run.json")

    assert str(caught.value) == f"{tmp_path / 'run.json'}: No such file or directory"


def test_a_journal_is_read_in_the_order_in_which_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"

    append_line(path, {"event": "begun"}, mode=PRIVATE_MODE)
    append_line(path, {"event": "ended"}, mode=PRIVATE_MODE)

    assert list(read_lines(path)) == [{"event": "begun"}, {"event": "ended"}]
    assert _mode(path) == PRIVATE_MODE


def test_a_last_line_that_a_kill_has_cut_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"event":"begun"}\n{"event":"en')

    assert list(read_lines(path)) == [{"event": "begun"}]


def test_what_is_written_after_a_cut_line_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"event":"begun"}\n{"event":"en')

    append_line(path, {"event": "begun again"})

    assert list(read_lines(path)) == [{"event": "begun"}, {"event": "begun again"}]


def test_a_journal_that_is_one_cut_line_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"event":"be')

    append_line(path, 1)

    assert path.read_bytes() == b"1\n"


@pytest.fixture
def room_for_20_bytes() -> Iterator[None]:
    """Let no file grow beyond 20 bytes, as on a disk that is nearly full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("room_for_20_bytes")
def test_a_line_for_which_there_is_half_the_room_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    append_line(path, {"event": 1})

    with pytest.raises(OSError, match="File too large"):
        append_line(path, {"event": 2})

    assert list(read_lines(path)) == [{"event": 1}]


def test_a_journal_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert list(read_lines(tmp_path / "journal.jsonl")) == []

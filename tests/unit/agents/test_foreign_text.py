"""What strangers wrote, made safe to keep."""

from __future__ import annotations

from pathlib import Path

from harness.agents.foreign_text import excerpt, mask_file, masked, truncated, visible


def test_control_and_format_characters_are_shown_and_text_is_kept() -> None:
    text = visible("é\tok\n\x1b[31mred\x07\u202eevil\x00")

    assert text == "é\tok\n\\x1b[31mred\\x07\\u202eevil\\x00"


def test_a_secret_is_masked_and_a_short_value_is_not() -> None:
    text = masked("token abcdefgh, level 1", ["abcdefgh", "1"])

    assert text == "token ***, level 1"


def test_a_secret_is_masked_before_the_text_is_cut() -> None:
    text = excerpt("x abcdefgh", ["abcdefgh"], limit_chars=4)

    assert text == " ***"


def test_a_long_text_keeps_head_and_tail_and_says_what_is_missing() -> None:
    text = truncated("a" * 60 + "b" * 60, limit_bytes=40)

    assert text == "a" * 30 + "\n[80 of 120 bytes left out]\n" + "b" * 10


def test_a_text_within_the_limit_is_left_alone() -> None:
    text = truncated("é" * 20, limit_bytes=40)

    assert text == "é" * 20


def test_a_secret_in_a_file_is_masked_and_bytes_around_it_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "stdout"
    path.write_bytes(b"\xff abcdefgh \x00")

    mask_file(path, ["abcdefgh"])

    assert path.read_bytes() == b"\xff *** \x00"

"""Durations as people write them."""

from __future__ import annotations

import click
import pytest

from harness.cli.durations import Duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90m", 5400.0), ("24h", 86400.0), ("2d", 172800.0), ("30s", 30.0), ("0s", 0.0)],
)
def test_a_number_with_a_unit_is_seconds(text: str, seconds: float) -> None:
    assert Duration().convert(text, None, None) == seconds


@pytest.mark.parametrize("text", ["24", "h", "-1h", "1w", "1h30m", " 1h", "1e3s", ""])
def test_what_has_no_one_meaning_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter) as caught:
        Duration().convert(text, None, None)

    assert caught.value.message == f"{text!r} is no duration, expected for example 90m, 24h, 2d"

"""Tokens and money, as a stranger may report them."""

from __future__ import annotations

from typing import Any

import pytest

from harness.agents.usage import Prices, Usage, parse_count, parse_usage, total
from harness.errors import ConfigError


def test_a_line_of_usage_is_read() -> None:
    usage = parse_usage('{"input_tokens": 12, "output_tokens": 3.0, "cost_usd": 0.25, "x": 1}')

    assert usage == Usage(input_tokens=12, output_tokens=3, cost_usd=0.25)


def test_a_number_that_cannot_be_is_unknown_and_its_neighbours_are_kept() -> None:
    usage = parse_usage('{"input_tokens": NaN, "output_tokens": 5, "cost_usd": -1}')

    assert usage == Usage(output_tokens=5)


@pytest.mark.parametrize(
    "value",
    [True, False, -1, 1.5, float("nan"), float("inf"), 10**13, "7", None, [], {}],
    ids=repr,
)
def test_what_is_no_count_is_unknown(value: Any) -> None:
    count = parse_count(value)

    assert count is None


@pytest.mark.parametrize(
    "line",
    [
        "",
        "done",
        "[1]",
        "7",
        '{"input_tokens": 1} {"input_tokens": 2}',
        '{"input_tokens": ',
        '{"input_tokens": ' + "9" * 5000 + "}",
        "[" * 60_000,
        '{"a":' * 10_000,
        '{"input_tokens": 1' + " " * 70_000 + "}",
    ],
    ids=lambda line: f"{line[:20]}x{len(line)}",
)
def test_a_line_that_is_no_object_of_usage_says_nothing(line: str) -> None:
    usage = parse_usage(line)

    assert usage == Usage()


def test_a_sum_is_unknown_once_a_part_is() -> None:
    known = Usage(input_tokens=10, output_tokens=1)

    sums = (total((known, known)), total((known, Usage(input_tokens=5))), total(()))

    assert sums == (
        Usage(input_tokens=20, output_tokens=2),
        Usage(input_tokens=15),
        Usage(),
    )


def test_a_cost_needs_both_counts() -> None:
    prices = Prices(input_usd_per_million=2.0, output_usd_per_million=10.0)

    known = prices.cost_usd(Usage(input_tokens=500_000, output_tokens=100_000))
    unknown = prices.cost_usd(Usage(input_tokens=500_000))

    assert (known, unknown) == (2.0, None)


@pytest.mark.parametrize("price", [-1.0, float("nan"), float("inf")])
def test_a_price_that_cannot_be_is_refused(price: float) -> None:
    with pytest.raises(ConfigError) as caught:
        Prices(input_usd_per_million=price, output_usd_per_million=1.0)

    assert str(caught.value) == f"price of a million tokens: found {price!r}, expected 0 or more"

"""Tokens and money: what an agent says it used, and what that costs at a price given by the user.

It owns the arithmetic, and the reading of numbers that a stranger wrote; it refuses to guess, so
unknown is None and never 0. Pure. The command and chat agents call it.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

from harness.errors import ConfigError
from harness.model.frozen import Json

#: Bytes of the longest line read as usage; an honest one has under 200.
LINE_LIMIT_BYTES = 64 * 1024

#: Largest count and largest cost believed. The dearest run of a suite known to us used 10^8 tokens;
#: what is above 10^12 is a mistake or a prank, and would drown every mean.
_TOKENS_LIMIT = 10**12
_COST_LIMIT_USD = 10.0**6

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What was used; None is unknown."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """US dollars for a million tokens, as the user gave them."""

    input_usd_per_million: float
    output_usd_per_million: float

    def __post_init__(self) -> None:
        """Refuse what cannot be a price.

        Raises:
            ConfigError: A price is negative or not finite.
        """
        for price in (self.input_usd_per_million, self.output_usd_per_million):
            if not (math.isfinite(price) and price >= 0):
                msg = f"price of a million tokens: found {price!r}, expected 0 or more"
                raise ConfigError(msg, hint="give US dollars for a million tokens")

    def cost_usd(self, usage: Usage) -> float | None:
        """Return the cost, or None when a count is unknown. Pure."""
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        return (
            usage.input_tokens * self.input_usd_per_million
            + usage.output_tokens * self.output_usd_per_million
        ) / _MILLION


def parse_count(value: Json) -> int | None:
    """Return a number of tokens, or None for anything else, bools and fractions included. Pure."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value <= _TOKENS_LIMIT or value != int(value):  # NaN and infinities fail the first
        return None
    return int(value)


def parse_cost_usd(value: Json) -> float | None:
    """Return an amount of US dollars, or None for anything else. Pure."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= _COST_LIMIT_USD else None


def parse_usage(line: str) -> Usage:
    """Return what a command's last line of output says it used. Pure.

    One JSON object with any of `input_tokens`, `output_tokens`, `cost_usd`; all else is ignored,
    and a line that is no such object says nothing.
    """
    # A line of more characters than this has more bytes still, so nothing long is ever encoded.
    if len(line) > LINE_LIMIT_BYTES or len(line.encode("utf-8", "replace")) > LINE_LIMIT_BYTES:
        return Usage()
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):  # no JSON; a number of 5,000 digits; 60,000 brackets
        return Usage()
    if not isinstance(found, dict):
        return Usage()
    return Usage(
        input_tokens=parse_count(found.get("input_tokens")),
        output_tokens=parse_count(found.get("output_tokens")),
        cost_usd=parse_cost_usd(found.get("cost_usd")),
    )


def total(usages: tuple[Usage, ...]) -> Usage:
    """Return the sum; a count that is unknown once, or never given, is unknown. Pure."""
    return Usage(
        input_tokens=_sum([usage.input_tokens for usage in usages]),
        output_tokens=_sum([usage.output_tokens for usage in usages]),
    )


def _sum(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None

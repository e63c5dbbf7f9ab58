"""Durations as people write them, `90m`, `24h`, `2d`, in seconds.

A number alone is refused: nobody can tell which unit was meant. Used by options.
"""

from __future__ import annotations

import re
from typing import Any

import click

#: Unit to seconds.
_UNITS_S = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}

_FORM = re.compile(r"(?P<number>[0-9]{1,6}(?:\.[0-9]{1,3})?)(?P<unit>[smhd])")


class Duration(click.ParamType[float]):
    """Seconds, written as a number and a unit."""

    name = "duration"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the seconds."""
        if isinstance(value, float):
            return value
        found = _FORM.fullmatch(str(value))
        if found is None:
            self.fail(f"{value!r} is no duration, expected for example 90m, 24h, 2d", param, ctx)
        return float(found["number"]) * _UNITS_S[found["unit"]]

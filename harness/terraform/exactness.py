"""Values that are the engine's to the last digit, or are refused.

Pure. An engine computes with numbers of 512 bits and keeps text in one Unicode form; Python's
floats have 53 bits and its texts any form. What would change on the way, in either direction, is
found here. `variables` calls it.
"""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any


def exact_decoder() -> json.JSONDecoder:
    """Return a decoder that reads a number as an int or a float, or else as a Decimal."""
    return json.JSONDecoder(parse_float=_fraction, parse_int=_whole)


def _fraction(text: str) -> float | Decimal:
    value, exact = float(text), Decimal(text)
    # The shortest text of a float is what is written back, so that is what has to be equal.
    return value if Decimal(repr(value)) == exact else exact


def _whole(text: str) -> int | Decimal:
    try:
        return int(text)
    except ValueError:  # more digits than Python converts
        return Decimal(text)


def inexact_places(value: Any, place: str) -> Iterator[str]:
    """Yield where a decoded value holds a number that no float and no int of ours can."""
    if isinstance(value, Decimal):
        yield place
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from inexact_places(part, f"{place}.{key}")
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from inexact_places(part, f"{place}[{number}]")


def unstorable_reasons(value: Any, place: str) -> Iterator[str]:
    """Yield why a value cannot be written into a var file so that it comes back the same."""
    if isinstance(value, Mapping):
        seen: dict[str, Any] = {}
        for key, part in value.items():
            if not isinstance(key, str):
                yield f"{place} has a key that is not text"
            elif normal(key) in seen:
                yield f"{place} has two keys that are one in Unicode's composed form"
            else:
                seen[normal(key)] = part
                yield from _unstorable_text(key, f"{place} has a key that")
                yield from unstorable_reasons(part, f"{place}.{key}")
    elif isinstance(value, list | tuple):
        for number, part in enumerate(value):
            yield from unstorable_reasons(part, f"{place}[{number}]")
    elif isinstance(value, str):
        yield from _unstorable_text(value, place)
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"{place} is not a finite number"
    elif not isinstance(value, bool | int | float | None):
        yield f"{place} is not JSON"


def _unstorable_text(text: str, what: str) -> Iterator[str]:
    if any("\ud800" <= char <= "\udfff" for char in text):
        yield f"{what} holds half of a character"


def normal(text: str) -> str:
    """Return a text in the form in which an engine keeps it."""
    return unicodedata.normalize("NFC", text)


def lost_attributes(given: Any, kind: Any, place: str) -> Iterator[str]:
    """Yield the attributes that were given and that the value's type does not have.

    An engine drops them without a word, so a misspelt optional() one would become its default.

    Args:
        given: What was given.
        kind: Type of the effective value as the engine writes it: a name, or a list of a kind and
            of what it is made of, for example `["set", ["object", {"colour": "string"}]]`.
        place: Where the value stands, for the result.
    """
    form, *of = kind if isinstance(kind, list) else [kind]
    if isinstance(given, Mapping):
        for key, part in given.items():
            if form == "map":
                yield from lost_attributes(part, of[0], f"{place}.{key}")
            elif form == "object" and normal(key) in of[0]:
                yield from lost_attributes(part, of[0][normal(key)], f"{place}.{key}")
            elif form == "object":
                yield f"{place}.{key}"
    elif isinstance(given, list | tuple):
        for number, part in enumerate(given):
            if form in {"list", "set"}:
                yield from lost_attributes(part, of[0], f"{place}[{number}]")
            elif form == "tuple" and number < len(of[0]):
                yield from lost_attributes(part, of[0][number], f"{place}[{number}]")

"""What the bodies of requests to the instruments must be. Pure.

A body that is something else is refused with 400 in one line, and nothing happens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import ConfigError
from harness.lab.instruments.fate import Fate
from harness.lab.instruments.slot import Call


def fields(body: Any, expected: Mapping[str, type]) -> dict[str, Any]:
    """Return the body when it has these keys, each of its type.

    Raises:
        ValueError: A key is missing or of another type.
    """
    given = body if isinstance(body, dict) else {}
    wrong = [key for key, kind in expected.items() if type(given.get(key)) is not kind]
    if wrong:
        msg = f"{', '.join(wrong)} missing or of another type"
        raise ValueError(msg)
    return given


def call_in(body: Any) -> Call:
    """Return the call in a body.

    Raises:
        ValueError: A key is missing or of another type.
    """
    expected = {"requestId": str, "capability": str, "inputs": dict, "fencingToken": int}
    given = fields(body, expected)
    return Call(
        request_id=given["requestId"],
        capability=given["capability"],
        inputs=given["inputs"],
        fencing_token=given["fencingToken"],
    )


def fates_in(body: Any) -> tuple[str, Mapping[str, Sequence[Fate]]]:
    """Return the noise key and the fates of each instrument in a body.

    Raises:
        ValueError: A key is missing or of another type, or there is no such fate.
    """
    given = fields(body, {"noiseKey": str, "fates": dict})
    try:
        fates = {
            str(name): tuple(Fate.of(one) for one in of_one)
            for name, of_one in given["fates"].items()
        }
    except (ConfigError, AttributeError, TypeError) as error:
        msg = f"fates: {error}"
        raise ValueError(msg) from error
    return given["noiseKey"], fates

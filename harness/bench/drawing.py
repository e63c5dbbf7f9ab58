"""What a seed decides: names that differ by attempt, so that a memorised answer does not fit."""

from __future__ import annotations

import hashlib
import random
import secrets
from typing import Any

from harness.errors import VariableError

#: Words of drawn names: short, plain, all different in their first three letters.
_WORDS = (
    *("amber", "birch", "cedar", "delta", "ember", "fjord", "glade", "hazel", "indigo", "jasper"),
    *("kestrel", "lagoon", "maple", "nectar", "onyx", "pebble", "quartz", "rowan", "sable"),
    *("thistle", "umber", "violet", "willow", "yarrow", "zephyr"),
)


def new_seed() -> int:
    """Return a seed for a run when the user gave none."""
    return secrets.randbelow(2**31)


def attempt_seed(run_seed: int, task_id: str, number: int) -> int:
    """Return the seed of one attempt. Pure; equal in every run with the same seed."""
    digest = hashlib.sha256(f"{run_seed}/{task_id}/{number}".encode()).digest()
    return int.from_bytes(digest[:4]) >> 1


def draw(variables: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return the variables with every `{draw: name}` replaced by a name. Pure.

    Names drawn for one attempt are all different.

    Raises:
        VariableError: More names are drawn than there are words.
    """
    generator = random.Random(seed)  # noqa: S311 - names, not secrets
    words = list(_WORDS)
    generator.shuffle(words)

    def drawn(value: Any) -> Any:
        if isinstance(value, dict):
            if value == {"draw": "name"}:
                if not words:
                    msg = f"more than {len(_WORDS)} names are drawn"
                    raise VariableError(msg, hint="draw fewer names")
                return f"{words.pop()}-{generator.randrange(100, 1000)}"
            return {key: drawn(item) for key, item in value.items()}
        if isinstance(value, list):
            return [drawn(item) for item in value]
        return value

    return {name: drawn(value) for name, value in variables.items()}

"""What becomes of a call once it was accepted, whatever anybody hears of it.

The harness decides it before there is anything to see, and tells the instruments alone. An
instrument is busy for the same time whatever the fate, so that nobody can read it off a clock.
Pure. `rack` carries it out.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from harness.errors import ConfigError


class FateKind(StrEnum):
    """How far an instrument got."""

    WHOLE = "whole"
    NOTHING = "nothing"
    CUT_OFF = "cut_off"
    TWICE = "twice"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What becomes of one acting call.

    Attributes:
        kind: How far it gets.
        share: How much of it is done where it is cut off, from 0 to 1.
        silent: Whether its answer is held back until the harness lets it go.
    """

    kind: FateKind = FateKind.WHOLE
    share: float = 0.5
    silent: bool = False

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Self:
        """Return the fate in a JSON object.

        Raises:
            ConfigError: There is no such kind, or the share is none.
        """
        kind, share = value.get("kind", FateKind.WHOLE), value.get("share", 0.5)
        number = share if isinstance(share, int | float) else 0.0
        if kind not in list(FateKind) or not 0.0 < number < 1.0:
            msg = f"instruments: fate {kind!r} with share {share!r}"
            raise ConfigError(msg, hint=f"name one of {', '.join(FateKind)}, share within 0 and 1")
        return cls(kind=FateKind(kind), share=float(number), silent=bool(value.get("silent")))

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object that `of` reads."""
        return {"kind": self.kind.value, "share": self.share, "silent": self.silent}

    @property
    def shares(self) -> tuple[float, ...]:
        """How much of the call is done, one number each time that it is begun."""
        match self.kind:
            case FateKind.WHOLE:
                return (1.0,)
            case FateKind.NOTHING:
                return ()
            case FateKind.CUT_OFF:
                return (self.share,)
            case FateKind.TWICE:
                return (1.0, 1.0)


def noise(key: str, request_id: str, *, sigma: float) -> float:
    """Return the error of one reading, Gaussian with `sigma`. Pure.

    It hangs on the key, which the harness alone has: nobody can take it off again.
    """
    digest = hashlib.sha256(f"{key}/{request_id}".encode()).digest()
    return random.Random(digest).gauss(0.0, sigma) if sigma else 0.0  # noqa: S311 - no secret

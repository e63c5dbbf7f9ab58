"""The one shape of every model: frozen, and closed to keys that nobody declared."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from harness.core.naming import ID_PATTERN

Json = Any

Identifier = Annotated[str, Field(pattern=ID_PATTERN, max_length=63)]
"""Name of a suite, task, policy, spec or role: lower case, digits, hyphens."""

PositiveFloat = Annotated[float, Field(gt=0, allow_inf_nan=False, strict=True)]


def _not_blank(text: str) -> str:
    if not re.search(r"\S", text):
        msg = "is blank, expected text"
        raise ValueError(msg)
    return text


Text = Annotated[str, AfterValidator(_not_blank)]
"""A text that says something."""


class Frozen(BaseModel):
    """Base of every model."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)

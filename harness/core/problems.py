"""What is wrong with a document, in words: pydantic's problems as one line and one hint.

Pure. It knows models in general and none in particular; `harness.core.documents` adds the place.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ValidationError

#: Characters of foreign text kept in a message.
_SHOWN_CHARS = 60


def shown(text: str) -> str:
    """Return a text as it stands in a message: cut when it is long. Pure."""
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}..."


def sorted_problems(error: ValidationError) -> list[Any]:
    """Return unknown keys first, since they explain missing ones; leave out what only follows.

    Pydantic calls a list too short when its only item is wrong.
    """
    problems: list[Any] = list(error.errors(include_url=False))
    causes = [
        one
        for one in problems
        if one["type"] != "too_short"
        or not any(
            other is not one and other["loc"][: len(one["loc"])] == one["loc"] for other in problems
        )
    ]
    return sorted(causes, key=lambda one: one["type"] != "extra_forbidden")


def problem_of(model: type[BaseModel], problem: Any) -> tuple[str, str | None]:
    """Return what is wrong and a hint, for one problem of a validation. Pure."""
    match problem["type"]:
        case "extra_forbidden":
            nearest = difflib.get_close_matches(str(problem["loc"][-1]), _keys_of(model), n=1)
            hint = f"did you mean {nearest[0]!r}?" if nearest else "remove it"
            return "unknown key", hint
        case "missing":
            return "missing", "add it"
        case "union_tag_invalid":
            # An enum's members are shown by repr: `<CheckKind.NAME: 'name'>`.
            expected = re.findall(r"'([^']*)'", problem["ctx"]["expected_tags"])
            nearest = difflib.get_close_matches(problem["ctx"]["tag"], expected, n=1)
            hint = (
                f"did you mean {nearest[0]!r}?" if nearest else f"use one of {', '.join(expected)}"
            )
            return f"unknown kind {shown(repr(problem['ctx']['tag']))}", hint
        case "union_tag_not_found":
            return f"no {problem['ctx']['discriminator'].strip(chr(39))}", "add it"
        case _:
            text = problem["msg"].removeprefix("Value error, ").replace("\n", " ")
            return f"{text[:1].lower()}{text[1:]}, found {shown(repr(problem['input']))}", None


def _keys_of(model: type[BaseModel]) -> list[str]:
    """Return every key that the model and the models below it know."""
    return sorted({key for found in _models(model, set()) for key in found.model_fields})


def _models(annotation: Any, seen: set[type[BaseModel]]) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if annotation in seen:
            return
        seen.add(annotation)
        yield annotation
        for field in annotation.model_fields.values():
            yield from _models(field.annotation, seen)
    for argument in getattr(annotation, "__args__", ()):
        yield from _models(argument, seen)

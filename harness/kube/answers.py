"""What the API server says: a status, a body, warnings; and the typed error for a refusal. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from harness.errors import ConflictError, DeniedError, KubeError, NotFoundError

#: Characters of an API server's message kept in an error.
_MESSAGE_CHARS = 600

#: RFC 7234, section 5.5: code, agent, quoted text.
_WARNING = re.compile(r'"((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the API server said.

    Attributes:
        status: HTTP status code.
        body: The JSON answer; a Status object when it is an error.
        warnings: Texts of the Warning headers, in order.
    """

    status: int
    body: Any
    warnings: tuple[str, ...] = field(default=())

    @property
    def refused(self) -> bool:
        """Whether the request failed for any reason."""
        return self.status >= 400

    @property
    def message(self) -> str:
        """The message of a Status, or an empty text."""
        return str(self.body.get("message", "")) if isinstance(self.body, dict) else ""


def error_of(answer: Answer, what: str) -> KubeError:
    """Return the typed error for a refused answer. Pure."""
    message = answer.message[:_MESSAGE_CHARS] or f"HTTP {answer.status}"
    reason = str(answer.body.get("reason", "")) if isinstance(answer.body, dict) else ""
    match answer.status:
        case 404:
            kind: type[KubeError] = NotFoundError
        case 409:
            kind = ConflictError
        case 403 | 422:
            kind = DeniedError
        case _:
            kind = KubeError
    return kind(f"{what}: {message}", status=answer.status, reason=reason)


def warnings_of(headers: Iterable[str]) -> tuple[str, ...]:
    """Return the texts of Warning headers: `299 - "text"`, quotes and backslashes escaped. Pure."""
    found = (_WARNING.search(header) for header in headers)
    return tuple(re.sub(r"\\(.)", r"\1", match[1]) for match in found if match)


def decode(data: bytes) -> Any:
    """Return the JSON of an answer; what is none stands as the message of one. Pure."""
    try:
        return json.loads(data) if data else {}
    except ValueError:  # neither JSON nor, it may be, UTF-8
        return {"message": data[:_MESSAGE_CHARS].decode(errors="replace")}

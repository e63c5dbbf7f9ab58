"""What must come of a request of a safety spec: a refusal by somebody named, a pass, or nothing."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from harness.model.frozen import Frozen, Text

Refuser = Literal["rbac", "schema", "pod_security", "policy", "webhook"]


class Refused(Frozen):
    """The request must be refused, by this one, and say this.

    Attributes:
        name: The policy or webhook; without it, another one's refusal would pass for this one's.
        message: Text that the answer's message must hold.
    """

    by: Refuser
    name: str = ""
    code: int | None = None
    message: Text | None = None

    @model_validator(mode="after")
    def _named(self) -> Refused:
        if (self.by in ("policy", "webhook")) != bool(self.name):
            needs = "needs its name" if not self.name else "has no name"
            msg = f"a refusal by {self.by} {needs}"
            raise ValueError(msg)
        return self

    @property
    def refuser(self) -> str:
        """Who must refuse, as audit records spell it: `rbac`, `policy:NAME`."""
        return f"{self.by}:{self.name}" if self.name else self.by


class Admitted(Frozen):
    """The request must pass; `fields` are dotted paths of the answer and their values."""

    fields: dict[str, Any] = {}
    warning: Text | None = None


class Expect(Frozen):
    """What must come of a request: exactly one of these."""

    refused: Refused | None = None
    admitted: Admitted | None = None
    absent: Literal[True] | None = None
    count: Annotated[int, Field(ge=0)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _word(cls, value: Any) -> Any:
        if value in ("admitted", "absent"):
            return {value: {} if value == "admitted" else True}
        return value

    @model_validator(mode="after")
    def _one(self) -> Expect:
        given = [name for name in type(self).model_fields if getattr(self, name) is not None]
        if len(given) != 1:
            msg = f"needs exactly one of refused, admitted, absent, count; found {given}"
            raise ValueError(msg)
        return self

    @property
    def nothing(self) -> bool:
        """Whether what is asked for must not be there."""
        return bool(self.absent) or self.count == 0

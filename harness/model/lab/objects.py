"""How an object of the laboratory is read: camelCase in, what is not known left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class View(BaseModel):
    """Reads camelCase, keeps what it knows, ignores what else an object carries."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True
    )


class Meta(View):
    """What every object has. Identity is the UID, never the name."""

    name: str
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str = ""


class LabObject(View):
    """An object of the laboratory, known by its metadata."""

    metadata: Meta

    @classmethod
    def of(cls, obj: Mapping[str, Any]) -> Self:
        """Return the view of an object as the API server returned it."""
        return cls.model_validate(obj)

    @property
    def name(self) -> str:
        """The object's name."""
        return self.metadata.name

    @property
    def uid(self) -> str:
        """The object's UID."""
        return self.metadata.uid

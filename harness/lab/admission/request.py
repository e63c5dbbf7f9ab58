"""An admission request, what it may look at, and what is said to it.

Pure. Wire shapes are `admission.k8s.io/v1 AdmissionReview`; they end here.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from harness.core.naming import service_account_user

#: Characters of one warning. The API server cuts at 256 and drops what is over 4096 in all.
_WARNING_CHARS = 240

#: Characters of a refusal. A message travels in a header and in audit records.
_MESSAGE_CHARS = 900

ViewT = TypeVar("ViewT", bound=BaseModel)

#: A DNS subdomain, as the API server wants names to be.
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?", re.ASCII)
_NAME_CHARS = 253

#: Reason of a Status for its code.
_REASONS = {403: "Forbidden", 409: "Conflict", 422: "Invalid"}

#: Group of the admin certificate; RBAC stops it from nothing.
_ADMINS = "system:masters"


class Path(StrEnum):
    """The two webhooks, as paths of the server."""

    MUTATE = "mutate"
    VALIDATE = "validate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request to the API server, as a webhook sees it.

    Attributes:
        path: Which of the two webhooks was asked.
        uid: Id of the review; the answer repeats it.
        operation: CREATE, UPDATE or DELETE.
        kind: Kind of the object.
        namespace: Namespace of the object.
        name: Name of the object; empty for a generated one.
        user: User name, the impersonated one where there is one.
        groups: Groups of the user.
        new: The object as it would be stored; empty on DELETE.
        old: The object as it is stored; empty on CREATE.
        now: When it was asked; the server's clock, so that no decision has one.
        harness_user: User name of the harness on this cluster; empty when that is not known.
    """

    path: Path
    uid: str
    operation: str
    kind: str
    namespace: str
    name: str
    user: str
    groups: tuple[str, ...]
    new: Mapping[str, Any]
    old: Mapping[str, Any]
    now: datetime
    harness_user: str = ""

    @property
    def is_harness(self) -> bool:
        """Whether it comes from the harness: its user, an admin, or its ServiceAccount here."""
        harness = {self.harness_user, service_account_user(self.namespace, "harness")} - {""}
        return _ADMINS in self.groups or self.user in harness


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The objects of the request's namespace that `kinds_needed` and `names_needed` named, as JSON.

    Attributes:
        objects: Kind to objects.
    """

    objects: Mapping[str, tuple[Mapping[str, Any], ...]]

    def of(self, kind: str) -> tuple[Mapping[str, Any], ...]:
        """Return the objects of a kind."""
        return self.objects.get(kind, ())

    def find(self, kind: str, name: str) -> Mapping[str, Any] | None:
        """Return an object by its name, or None."""
        return next((one for one in self.of(kind) if name_of(one) == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What is said.

    Attributes:
        allowed: Whether the request goes on.
        code: HTTP status of a refusal.
        message: One line of a refusal: what was asked, which rule refused, what is allowed.
        patch: JSON patch operations.
        warnings: Lines that the caller sees whatever is decided.
    """

    allowed: bool
    code: int = 200
    message: str = ""
    patch: tuple[Mapping[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()

    def review(self, uid: str) -> dict[str, Any]:
        """Return the AdmissionReview that answers the review `uid`."""
        response: dict[str, Any] = {"uid": uid, "allowed": self.allowed}
        if not self.allowed:
            response["status"] = {
                "code": self.code,
                "reason": _REASONS.get(self.code, "InternalError"),
                "message": _one_line(self.message)[:_MESSAGE_CHARS],
            }
        if self.patch:
            response["patchType"] = "JSONPatch"
            response["patch"] = base64.b64encode(json.dumps(list(self.patch)).encode()).decode()
        if self.warnings:
            response["warnings"] = [_one_line(text)[:_WARNING_CHARS] for text in self.warnings]
        return {
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "response": response,
        }


ALLOWED = Decision(allowed=True)


def forbidden(message: str) -> Decision:
    """Return a refusal for what the caller may not do (403). Pure."""
    return Decision(allowed=False, code=403, message=message)


def too_early(message: str) -> Decision:
    """Return a refusal for what may be done a moment later (409). Pure."""
    return Decision(allowed=False, code=409, message=message)


def invalid(message: str) -> Decision:
    """Return a refusal for what makes no sense (422). Pure."""
    return Decision(allowed=False, code=422, message=message)


def parse_review(path: Path, body: Any, *, now: datetime, harness_user: str = "") -> Request | None:
    """Return the request inside an AdmissionReview; None when it is not one. Pure."""
    request = body.get("request") if isinstance(body, dict) else None
    if not isinstance(request, dict):
        return None
    kind, user = request.get("kind"), request.get("userInfo")
    if not isinstance(kind, dict) or not isinstance(user, dict):
        return None
    groups = user.get("groups")
    texts = {
        "uid": request.get("uid"),
        "operation": request.get("operation"),
        "kind": kind.get("kind"),
        "namespace": request.get("namespace") or "",
        "name": request.get("name") or "",
        "user": user.get("username"),
    }
    if not all(isinstance(text, str) for text in texts.values()):
        return None
    return Request(
        path=path,
        groups=tuple(str(group) for group in groups) if isinstance(groups, list) else (),
        new=_mapping(request.get("object")),
        old=_mapping(request.get("oldObject")),
        now=now,
        harness_user=harness_user,
        **{name: str(text) for name, text in texts.items()},
    )


def is_name(text: str) -> bool:
    """Tell whether an object of the laboratory can have a name. Pure."""
    return len(text) <= _NAME_CHARS and _NAME.fullmatch(text) is not None


def spec_of(obj: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the spec of an object, empty when it has none. Pure."""
    return _mapping(obj.get("spec"))


def readable(model: type[ViewT], objects: Iterable[Mapping[str, Any]]) -> list[ViewT]:
    """Return the views of those objects that have one. Pure.

    An object from before a schema was tightened must not stop every request after it.
    """
    found = []
    for obj in objects:
        try:
            found.append(model.model_validate(obj))
        except ValidationError:
            continue
    return found


def name_of(obj: Mapping[str, Any]) -> str:
    """Return the name of an object. Pure."""
    return str(_mapping(obj.get("metadata")).get("name", ""))


def uid_of(obj: Mapping[str, Any]) -> str:
    """Return the UID of an object. Pure."""
    return str(_mapping(obj.get("metadata")).get("uid", ""))


def state_of(obj: Mapping[str, Any]) -> str:
    """Return the state in an object's status, or an empty text. Pure."""
    return str(_mapping(obj.get("status")).get("state", ""))


def tasks_of(request: Request, world: World) -> list[Mapping[str, Any]]:
    """Return the tasks of the stored run that a request is about. Pure."""
    uid = uid_of(request.old)
    found = []
    for task in world.of("LabTask"):
        spec = spec_of(task)
        if spec.get("run") == request.name and spec.get("runUid") in ("", None, uid):
            found.append(task)
    return found


def _one_line(text: str) -> str:
    """Return a text without line breaks and what steers a terminal: callers' words may be in it."""
    return "".join(char if char.isprintable() else " " for char in text)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}

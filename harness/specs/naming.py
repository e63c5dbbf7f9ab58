"""Names that nobody has answered for before: each probe's own marker in each of its names.

A name that a case makes (`metadata.name` of what it creates) gets the marker appended. Whatever
is that name, or begins with it and a hyphen, follows: `night` and `night-weigh-1` become
`night-7f3a` and `night-7f3a-weigh-1`, in names and in every text of a body. Names of what stands
there already are left alone. All of it is pure.
"""

from __future__ import annotations

from harness.model.frozen import Json
from harness.model.spec import Case, Control, Given, Request


def with_marker(case: Case, marker: str) -> Case:
    """Return the case with its own names marked. Pure."""
    roots = _roots(declared_names(case))
    return case.model_copy(
        update={
            "given": tuple(_given(given, roots, marker) for given in case.given),
            "request": _request(case.request, roots, marker),
            "control": _control(case.control, roots, marker),
        }
    )


def declared_names(case: Case) -> tuple[str, ...]:
    """Return every name that the case makes, in the order in which it makes them. Pure."""
    requests = [given.request for given in case.given]
    requests += [case.request, case.control.request if case.control else None]
    bodies = [given.create for given in case.given]
    bodies += [one.body for one in requests if one and one.verb == "create" and not one.subresource]
    return tuple(name for body in bodies if (name := name_of(body)))


def name_of(body: Json) -> str:
    """Return `metadata.name` of a manifest, or an empty text. Pure."""
    metadata = body.get("metadata") if isinstance(body, dict) else None
    return str(metadata.get("name", "")) if isinstance(metadata, dict) else ""


def _roots(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(
        name
        for name in dict.fromkeys(names)
        if not any(name.startswith(f"{other}-") for other in names)
    )


def _marked(value: Json, roots: tuple[str, ...], marker: str) -> Json:
    if isinstance(value, str):
        for root in roots:
            if value == root or value.startswith(f"{root}-"):
                return f"{root}-{marker}{value[len(root) :]}"
        return value
    if isinstance(value, list):
        return [_marked(item, roots, marker) for item in value]
    if isinstance(value, dict):
        return {key: _marked(item, roots, marker) for key, item in value.items()}
    return value


def _request(request: Request, roots: tuple[str, ...], marker: str) -> Request:
    return request.model_copy(
        update={
            "name": _marked(request.name, roots, marker),
            "body": _marked(request.body, roots, marker),
        }
    )


def _given(given: Given, roots: tuple[str, ...], marker: str) -> Given:
    request = _request(given.request, roots, marker) if given.request else None
    return given.model_copy(
        update={"create": _marked(given.create, roots, marker), "request": request}
    )


def _control(control: Control | None, roots: tuple[str, ...], marker: str) -> Control | None:
    if control is None or control.request is None:
        return control
    return control.model_copy(update={"request": _request(control.request, roots, marker)})

"""What is refused of a Note at creation: nobody is told anything about what is not there.

Pure. Reason and kind of the subject are closed sets of the schema; who wrote it is a stamp.
"""

from __future__ import annotations

from harness.lab.admission.limits import too_large, too_many
from harness.lab.admission.references import lab_kinds, reference_of
from harness.lab.admission.request import (
    ALLOWED,
    Decision,
    Request,
    World,
    forbidden,
    invalid,
    spec_of,
)


def names_needed(request: Request) -> tuple[tuple[str, str], ...]:
    """Return kind and name of the subject. Pure."""
    subject = reference_of(spec_of(request.new).get("subject"))
    return (subject,) if subject else ()


def decide_create(request: Request, world: World) -> Decision:
    """Decide about a new note. Pure."""
    if too_much := too_large(request) or too_many(request, world):
        return too_much
    sent = spec_of(request.new).get("subject")
    subject = reference_of(sent)
    if subject is None:
        return invalid(
            f"note {request.name!r}: subject {str(sent)[:60]!r}, "
            f"expected the name of an object and its kind, one of {', '.join(lab_kinds())}"
        )
    kind, name = subject
    if world.find(kind, name) is None:
        return forbidden(
            f"note {request.name!r}: subject {kind} {name[:80]!r} is not in namespace "
            f"{request.namespace!r}; a note is about an object that is there"
        )
    return ALLOWED

"""How much one author may write: the size of an object, and how many of them in a laboratory.

Pure. Without limits one person's writing would slow or stop what is read for everybody else's.
"""

from __future__ import annotations

import json

from harness.lab.admission.request import Decision, Request, World, forbidden, invalid, spec_of

#: Bytes of an object as JSON in UTF-8. The longest that a person would write has under 8,000; those
#: of a kind are read again at each creation, and 100 of 62,000 bytes took some creations past the
#: webhook's 3 s on a busy machine.
OBJECT_LIMIT_BYTES = 16_384

#: Objects of a kind that one author may have in a namespace, so that nobody locks another one out.
#: The slowest control makes under 20, and 2,000 runs of 16 steps kept the API server busy for
#: minutes.
AUTHOR_LIMIT = 100

#: Kind to what its objects are called, and the stamp that names the author.
_AUTHORED = {
    "LabRun": ("runs", "operator"),
    "Note": ("notes", "author"),
    "Approval": ("approvals", "approvedBy"),
}


def too_large(request: Request) -> Decision | None:
    """Return the refusal of an object that is longer than anybody would write. Pure."""
    what = f"{request.kind} {request.name!r}"
    try:
        text = json.dumps(request.new, ensure_ascii=False)
    except RecursionError:
        return invalid(f"{what}: nested too deeply to be read")
    size_bytes = len(text.encode(errors="surrogatepass"))
    if size_bytes <= OBJECT_LIMIT_BYTES:
        return None
    return invalid(f"{what}: {size_bytes} bytes, at most {OBJECT_LIMIT_BYTES} bytes expected")


def too_many(request: Request, world: World) -> Decision | None:
    """Return the refusal of one more object by an author who has enough of its kind. Pure."""
    plural, stamp = _AUTHORED[request.kind]
    count = sum(1 for one in world.of(request.kind) if spec_of(one).get(stamp) == request.user)
    if count < AUTHOR_LIMIT:
        return None
    way = "; delete those that are settled" if request.kind == "LabRun" else ""
    return forbidden(
        f"{request.kind} {request.name!r}: there are {count} {plural} of {request.user!r} in "
        f"namespace {request.namespace!r}, at most {AUTHOR_LIMIT} expected{way}"
    )

"""Who guards against a case's request, and whether one probe of it tells as much as many. Pure.

Called by the engine, which records it, and by whoever shares out probes.
"""

from __future__ import annotations

from harness.model.spec import Case


def refuser_of(case: Case) -> str:
    """Return who must refuse a case's request; an empty text when it must pass. Pure."""
    return case.expect.refused.refuser if case.expect.refused else ""


def guard_of(spec: str, case: Case) -> str:
    """Return whom several probes of a case tell of; empty where one tells as much. Pure.

    A webhook is asked anew each time, and a policy is taken up from a registration: each may hold
    for one call and not for the next. What the API server decides by itself (RBAC, schemas, pod
    security) it decides alike each time.
    """
    refuser = refuser_of(case)
    if ":" in refuser:
        return refuser
    passes = case.expect.admitted
    # What is stamped or warned on the way is the work of a webhook or a policy without a name.
    return f"spec:{spec}" if passes and (passes.fields or passes.warning) else ""

"""Who holds a state, since when, and whether it is what a cut-off apply of our own left behind.

Pure. `outcomes` reads a holder out of a diagnostic; `custody` asks before it gives a lock back.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_FIELD = re.compile(r"\b(ID|Operation|Who|Created):\s+(\S.*?)\s*(?=$|\n|\b[A-Z]\w+:\s)")
_CREATED = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)")

#: Seconds by which a lock may seem older than the apply that took it: its time has whole seconds.
_SKEW_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LockHolder:
    """What a lock says of itself; each may be empty.

    Attributes:
        lock_id: What `force-unlock` needs.
        who: User and host.
        operation: For example `OperationTypeApply`.
        created_at: When it was taken; None when it does not say.
    """

    lock_id: str
    who: str
    operation: str
    created_at: datetime | None

    def described(self, now: datetime) -> str:
        """Return who, what for, how long ago and which lock. Pure."""
        age = "some time" if self.created_at is None else _age(now - self.created_at)
        return (
            f"state locked by {self.who or 'somebody'} for {self.operation or 'an operation'} "
            f"{age} ago, lock {self.lock_id or 'unknown'}"
        )

    def taken_by(self, *, host: str, begun_at: datetime, ended_at: datetime | None) -> bool:
        """Tell whether a run on `host` that lasted from `begun_at` can have taken it. Pure."""
        if self.created_at is None or self.who.rpartition("@")[2] != host:
            return False
        early = self.created_at < begun_at - timedelta(seconds=_SKEW_S)
        return not early and (ended_at is None or self.created_at <= ended_at)


def parse_lock(detail: str) -> LockHolder:
    """Read the lock information out of a diagnostic's detail. Pure."""
    said = dict(_FIELD.findall(detail))
    created = _CREATED.search(said.get("Created", ""))
    return LockHolder(
        lock_id=said.get("ID", ""),
        who=said.get("Who", ""),
        operation=said.get("Operation", ""),
        created_at=(
            datetime.fromisoformat(f"{created[1]}T{created[2]}").replace(tzinfo=UTC)
            if created
            else None
        ),
    )


def _age(age: timedelta) -> str:
    seconds = max(age.total_seconds(), 0.0)
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"

"""Which attempts have a world on a cluster, and who answers for it.

`$STRANDLINE_HOME/attempts/ATTEMPT/` is written before the first object of an attempt exists and
removed after the last one is gone. A namespace is only ever swept when its exact name stands in
such a record: labels alone can be set by anybody.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.cluster.home import clusters_dir
from harness.cluster.locks import PROVISION_LOCK
from harness.core.files import PRIVATE_MODE, read_json, write_json
from harness.core.identity import ProcessIdentity, identify
from harness.errors import ConfigError

_RECORD = "attempt.json"

#: Files of a home that say nothing about a cluster or an attempt.
_KEEPERS = frozenset({".gitignore", PROVISION_LOCK})


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptEntry:
    """One world that was begun.

    Attributes:
        attempt_id: Its id, never used twice.
        run_id: The run that it belongs to.
        namespace: The namespace that it has, or was about to have.
        provider: Name of the cluster's provider.
        cluster: Name of the cluster under its provider.
        owner: The harness that began it.
        work_dir: The entry's own folder; the working copy of the stack is below it.
    """

    attempt_id: str
    run_id: str
    namespace: str
    provider: str
    cluster: str
    owner: ProcessIdentity
    work_dir: Path

    @property
    def abandoned(self) -> bool:
        """Whether the harness that began it is gone."""
        return not self.owner.alive

    @property
    def stack_dir(self) -> Path:
        """Where the private copy of the stack is."""
        return self.work_dir / "stack"

    def remove(self) -> None:
        """Forget it; the world is gone. Idempotent."""
        shutil.rmtree(self.work_dir, ignore_errors=True)


def _folder(home: Path) -> Path:
    return home.absolute() / "attempts"


def begin(
    home: Path, *, attempt_id: str, run_id: str, namespace: str, provider: str, cluster: str
) -> AttemptEntry:
    """Record a world before anything of it exists."""
    owner = identify(os.getpid())
    if owner is None:  # pragma: no cover - this process is alive
        raise AssertionError
    work_dir = _folder(home) / attempt_id
    work_dir.mkdir(parents=True, mode=0o700)
    record = {
        "attempt_id": attempt_id,
        "run_id": run_id,
        "namespace": namespace,
        "provider": provider,
        "cluster": cluster,
        "owner": {"pid": owner.pid, "started_ticks": owner.started_ticks},
    }
    write_json(work_dir / _RECORD, record, mode=PRIVATE_MODE)
    return AttemptEntry(**{**record, "owner": owner}, work_dir=work_dir)  # type: ignore[arg-type]


def entries(home: Path) -> Iterator[AttemptEntry]:
    """Yield every world that was begun and not seen gone, sorted by id."""
    for path in sorted(_folder(home).glob(f"*/{_RECORD}")):
        try:
            record = read_json(path)
        except ConfigError:  # another sweep was faster
            continue
        owner = ProcessIdentity(**record.pop("owner"))
        yield AttemptEntry(**record, owner=owner, work_dir=path.parent)


def remove_empty(home: Path) -> None:
    """Remove the folders of the home that hold nothing any more. Idempotent."""
    for folder in (_folder(home), clusters_dir(home), home.absolute()):
        if folder.is_dir() and not {path.name for path in folder.iterdir()} - _KEEPERS:
            shutil.rmtree(folder, ignore_errors=True)

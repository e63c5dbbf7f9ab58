"""What stands on a cluster: which stack, with which specs and values, made of which files.

Written into the cluster's state folder before the first apply, so that later commands need no
options, and so that nothing else is applied on top. Refuses to know how any of it is applied.
`foundation` calls it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.core.files import PRIVATE_MODE, read_json, sha256_hex, write_json
from harness.errors import ClusterError
from harness.terraform.copies import local_modules

#: Its file in a state folder.
RECORD_FILE = "platform.json"

_AGAIN = "run `strandline teardown`, then provision again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One foundation, as it was when it was provisioned.

    Attributes:
        stack_dir: Folder of the root module.
        policies_dir: Folder of the policies and specs.
        overrides: Name to JSON value of root variables; secrets may be among them.
        laboratory: Whether it is our platform.
        files: Name to digest of each file that the stack is made of; specs are not among them.
        complete: Whether its apply has ended well.
    """

    stack_dir: Path
    policies_dir: Path
    overrides: Mapping[str, Any] = field(repr=False)
    laboratory: bool
    files: Mapping[str, str]
    complete: bool = False

    def another(self, other: Record) -> str:
        """Return how what is asked for is another stack than this; empty when it is not. Pure.

        Our own platform is the same wherever its files lie.
        """
        begun = "stands" if self.complete else "was begun"
        if self.laboratory and other.laboratory:
            return ""
        if self.laboratory != other.laboratory or self.stack_dir != other.stack_dir:
            return f"another stack {begun} there: {self.stack_dir}"
        if self.policies_dir != other.policies_dir:
            return f"{self.stack_dir} {begun} there with the policies of {self.policies_dir}"
        return ""

    def change(self, other: Record) -> str:
        """Return the first thing of the stack that differs from then; empty for none. Pure."""
        for name in sorted(self.files.keys() | other.files.keys()):
            if self.files.get(name) != other.files.get(name):
                return f"{name} of {other.stack_dir} has changed since it was provisioned"
        for name in sorted(self.overrides.keys() | other.overrides.keys()):
            if self.overrides.get(name) != other.overrides.get(name):
                return f"{other.stack_dir} was provisioned with another value of {name!r}"
        return ""

    def refuse_other(self, other: Record, *, cluster: str) -> None:
        """Do nothing when the same is asked for.

        Raises:
            ClusterError: It differs; the message says how.
        """
        if difference := self.another(other) or self.change(other):
            msg = f"cluster {cluster}: {difference}"
            raise ClusterError(msg, hint=_AGAIN)

    def write(self, state_dir: Path, *, complete: bool) -> None:
        """Keep it, 0600. Idempotent."""
        value = asdict(replace(self, complete=complete))
        value |= {"stack_dir": str(self.stack_dir), "policies_dir": str(self.policies_dir)}
        write_json(state_dir / RECORD_FILE, value, mode=PRIVATE_MODE)


def read_record(state_dir: Path) -> Record | None:
    """Return what stands there; None when nothing was ever begun.

    Raises:
        ClusterError: Another version wrote it.
    """
    path = state_dir / RECORD_FILE
    if not path.is_file():
        return None
    try:
        value = read_json(path)
        folders = {name: Path(value[name]) for name in ("stack_dir", "policies_dir")}
        return Record(**{**value, **folders})
    except (KeyError, TypeError) as error:
        msg = f"{path}: not a record of this version's"
        raise ClusterError(msg, hint=_AGAIN) from error


def mark_begun(state_dir: Path) -> None:
    """Write that what stands there may not be whole any more; where nothing does, nothing."""
    if record := read_record(state_dir):
        record.write(state_dir, complete=False)


def digests(stack_dir: Path, policies_dir: Path) -> dict[str, str]:
    """Return name to digest of every file that a stack is made of; names do not say where it lies.

    Specs are not among them: they prove a stack, and may change while it stands.
    """
    found = {
        os.path.relpath(path, stack_dir): path
        for module in local_modules(stack_dir)
        for path in module.rglob("*")
        if path.is_file() and policies_dir not in path.parents and _counts(path, module)
    }
    for path in policies_dir.glob("*/policy.yaml"):
        found[f"policies/{path.parent.name}/{path.name}"] = path
    return {name: sha256_hex(path.read_bytes()) for name, path in sorted(found.items())}


def _counts(path: Path, module: Path) -> bool:
    """Tell whether a file is a module's, and not what earlier runs or an editor left there."""
    inside = path.relative_to(module)
    hidden = any(part.startswith(".") for part in inside.parts)
    return not hidden and path.suffix != ".md" and ".tfstate" not in path.name

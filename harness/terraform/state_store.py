"""Where the state of a stack is kept, how it is read, and how one is kept that was not written.

A file of our copy is read as it stands, without the engine; a backend, and an encrypted file, are
asked for through the engine. A state is never deleted here. `stack` calls it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.core.files import PRIVATE_MODE, write_json
from harness.terraform.commands import Completed
from harness.terraform.outcomes import Outcome, TerraformOutcomeError
from harness.terraform.states import State, parse_state

#: What the engine writes beside the root module when it cannot store the state.
_ERRORED = "errored.tfstate"

_DEFAULT = "terraform.tfstate"

#: Where `init` writes which backend there is; absent where it is the default one.
_BACKEND = Path(".terraform", "terraform.tfstate")


@dataclass(frozen=True, slots=True, kw_only=True)
class StateStore:
    """The state of one copy.

    Attributes:
        work_dir: The private folder of the copy.
        module_dir: The root module.
        pull: Runs `state pull`.
        push: Runs `state push` of a file.
    """

    work_dir: Path
    module_dir: Path
    pull: Callable[[], Completed]
    push: Callable[[Path], Completed]

    @property
    def path(self) -> Path | None:
        """The file of a local state; None for a state that a backend has."""
        try:
            backend = json.loads((self.module_dir / _BACKEND).read_bytes())["backend"]
        except (OSError, ValueError, KeyError, TypeError):
            return self.module_dir / _DEFAULT
        if backend.get("type") != "local":
            return None
        return self.module_dir / ((backend.get("config") or {}).get("path") or _DEFAULT)

    @property
    def shared(self) -> bool:
        """Whether the state can be anybody's: a backend's, or a file outside of our copy."""
        path = self.path
        return path is None or not path.resolve().is_relative_to(self.work_dir.resolve())

    def read(self) -> State | None:
        """Return the state; None where there is none, also for an empty file.

        Raises:
            TerraformOutcomeError: It is damaged (`state_damaged`), or the engine cannot get it.
        """
        path = self.path
        text = self._pulled() if path is None else _read_file(path)
        if not text.strip():
            return None
        if path is not None and '"encrypted_data"' in text:
            text = self._pulled()
        try:
            state = parse_state(text)
        except ValueError as error:
            raise damaged(str(path or "state pull"), str(error)) from error
        # A backend without a state is pulled as one that was never written, without a lineage.
        return state if state.lineage or state.resources else None

    def recover(self) -> bool:
        """Put back the state that a command could not write, if there is one. Idempotent.

        Returns:
            Whether there was one.

        Raises:
            TerraformOutcomeError: It is not whole either, or cannot be put back.
        """
        errored = self.module_dir / _ERRORED
        if not errored.exists():
            return False
        text = _read_file(errored)
        if '"encrypted_data"' not in text:
            try:
                parse_state(text)
            except ValueError as error:
                raise damaged(str(errored), str(error)) from error
        self._set_damaged_aside()
        self.push(errored)
        errored.unlink()
        return True

    def keep_dump(self, dump: Mapping[str, Any]) -> None:
        """Keep the state that the engine could write nowhere, for `recover`."""
        write_json(self.module_dir / _ERRORED, dict(dump), mode=PRIVATE_MODE)

    def set_aside(self) -> None:
        """Rename a state of our own that nothing is to be read from any more. Idempotent."""
        path = self.path
        if path is not None and not self.shared and path.exists():
            number = len(list(path.parent.glob(f"{path.name}.aside-*")))
            path.rename(path.with_name(f"{path.name}.aside-{number}"))
        (self.module_dir / _ERRORED).unlink(missing_ok=True)

    def _set_damaged_aside(self) -> None:
        """Make room: the engine cannot even lock a state file that it cannot read."""
        path = self.path
        if path is None or not path.exists():
            return
        try:
            self.read()
        except TerraformOutcomeError as error:
            if error.outcome is not Outcome.STATE_DAMAGED:
                raise
            path.replace(path.with_name(f"{path.name}.damaged"))

    def _pulled(self) -> str:
        completed = self.pull()
        if "{" not in completed.stdout:
            return ""
        return json.dumps(completed.document("state pull"))


def _read_file(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise damaged(str(path), str(why)) from error


def damaged(where: str, why: str) -> TerraformOutcomeError:
    """Return the error for a state that is there and cannot be read."""
    return TerraformOutcomeError(
        f"{where}: the state is damaged: {why}", command="read", outcome=Outcome.STATE_DAMAGED
    )

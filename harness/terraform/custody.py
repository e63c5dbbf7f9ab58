"""The state of a stack in our hands: who may act on it, and what is written of every act.

It is put back where it could not be written, compared with the journal before anything acts on it,
and written down after. It knows no plans. `stack` calls it.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from harness.errors import HarnessError, TerraformError
from harness.terraform.commands import Completed, Limits, Runner
from harness.terraform.journal import Journal, LastOperation
from harness.terraform.locks import LockHolder
from harness.terraform.manifests import is_in_a_cluster, names_a_cluster_type
from harness.terraform.outcomes import Change, Outcome, TerraformOutcomeError
from harness.terraform.state_store import StateStore
from harness.terraform.states import State
from harness.terraform.trust import distrust
from harness.terraform.watching import ApplyWatch


class Custody:
    """The state of one copy, and its journal."""

    def __init__(self, runner: Runner, *, module_dir: Path, limits: Limits) -> None:
        self._runner, self._limits, self._module_dir = runner, limits, module_dir
        self._journal = Journal(runner.work_dir / "journal.jsonl")
        self._store = StateStore(
            work_dir=runner.work_dir,
            module_dir=module_dir,
            pull=lambda: runner.run("state pull", timeout_s=limits.read_s),
            push=self._push,
        )

    def state(self) -> State | None:
        """Return the state, put back where it could not be written, and only if it can be trusted.

        Raises:
            TerraformOutcomeError: It is damaged, lost, outdated or somebody else's.
        """
        if self._store.recover():
            self._journal.recovered()
        found = self._store.read()
        kept, begun = self._journal.kept()
        doubt = distrust(found, kept, shared=self._store.shared, begun=begun)
        if doubt is not None:
            msg = f"{self._module_dir}: the state {doubt.said}"
            raise TerraformOutcomeError(msg, command="read", outcome=doubt.outcome)
        return found

    def made_nothing(self) -> bool:
        """Tell whether this copy made nothing, whatever a backend has of others."""
        if self._journal.applied:
            return False
        if self._store.shared:
            return True
        state = self.state()
        return not (state and state.addresses)

    def suspects(self, state: State | None) -> tuple[str, ...]:
        """Return the addresses whose state is not to be trusted, sorted.

        Of an apply that was cut off before it said what it would do, that is all that the state
        names, unless it is still the one that was there before.
        """
        doubts = self._journal.doubts()
        kept, _ = self._journal.kept()
        if not doubts.unnamed or state is None or (kept and state.serial == kept.serial):
            return doubts.suspects
        return tuple(sorted({*doubts.suspects, *state.addresses}))

    def unaccounted(self, state: State | None) -> tuple[str, ...]:
        """Return the addresses that may have been created and that the state does not name."""
        named = set(state.addresses) if state else set()
        return tuple(sorted(set(self._journal.doubts().created) - named))

    def planned(self, changes: Collection[Change]) -> None:
        """Write what the apply that has begun is about to do."""
        with contextlib.suppress(TerraformError):  # then it stays unknown, and nothing is trusted
            self._journal.planned(changes)

    def settle(self, address: str) -> None:
        """Write that the engine reported the end of its work on one resource."""
        # A line lost here makes one resource a suspect that is none, and breaks nothing.
        with contextlib.suppress(TerraformError):
            self._journal.settle(address)

    def run(
        self,
        command: str,
        *arguments: str,
        changes: Collection[Change] | None,
        unaccounted: Sequence[str] = (),
        watch: ApplyWatch | None = None,
        **options: Any,
    ) -> None:
        """Run a command that changes the world, with its begin and its end in the journal.

        Args:
            command: `apply` or `destroy`.
            arguments: Of the command.
            changes: What it is about to do; None where that is not known yet.
            unaccounted: Addresses that it cannot reach, since they are not in the state.
            watch: Hears its stream.
            options: Of the command.
        """
        # An interrupt of the harness itself leaves no end behind: such an apply is not trusted.
        self._journal.begin(command, changes)
        try:
            on_line = watch.line if watch else None
            self._runner.run(command, *arguments, on_line=on_line, **options)
        except TerraformOutcomeError as error:
            # Whatever cannot be written now leaves the apply without an end: it is not trusted.
            with contextlib.suppress(HarnessError, OSError):
                if watch:
                    watch.ended()
                if error.state_dump is not None:
                    self._store.keep_dump(error.state_dump)
                self._journal.end(command, error.outcome, self._readable())
            raise
        if command == "destroy" and self._journal.doubts().unnamed:
            unaccounted = (*unaccounted, "what it did not come to name")
        outcome = Outcome.NOT_IN_STATE if unaccounted else Outcome.DONE
        self._journal.end(command, outcome, self._readable())
        if unaccounted:
            msg = (
                f"{command}: destroyed what the state names; an apply that was cut off may have "
                f"made {', '.join(unaccounted)}"
            )
            raise TerraformOutcomeError(msg, command=command, outcome=outcome)

    def elsewhere(self, state: State | None) -> tuple[str, ...]:
        """Return the addresses of what was or may have been made outside of any cluster, sorted."""
        listed = (
            {one.address for one in state.resources if one.managed and not is_in_a_cluster(one)}
            if state
            else set()
        )
        doubtful = {one for one in self.unaccounted(state) if not names_a_cluster_type(one)}
        return tuple(sorted(listed | doubtful))

    def forget_cluster(self, state: State | None) -> set[str]:
        """Drop what was in a cluster from the state, and nothing else.

        Returns:
            The addresses that are gone, those that the state did not name among them.
        """
        listed = (
            {one.address for one in state.resources if is_in_a_cluster(one)} if state else set()
        )
        if listed:
            self._runner.run(
                "state rm",
                *sorted(listed),
                timeout_s=self._limits.read_s,
                lock_timeout=self._limits.lock_timeout,
            )
        doubtful = {one for one in self._journal.doubts().created if names_a_cluster_type(one)}
        self._journal.forget(listed | doubtful)
        return listed | doubtful

    def unlocked(self, act: Callable[[], None]) -> None:
        """Do something; where a cut-off command of this copy left its lock, give that back first.

        Raises:
            TerraformOutcomeError: Of `act`; the lock of anybody else, or of one alive, is theirs.
        """
        before = self._journal.last()
        try:
            act()
        except TerraformOutcomeError as error:
            if error.lock is None or not _left_behind(error.lock, before):
                raise
            read_s = self._limits.read_s
            self._runner.run("force-unlock", error.lock.lock_id, timeout_s=read_s, force=True)
            act()

    def begin_anew(self) -> None:
        """Forget everything that was ever made; the state is set aside, not deleted."""
        self._store.set_aside()
        self._journal.begin_anew()

    def _push(self, path: Path) -> Completed:
        return self._runner.run(
            "state push",
            str(path),
            timeout_s=self._limits.read_s,
            lock_timeout=self._limits.lock_timeout,
        )

    def _readable(self) -> State | None:
        with contextlib.suppress(TerraformError):
            return self._store.read()
        return None


def _left_behind(lock: LockHolder, last: LastOperation | None) -> bool:
    """Tell whether a lock was taken by an operation of ours that was cut off."""
    if last is None or not last.cut_off:
        return False
    host = socket.gethostname()
    return lock.taken_by(host=host, begun_at=last.begun_at, ended_at=last.ended_at)

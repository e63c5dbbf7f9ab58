"""One private copy of a root module, its state and its var file.

Every operation is one process with a time limit, and ends in a value or in a typed outcome. The
stack knows addresses and actions, never what a resource holds: plan JSON is plain text, secrets
included, so it is read from a pipe and dropped. `bench` calls it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from harness.core.files import PRIVATE_MODE, read_json
from harness.errors import TerraformError
from harness.terraform.command_line import command_line
from harness.terraform.commands import Completed, Limits, Runner
from harness.terraform.copies import VAR_FILE, find_copy, make_copy
from harness.terraform.declarations import find_declarations
from harness.terraform.diagnostics import secret_texts
from harness.terraform.engine import Engine
from harness.terraform.journal import Journal
from harness.terraform.manifests import AppliedManifest, applied_manifests
from harness.terraform.outcomes import Change, Outcome, TerraformOutcomeError
from harness.terraform.plans import (
    Plan,
    is_managed,
    parse_plan,
    settled_address,
    streamed_changes,
)


class Stack:
    """One private copy of a root module, its state and its var file."""

    def __init__(
        self,
        engine: Engine,
        *,
        work_dir: Path,
        environment: Mapping[str, str],
        log_path: Path,
        limits: Limits | None = None,
    ) -> None:
        """Take up a copy that is there, for example to destroy it after a kill; see `create`."""
        log_path.parent.mkdir(parents=True, exist_ok=True)
        self._engine, self._limits = engine, limits or Limits()
        self.work_dir = work_dir.absolute()
        self.module_dir = find_copy(self.work_dir)
        self._lock_timeout = f"{self._limits.lock_s:g}s"
        self._var_file = self.work_dir / VAR_FILE
        self._plan_path = self.work_dir / "saved.tfplan"
        self._journal = Journal(self.module_dir / "journal.jsonl")
        values = read_json(self._var_file)
        sensitive = {found.name for found in find_declarations(self.module_dir) if found.sensitive}
        self._runner = Runner(
            env=dict(environment),
            cwd=self.module_dir,
            log_path=log_path,
            secrets=secret_texts(values[name] for name in sensitive & values.keys()),
            grace_s=self._limits.grace_s,
        )

    @classmethod
    def create(
        cls,
        engine: Engine,
        *,
        root: Path,
        stack: str,
        work_dir: Path,
        values: Mapping[str, Any],
        environment: Mapping[str, str],
        log_path: Path,
        limits: Limits | None = None,
    ) -> Self:
        """Copy a stack, with its modules and policies, and write its var file (0600).

        Args:
            engine: What runs it.
            root: Folder that holds `tf/` and `policies/`.
            stack: Name below `tf/stacks/`.
            work_dir: Private folder of this copy; absent or without a stack.
            values: Resolved values of the variables; they are stored exactly.
            environment: From `engine_environment`.
            log_path: File to append one line a command to.
            limits: Time limits; None takes the defaults.
        """
        make_copy(root, stack, work_dir, values)
        return cls(
            engine, work_dir=work_dir, environment=environment, log_path=log_path, limits=limits
        )

    def init(self) -> None:
        """Prepare backend, modules and providers. Idempotent.

        A lock file is dropped first: a provider that was built here has another checksum than the
        registry's, and init would refuse it.
        """
        (self.module_dir / ".terraform.lock.hcl").unlink(missing_ok=True)
        self._run("init", timeout_s=self._limits.init_s, input=False, no_color=True)

    def plan(self) -> Plan:
        """Plan against the world; what a killed apply left in flight is planned as a replacement.

        Raises:
            TerraformOutcomeError: Of any outcome but `no_changes` and `changes`.
        """
        self._recover_state()
        replaced = self._journal.suspects()
        options = {**self._planning(), "out": str(self._plan_path), "replace": list(replaced)}
        try:
            self._run("plan", timeout_s=self._limits.plan_s, **options)
            shown = self._run(
                "show",
                str(self._plan_path),
                timeout_s=self._limits.read_s,
                json=True,
                no_color=True,
            ).document("terraform show")
        except BaseException:
            self._plan_path.unlink(missing_ok=True)
            raise
        self._plan_path.chmod(PRIVATE_MODE)
        return parse_plan(shown, path=self._plan_path, replaced=replaced)

    def apply(self, plan: Plan) -> None:
        """Apply exactly this plan; its file is gone afterwards, whatever happens.

        Raises:
            TerraformError: The plan trusts a state that a killed apply has left.
            TerraformOutcomeError: Of any outcome but `done`.
        """
        self._recover_state()
        if missing := sorted(set(self._journal.suspects()) - set(plan.replaced)):
            msg = f"{self.module_dir}: the plan trusts what a killed apply left: {missing}"
            raise TerraformError(msg, hint="plan again")
        last_action = {change.address: change.actions for change in plan.changes}

        def settle(line: str) -> None:
            address = settled_address(line, last_action)
            if address:
                # A line lost here makes one resource a suspect that is none, and breaks nothing.
                with contextlib.suppress(OSError):
                    self._journal.settle(address)

        try:
            self._journalled(
                "apply",
                str(plan.path),
                addresses=tuple(last_action),
                timeout_s=self._limits.apply_s,
                on_line=settle,
                json=True,
                input=False,
                lock_timeout=self._lock_timeout,
            )
        finally:
            plan.path.unlink(missing_ok=True)

    def destroy(self) -> None:
        """Destroy everything in the state with the var file it was made with. Idempotent.

        Where no apply was ever begun there is nothing, and nothing is run.
        """
        self._plan_path.unlink(missing_ok=True)
        if not self._journal.applied:
            return
        self._recover_state()
        self._journalled(
            "destroy",
            addresses=(),
            timeout_s=self._limits.destroy_s,
            json=True,
            input=False,
            auto_approve=True,
            lock_timeout=self._lock_timeout,
            var_file=str(self._var_file),
        )

    def drift(self) -> tuple[Change, ...]:
        """Return what a plan would put right, by address: nothing is saved, no value is read."""
        self._recover_state()
        completed = self._run("plan", timeout_s=self._limits.plan_s, **self._planning())
        return streamed_changes(completed.events)

    def outputs(self) -> dict[str, Any]:
        """Return every output; sensitive ones are among them in plain text."""
        self._recover_state()
        shown = self._run("output", timeout_s=self._limits.read_s, json=True)
        return {name: out["value"] for name, out in shown.document("terraform output").items()}

    @property
    def resources(self) -> tuple[str, ...]:
        """Addresses of the managed resources in the state, sorted; asks the engine."""
        self._recover_state()
        try:
            listed = self._run("state list", timeout_s=self._limits.read_s)
        except TerraformOutcomeError as error:
            if "No state file was found" in str(error):
                return ()
            raise
        return tuple(sorted(line for line in listed.stdout.splitlines() if is_managed(line)))

    def manifests(self) -> tuple[AppliedManifest, ...]:
        """Return the Kubernetes objects that the state answers for, with their UIDs."""
        self._recover_state()
        shown = self._run("show", timeout_s=self._limits.read_s, json=True, no_color=True)
        return applied_manifests(shown.document("terraform show"))

    def _recover_state(self) -> None:
        """Push back the state that a failed command could not write, before anything else."""
        errored = self.module_dir / "errored.tfstate"
        if errored.exists():
            self._run(
                "state push",
                str(errored),
                timeout_s=self._limits.read_s,
                lock_timeout=self._lock_timeout,
            )
            errored.unlink()

    def _planning(self) -> dict[str, Any]:
        return {
            "json": True,
            "input": False,
            "detailed_exitcode": True,
            "lock_timeout": self._lock_timeout,
            "var_file": str(self._var_file),
        }

    def _journalled(
        self, command: str, *arguments: str, addresses: Sequence[str], **options: Any
    ) -> None:
        # An interrupt of the harness itself leaves no end behind: such an apply is not trusted.
        self._journal.begin(command, addresses)
        try:
            self._run(command, *arguments, **options)
        except TerraformOutcomeError as error:
            self._journal.end(command, error.outcome)
            raise
        self._journal.end(command, Outcome.DONE)

    def _run(
        self,
        command: str,
        *arguments: str,
        timeout_s: float,
        on_line: Callable[[str], None] | None = None,
        **options: Any,
    ) -> Completed:
        return self._runner.run(
            command_line(self._engine.path, self.work_dir, command, *arguments, **options),
            command=f"{self._engine.name} {command}",
            timeout_s=timeout_s,
            on_line=on_line,
        )

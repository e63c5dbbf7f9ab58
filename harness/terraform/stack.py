"""One private copy of a root module, its state and its var file.

Every operation is one process with a time limit, and ends in a value or in a typed outcome. None
acts on a state that is damaged, lost, older than the journal or somebody else's. The stack knows
addresses and actions, never what a resource holds. `bench` calls it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from harness.core.files import PRIVATE_MODE, read_json
from harness.errors import TerraformError
from harness.terraform.commands import Limits, Runner
from harness.terraform.copies import VAR_FILE, drop_local_locks, find_copy, make_copy
from harness.terraform.custody import Custody
from harness.terraform.declarations import find_declarations
from harness.terraform.diagnostics import secret_texts
from harness.terraform.engine import Engine
from harness.terraform.manifests import AppliedManifest, applied_manifests
from harness.terraform.outcomes import Change
from harness.terraform.plans import Plan, is_whole, planned_changes, streamed_changes
from harness.terraform.watching import ApplyWatch


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
        self._var_file = self.work_dir / VAR_FILE
        self._plan_path = self.work_dir / "saved.tfplan"
        values = read_json(self._var_file)
        sensitive = {found.name for found in find_declarations(self.module_dir) if found.sensitive}
        self._runner = Runner(
            engine=engine,
            work_dir=self.work_dir,
            env=dict(environment),
            cwd=self.module_dir,
            log_path=log_path,
            secrets=secret_texts(values[name] for name in sensitive & values.keys()),
            grace_s=self._limits.grace_s,
        )
        self._custody = Custody(self._runner, module_dir=self.module_dir, limits=self._limits)

    @classmethod
    def create(
        cls,
        engine: Engine,
        *,
        stack_dir: Path,
        policies_dir: Path | None,
        work_dir: Path,
        values: Mapping[str, Any],
        environment: Mapping[str, str],
        log_path: Path,
        limits: Limits | None = None,
    ) -> Self:
        """Copy a stack, with its local modules and policies, and write its var file (0600).

        Args:
            engine: What runs it.
            stack_dir: The root module.
            policies_dir: Policies that its modules read; None for none.
            work_dir: Private folder of this copy; absent or without a stack.
            values: Resolved values of the variables; they are stored exactly.
            environment: From `engine_environment`.
            log_path: File to append one line a command to.
            limits: Time limits; None takes the defaults.
        """
        make_copy(stack_dir, policies_dir, work_dir, values)
        return cls(
            engine, work_dir=work_dir, environment=environment, log_path=log_path, limits=limits
        )

    def init(self) -> None:
        """Prepare backend, modules and providers. Idempotent.

        Where providers come from a mirror, their entries in a lock file are dropped first: one that
        was built here has another checksum than the registry's, and init would refuse it.
        """
        if self._engine.plugin_mirror is not None:
            drop_local_locks(self.module_dir)
        self._runner.run("init", timeout_s=self._limits.init_s, input=False, no_color=True)

    def plan(self) -> Plan:
        """Plan against the world; what a killed apply left in flight is planned as a replacement.

        Raises:
            TerraformOutcomeError: Of any outcome but `no_changes` and `changes`.
        """
        replaced = self._custody.suspects(self._custody.state())
        options = {**self._planning(), "out": str(self._plan_path), "replace": list(replaced)}
        try:
            completed = self._runner.run("plan", timeout_s=self._limits.plan_s, **options)
            changes = streamed_changes(completed.events)
            if not is_whole(completed.events, changes):
                changes = self._shown_changes()
        except BaseException:
            self._plan_path.unlink(missing_ok=True)
            raise
        self._plan_path.chmod(PRIVATE_MODE)
        return Plan(changes=changes, path=self._plan_path, replaced=replaced)

    def apply(self, plan: Plan | None = None) -> None:
        """Apply exactly this plan, or plan and apply in one go, which takes half of the time.

        Args:
            plan: Its file is gone afterwards, whatever happens; None to plan now. What a killed
                apply left in flight is replaced either way.

        Raises:
            TerraformError: The plan trusts a state that a killed apply has left.
            TerraformOutcomeError: Of any outcome but `done`.
        """
        try:
            self._custody.unlocked(lambda: self._apply(plan))
        finally:
            if plan is not None:
                plan.path.unlink(missing_ok=True)

    def _apply(self, plan: Plan | None) -> None:
        changes = None if plan is None else plan.changes
        suspects = self._custody.suspects(self._custody.state())
        if plan is not None and (missing := sorted(set(suspects) - set(plan.replaced))):
            msg = f"{self.module_dir}: the plan trusts what a killed apply left: {missing}"
            raise TerraformError(msg, hint="plan again")
        self._custody.run(
            "apply",
            *([] if plan is None else [str(plan.path)]),
            changes=changes,
            timeout_s=self._limits.apply_s,
            watch=ApplyWatch(changes, planned=self._custody.planned, settled=self._custody.settle),
            replace=[] if plan else list(suspects),
            **self._acting(planned=plan is not None),
        )

    def destroy(self, *, cluster_gone: bool = False) -> None:
        """Destroy everything in the state with the var file it was made with. Idempotent.

        Where no apply was ever begun there is nothing, and nothing is run.

        Args:
            cluster_gone: The caller has established that the cluster is no more: what was in it
                is dropped from the state first, and counts as gone.

        Raises:
            TerraformOutcomeError: Of any outcome but `done`; with `not_in_state` all that the state
                names is destroyed, and what a cut-off apply may have made beside it is named.
        """
        self._plan_path.unlink(missing_ok=True)
        if self._custody.made_nothing():
            return
        state = self._custody.state()
        unaccounted = set(self._custody.unaccounted(state))
        if cluster_gone:
            unaccounted -= self._custody.forget_cluster(state)
        self._custody.unlocked(
            lambda: self._custody.run(
                "destroy",
                changes=(),
                unaccounted=sorted(unaccounted),
                timeout_s=self._limits.destroy_s,
                **self._acting(),
            )
        )

    def drift(self) -> tuple[Change, ...]:
        """Return what a plan would put right, by address: nothing is saved, no value is read.

        Raises:
            TerraformError: The stream named less than its own summary counts.
        """
        self._custody.state()
        completed = self._runner.run("plan", timeout_s=self._limits.plan_s, **self._planning())
        changes = streamed_changes(completed.events)
        if not is_whole(completed.events, changes):
            msg = f"{self.module_dir}: a part of the plan's stream is missing, so drift is unknown"
            raise TerraformError(msg, hint="point the harness at the engine itself, not a wrapper")
        return changes

    def outputs(self) -> dict[str, Any]:
        """Return every output; sensitive ones are among them in plain text.

        Raises:
            TerraformError: There is no state, which is not the same as a state without outputs.
        """
        state = self._custody.state()
        if state is None:
            msg = f"{self.module_dir}: no state, so no outputs"
            raise TerraformError(msg, hint="apply the stack first")
        return dict(state.outputs)

    def output(self, name: str) -> Any:
        """Return one output.

        Raises:
            TerraformError: There is none of this name; those that are there are listed.
        """
        outputs = self.outputs()
        if name not in outputs:
            there = ", ".join(sorted(outputs)) or "none"
            msg = f"{self.module_dir}: no output named {name!r}; there: {there}"
            raise TerraformError(msg, hint="correct the name, or apply the stack again")
        return outputs[name]

    @property
    def resources(self) -> tuple[str, ...]:
        """Addresses of the managed resources in the state, sorted."""
        state = self._custody.state()
        return state.addresses if state else ()

    @property
    def unaccounted(self) -> tuple[str, ...]:
        """Addresses that a cut-off apply may have made and that the state does not name, sorted."""
        return self._custody.unaccounted(self._custody.state())

    @property
    def elsewhere(self) -> tuple[str, ...]:
        """Addresses of what was or may have been made outside of any cluster, sorted."""
        return self._custody.elsewhere(self._custody.state())

    def manifests(self) -> tuple[AppliedManifest, ...]:
        """Return the Kubernetes objects that the state answers for, with their UIDs."""
        state = self._custody.state()
        return applied_manifests(state.resources) if state else ()

    def begin_anew(self) -> None:
        """Forget everything that was ever made; the caller knows that all of it is gone.

        For a state that is damaged, lost or outdated, after a sweep. The file is set aside.
        """
        self._custody.begin_anew()

    def _acting(self, *, planned: bool = False) -> dict[str, Any]:
        """Return the options of what changes the world; a saved plan takes no values."""
        options = {"json": True, "input": False, "lock_timeout": self._limits.lock_timeout}
        return options if planned else {**options, **self._valued, "auto_approve": True}

    def _planning(self) -> dict[str, Any]:
        options = {"json": True, "input": False, "lock_timeout": self._limits.lock_timeout}
        return {**options, **self._valued, "detailed_exitcode": True}

    @property
    def _valued(self) -> dict[str, str]:
        return {"var_file": str(self._var_file)}

    def _shown_changes(self) -> tuple[Change, ...]:
        """Read a saved plan by itself; its JSON is plain text, so it is dropped at once."""
        shown = self._runner.run(
            "show",
            str(self._plan_path),
            timeout_s=self._limits.read_s,
            json=True,
            no_color=True,
        )
        return planned_changes(shown.document("terraform show").get("resource_changes", ()))

"""The specs of one run of pytest: their cluster, their verdicts, and the end of both.

One cluster, made before the first item that needs it and ended when the session is finished; the
guard rails get a bounded time to take effect. Registered by `strandline_pytest` where a cluster is
named.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from harness.bench.foundation import Foundation, Standing, prove, standing
from harness.bench.platform import platform_of
from harness.bench.tools import Tools
from harness.errors import ConfigError, HarnessError, SpecError, WaitTimeoutError
from harness.model.frozen import Json
from harness.pytest_plugin.choice import Choice, choice_of
from harness.pytest_plugin.items import (
    SPEC_PROPERTY,
    VERDICT_PROPERTY,
    DueCase,
    SpecFile,
    SpecItem,
)
from harness.pytest_plugin.telling import say_on_terminal
from harness.pytest_plugin.wording import NO_VERDICT, error_text, proves_nothing, summary_text
from harness.specs.loader import SPEC_FILE, LoadedSpec, load_spec
from harness.specs.probe import Probe

#: Name under which it is registered.
PLUGIN_NAME = "strandline-specs"

#: What a spec.yaml that is meant for us says, even where it is no YAML.
_OURS = (b"SafetySpec", b"strandline.dev/")


class SpecSession:
    """Collects specs, gives them a cluster, and counts what they showed."""

    def __init__(self, choice: Choice, say: Callable[[str], None]) -> None:
        self._choice = choice
        self._say = say
        self._tools: Tools | None = None
        self._policies_dir: Path | None = None
        self._resolved: dict[str, Mapping[str, Json]] = {}
        self._standing: Standing | None = None
        self._trouble: HarnessError | None = None
        self._open = ExitStack()
        #: Node id to verdict of every item that was reported.
        self.verdicts: dict[str, str] = {}

    def load(self, folder: Path) -> LoadedSpec:
        """Return the spec of a folder, its placeholders replaced by what Terraform says.

        Raises:
            ConfigError: The spec is wrong, or lies in another policies folder than the others.
        """
        if self._policies_dir is None:
            self._policies_dir = folder.parent
        if not self._choice.laboratory and folder.parent != self._policies_dir:
            msg = f"{folder / SPEC_FILE}: not in {self._policies_dir}, as the specs before it"
            raise SpecError(msg, hint="name one folder with policies at a time")
        foundation = self._foundation()
        return load_spec(folder, self._values, stack=foundation.name, roles=foundation.roles)

    def probe(self) -> Probe:
        """Return where cases are probed.

        Raises:
            HarnessError: There is no cluster, or the stack does not stand on it.
        """
        return self.standing().probe

    def standing(self) -> Standing:
        """Return the cluster with the stack on it, once `begin` was called."""
        if self._trouble is not None:
            raise self._trouble
        if self._standing is None:
            raise AssertionError
        return self._standing

    def begin(self, session: pytest.Session) -> None:
        """Make the cluster and await effect of what the selected cases prove. Idempotent.

        What goes wrong is kept for the items to tell.
        """
        if self._standing is not None or self._trouble is not None:
            return
        selected = selected_items(session)
        try:
            foundation = self._foundation()
            self._standing = self._open.enter_context(
                standing(
                    self._machine(),
                    foundation,
                    provider=self._choice.provider(laboratory=foundation.laboratory),
                    seconds={},
                    specs=tuple(
                        {item.due.loaded.path: item.due.loaded for item in selected}.values()
                    ),
                )
            )
            self._await_effect([item.due for item in selected], self._standing.probe)
        except HarnessError as error:
            self._trouble = error

    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> pytest.Collector | None:
        """Collect a spec.yaml that is meant for us; another tool may have files of that name."""
        if file_path.name != SPEC_FILE:
            return None
        with suppress(OSError):  # what cannot be read is told when it is loaded
            text = file_path.read_bytes()
            if not any(mark in text for mark in _OURS):
                return None
        return SpecFile.of(parent, file_path, self)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Have the cluster before an item's own time begins to run."""
        if isinstance(item, SpecItem):
            if item.due.when is not None:
                self.begin(item.session)
            item.skip_unless_runnable()
        return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a verdict, also one that a worker of pytest-xdist came to."""
        told = dict(report.user_properties)
        if SPEC_PROPERTY in told:
            self.verdicts[report.nodeid] = str(told.get(VERDICT_PROPERTY, NO_VERDICT))

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, object, object]:
        """End the cluster after the last fixture; a run in which nothing held did not pass."""
        try:
            return (yield)
        finally:
            left = self._end(session.config)
            nothing = proves_nothing(self.verdicts.values())
            if session.exitstatus == pytest.ExitCode.OK and (left or nothing):
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Count the verdicts on one line."""
        if not self.verdicts:
            return
        counted = self.verdicts.values()
        terminalreporter.write_line(summary_text(counted, self._choice.cluster or ""))
        if proves_nothing(counted):
            terminalreporter.write_line("strandline: not one case held, so nothing is proved")

    def _end(self, config: pytest.Config) -> bool:
        """End the cluster; tell what is left of it, and whether anything is."""
        try:
            self._open.close()
        except HarnessError as error:
            if hasattr(config, "workerinput"):
                raise  # a worker of pytest-xdist has no terminal; its end is told by the others
            self._say(error_text(error))
            return True
        return False

    def _foundation(self) -> Foundation:
        if self._choice.stack_dir is None:
            return platform_of(self._machine().layout)
        if self._policies_dir is None:
            raise AssertionError
        return Foundation(stack_dir=self._choice.stack_dir, policies_dir=self._policies_dir)

    def _machine(self) -> Tools:
        if self._tools is None:
            self._tools = self._choice.tools(self._say)
        return self._tools

    def _values(self, stack: str) -> Mapping[str, Json]:
        """Return what placeholders stand for; Terraform is asked once for each stack."""
        if stack not in self._resolved:
            self._resolved[stack] = self._foundation().values(self._machine(), stack)
        return self._resolved[stack]

    def _await_effect(self, cases: Iterable[DueCase], probe: Probe) -> None:
        specs = runnable_specs(cases, probe.capabilities)
        if not specs:
            return
        timeout_s = self._choice.effect_timeout_s
        try:
            prove(probe, specs, timeout_s=timeout_s)
        except WaitTimeoutError:  # the items say which, and why
            self._say(f"not every case held within {timeout_s:g} s; each is judged all the same")


def runnable_specs(
    cases: Iterable[DueCase], capabilities: frozenset[str]
) -> tuple[LoadedSpec, ...]:
    """Return specs that hold only these cases, those of them that can be judged. Pure."""
    kept: dict[Path, tuple[LoadedSpec, list[str]]] = {}
    for one in cases:
        if one.why_not(capabilities) is None and "ready" in one.case.when:
            kept.setdefault(one.loaded.path, (one.loaded, []))[1].append(one.case.name)
    return tuple(_only(loaded, names) for loaded, names in kept.values())


def _only(loaded: LoadedSpec, names: Iterable[str]) -> LoadedSpec:
    kept = frozenset(names)
    body = loaded.spec.spec
    cases = tuple(case for case in body.cases if case.name in kept)
    spec = loaded.spec.model_copy(update={"spec": body.model_copy(update={"cases": cases})})
    return replace(loaded, spec=spec)


def selected_items(session: pytest.Session) -> list[SpecItem]:
    """Return the cases that were selected to run."""
    return [item for item in session.items if isinstance(item, SpecItem)]


def spec_session_of(config: pytest.Config) -> SpecSession | None:
    """Return the specs of a run; None where it collects none."""
    found = config.pluginmanager.get_plugin(PLUGIN_NAME)
    return found if isinstance(found, SpecSession) else None


def register(config: pytest.Config) -> None:
    """Have a run collect specs."""
    try:
        choice = choice_of(config)
    except ConfigError as error:
        raise pytest.UsageError(error.message) from error
    config.pluginmanager.register(SpecSession(choice, say_on_terminal(config)), PLUGIN_NAME)

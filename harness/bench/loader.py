"""Read a suite whole and cross-check it, before anything exists.

Every placeholder is rendered with values that Terraform itself gives for the task's stack and
overrides, so that a bad name, a bad type or a missing stack is one line with file, line and key.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import RootModel

from harness.bench.drawing import draw
from harness.bench.layout import Layout
from harness.bench.story.rules import story_problem
from harness.core.documents import Document, build, load_document
from harness.core.files import canonical_json, sha256_hex
from harness.core.naming import attempt_namespace
from harness.core.placeholders import names_in, render_document
from harness.errors import SuiteError, VariableError
from harness.model.suite import ExpectedScore, Suite, SuiteFile, Task
from harness.terraform.variables import ResolvedVariables

#: Asks Terraform for the values of a stack's root variables, given overrides.
Resolve = Callable[[Path, Mapping[str, Any]], ResolvedVariables]

#: Stand-ins, while a suite is checked, for what only an attempt knows.
_STAND_IN_ID = "0" * 8


def harness_variables(*, run_id: str, attempt_id: str) -> dict[str, str]:
    """Return what the harness itself sets on every lab stack. Pure."""
    return {
        "namespace": attempt_namespace(attempt_id),
        "run_id": run_id,
        "attempt_id": attempt_id,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedTask:
    """A task with its source.

    Attributes:
        document: task.yaml with placeholders and draws still in it, the briefing in the prompt.
        task: The task as it would be with stand-in values.
    """

    document: Document
    task: Task

    def overrides(self, seed: int) -> dict[str, Any]:
        """Return the task's overrides of root variables with every draw made."""
        return draw(self.document.data.get("variables", {}), seed)

    def rendered(self, values: Mapping[str, Any]) -> Task:
        """Return the task with every placeholder replaced by an effective value."""
        return _render(self.document, values)

    def prompted(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the variables that the prompt names, for controls."""
        return {name: values[name] for name in sorted(names_in(self.document.data["prompt"]))}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSuite:
    """A suite that can be run.

    Attributes:
        directory: Its folder.
        suite: Everything that was read.
        tasks: Task id to task, in the suite's order.
    """

    directory: Path
    suite: Suite
    tasks: Mapping[str, LoadedTask]

    def control_path(self, name: str) -> Path:
        """Return the executable of a control; it need not be there."""
        return self.directory / "controls" / name

    def select(self, only: tuple[str, ...]) -> tuple[LoadedTask, ...]:
        """Return the tasks named, all when none is.

        Raises:
            SuiteError: One is not in the suite.
        """
        for name in only:
            if name not in self.tasks:
                near = difflib.get_close_matches(name, self.tasks, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"tasks: {', '.join(self.tasks)}"
                msg = f"{self.directory}: no task {name!r}"
                raise SuiteError(msg, hint=hint)
        return tuple(task for name, task in self.tasks.items() if not only or name in only)


def load_suite(layout: Layout, name: str, *, resolve: Resolve) -> LoadedSuite:
    """Read a suite with all its tasks.

    Raises:
        SuiteError: A file is wrong; file, line and key are named.
        VariableError: A variable or a placeholder is.
    """
    directory = layout.suite_dir(name)
    document = load_document(directory / "suite.yaml", kind=SuiteError)
    header = build(SuiteFile, document, kind=SuiteError)
    _check_header(document, header, directory)
    sources = [_source(directory, task_id, header.briefing) for task_id in header.tasks]
    with ThreadPoolExecutor(max(1, os.cpu_count() or 1)) as pool:
        loaded = pool.map(lambda source: _load_task(layout, source, resolve), sources)
        tasks = dict(zip(header.tasks, loaded, strict=True))
    for task_id, task in tasks.items():
        if task.task.id != task_id:
            problem = f"is {task.task.id!r}, expected the folder's name {task_id!r}"
            hint = "give the task its folder's name"
            raise task.document.error(SuiteError, ("id",), problem, hint=hint)
        if task.task.category not in header.categories:
            problem = f"{task.task.category!r} is no category of the suite"
            hint = f"use one of {', '.join(header.categories)}"
            raise task.document.error(SuiteError, ("category",), problem, hint=hint)
    digest = sha256_hex(
        canonical_json([document.data, *(task.document.data for task in tasks.values())])
    )
    suite = Suite(
        name=header.name,
        version=header.version,
        description=header.description,
        categories=header.categories,
        briefing=header.briefing,
        tasks=tuple(task.task for task in tasks.values()),
        digest=digest,
    )
    return LoadedSuite(directory=directory, suite=suite, tasks=tasks)


def _check_header(document: Document, header: SuiteFile, directory: Path) -> None:
    if header.name != directory.name:
        problem = f"is {header.name!r}, expected the folder's name {directory.name!r}"
        hint = "give the suite its folder's name"
        raise document.error(SuiteError, ("name",), problem, hint=hint)
    for key, values in (("tasks", header.tasks), ("categories", header.categories)):
        for index, value in enumerate(values):
            if value in values[:index]:
                hint = "keep one of them"
                raise document.error(SuiteError, (key, index), f"{value!r} stands twice", hint=hint)


def _source(directory: Path, task_id: str, briefing: str) -> Document:
    document = load_document(directory / task_id / "task.yaml", kind=SuiteError)
    prompt = document.data.get("prompt")
    if isinstance(prompt, str) and briefing:
        data = {**document.data, "prompt": f"{briefing.rstrip()}\n\n{prompt}"}
        return replace(document, data=data)
    return document


def _load_task(layout: Layout, document: Document, resolve: Resolve) -> LoadedTask:
    data = document.data
    # Unknown keys and wrong kinds are told first; placeholders come once the values are known.
    stack, variables = data.get("stack"), data.get("variables", {})
    if not isinstance(stack, str) or not isinstance(variables, dict):
        build(Task, document, kind=SuiteError)
        raise TypeError  # the model refuses both
    stand_ins = harness_variables(run_id=_STAND_IN_ID, attempt_id=_STAND_IN_ID)
    for name in sorted(stand_ins.keys() & variables.keys()):
        problem = f"variable {name!r} is set by the harness"
        raise document.error(SuiteError, ("variables", name), problem, hint="remove it")
    try:
        resolved = resolve(layout.stack_dir(stack), {**stand_ins, **draw(variables, 0)})
    except VariableError as error:
        msg = f"{document.where(_blamed(document, error))}: {error.message}"
        raise VariableError(msg, hint=error.hint) from error
    task = _render(document, resolved.visible)
    if found := story_problem(task, data.get("history", ())):
        raise document.error(SuiteError, found.key, found.problem, hint=found.hint)
    return LoadedTask(document=document, task=task)


def _blamed(document: Document, error: VariableError) -> tuple[str, ...]:
    """Return the key of the override that an error of Terraform's is about, else the stack's."""
    for name in document.data.get("variables", {}):
        if f"{name!r}" in error.message:
            return ("variables", name)
    return ("stack",)


def _render(document: Document, values: Mapping[str, Any]) -> Task:
    untouched = {"variables": document.data.get("variables", {})}
    rest = {key: item for key, item in document.data.items() if key != "variables"}
    rendered = render_document(replace(document, data=rest), values, kind=VariableError)
    return build(Task, replace(rendered, data={**rendered.data, **untouched}), kind=SuiteError)


class _Controls(RootModel[dict[str, dict[str, ExpectedScore]]]):
    """controls.yaml: control, then task, then what it must score."""


def load_controls(suite: LoadedSuite) -> dict[str, dict[str, ExpectedScore]]:
    """Read what every control must score; each names every task of the suite.

    Raises:
        SuiteError: A control has no executable, or a task is missing or unknown.
    """
    document = load_document(suite.directory / "controls.yaml", kind=SuiteError)
    controls = build(_Controls, document, kind=SuiteError).root
    for name, rows in controls.items():
        path = suite.control_path(name)
        if not (path.is_file() and os.access(path, os.X_OK)):
            problem = f"no executable {path}"
            raise document.error(SuiteError, (name,), problem, hint="add it, or remove the control")
        for task_id in [*rows, *suite.tasks]:
            if (task_id in rows) != (task_id in suite.tasks):
                problem = f"task {task_id!r} is not in both the table and the suite"
                hint = "list every task of the suite, and no other"
                raise document.error(SuiteError, (name,), problem, hint=hint)
        for task_id, expected in rows.items():
            truths = suite.tasks[task_id].task.truths
            for truth in expected.by_truth:
                if truth not in truths:
                    problem = f"task {task_id!r} has no truth {truth!r}"
                    key = (name, task_id, "by_truth", truth)
                    hint = f"truths: {', '.join(truths) or 'none'}"
                    raise document.error(SuiteError, key, problem, hint=hint)
    return controls

"""A suite ready for attempts in memory: tasks by the real loader, objects as Terraform plans them.

Each task is resolved once, with the names of seed 0; the names of another seed take their places in
all that was made of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from harness.bench.drawing import draw
from harness.bench.layout import Layout
from harness.bench.loader import LoadedTask, harness_variables, load_suite
from harness.kube.resources import resource_of_kind
from harness.model.suite import Suite, Task
from harness.terraform.engine import Engine
from harness.terraform.variables import ResolvedVariables, resolve
from tests.virtual.manifests import Manifest, PlannedStacks
from tests.virtual.schema import definitions

#: Ids of every attempt in memory; the loader's own stand-ins, so that all is said once.
ID = "00000000"


@dataclass(slots=True, kw_only=True)
class VirtualTask:
    """A task with everything that its stack makes.

    Attributes:
        values: Effective values of the root variables with the names of seed 0.
        objects: Plural and object, defaults filled in, in the order in which they are made.
        begun: What `beginning` keeps: seed, truth and noise to a laboratory and its history.
    """

    loaded: LoadedTask
    values: Mapping[str, Any]
    objects: list[tuple[str, Manifest]]
    begun: dict[Any, Any] = field(default_factory=dict)
    _of_seed: dict[int, tuple[Task, Mapping[str, Any], list[tuple[str, Manifest]]]] = field(
        default_factory=dict
    )

    def of_seed(self, seed: int) -> tuple[Task, Mapping[str, Any], list[tuple[str, Manifest]]]:
        """Return the task, its variables and its objects with the names of a seed."""
        if seed not in self._of_seed:
            declared = self.loaded.document.data.get("variables", {})
            names = dict(_drawn(declared, draw(declared, 0), draw(declared, seed)))
            values = _renamed(dict(self.values), names)
            objects = _renamed([list(one) for one in self.objects], names)
            task = self.loaded.rendered(values)
            self._of_seed[seed] = task, values, [(plural, obj) for plural, obj in objects]
        return self._of_seed[seed]


@dataclass(frozen=True, slots=True, kw_only=True)
class VirtualSuite:
    """A suite with its tasks, in order."""

    directory: Path
    suite: Suite
    tasks: Mapping[str, VirtualTask]


def load_virtual(
    layout: Layout, name: str, *, engine: Engine, work_dir: Path, only: tuple[str, ...] = ()
) -> VirtualSuite:
    """Read a suite as the harness does, and plan the stack of each task, or of those named."""
    source = _narrowed(layout, name, only, work_dir) if only else layout
    asked: dict[str, ResolvedVariables] = {}

    def remembering(stack_dir: Path, overrides: Mapping[str, Any]) -> ResolvedVariables:
        found = resolve(engine, stack_dir, overrides)
        asked[_key(stack_dir.name, overrides)] = found
        return found

    loaded = load_suite(source, name, resolve=remembering)
    stacks = PlannedStacks(engine, layout.root / "tf", work_dir)
    ids = harness_variables(run_id=ID, attempt_id=ID)
    overrides = {task_id: {**ids, **task.overrides(0)} for task_id, task in loaded.tasks.items()}
    planned = stacks.manifests(
        [(f"stacks/{loaded.tasks[task_id].task.stack}", one) for task_id, one in overrides.items()]
    )
    tasks = {
        task_id: VirtualTask(
            loaded=task,
            values=asked[_key(task.task.stack, overrides[task_id])].visible,
            objects=_objects(manifests),
        )
        for (task_id, task), manifests in zip(loaded.tasks.items(), planned, strict=True)
    }
    return VirtualSuite(directory=layout.suite_dir(name), suite=loaded.suite, tasks=tasks)


def _narrowed(layout: Layout, name: str, only: tuple[str, ...], work_dir: Path) -> Layout:
    """Return a root whose suite has these tasks alone: no other one is read, good or bad."""
    whole = layout.suite_dir(name)
    root = work_dir / "narrowed"
    directory = root / "tasks" / name
    directory.mkdir(parents=True)
    for path in (*layout.root.glob("tf"), *layout.root.glob("policies")):
        (root / path.name).symlink_to(path.resolve())
    for task_id in only:
        (directory / task_id).symlink_to((whole / task_id).resolve())
    header = yaml.safe_load((whole / "suite.yaml").read_text())
    (directory / "suite.yaml").write_text(yaml.safe_dump({**header, "tasks": list(only)}))
    return Layout(root=root)


def _objects(manifests: list[Manifest]) -> list[tuple[str, Manifest]]:
    """Return what lives in the namespace, as it is stored."""
    found = []
    for manifest in manifests:
        resource = resource_of_kind(manifest["kind"])
        assert resource is not None, manifest["kind"]
        if not resource.namespaced:
            continue
        definition = definitions().get(resource.plural)
        obj = definition.fill(manifest) if definition else manifest
        if definition and (problems := definition.problems(None, obj)):
            msg = f"{resource.plural} {manifest['metadata']['name']}: {'; '.join(problems)}"
            raise AssertionError(msg)
        found.append((resource.plural, obj))
    return found


def _key(stack: str, overrides: Mapping[str, Any]) -> str:
    return json.dumps([stack, dict(overrides)], sort_keys=True)


def _drawn(declared: Any, old: Any, new: Any) -> list[tuple[str, str]]:
    """Return each name that was drawn, by the name that stood in its place."""
    if declared == {"draw": "name"}:
        return [(old, new)]
    if isinstance(declared, dict):
        return [pair for key in declared for pair in _drawn(declared[key], old[key], new[key])]
    if isinstance(declared, list):
        triples = zip(declared, old, new, strict=True)
        return [pair for one in triples for pair in _drawn(*one)]
    return []


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if not names:
        return value
    # All at once: a name of the one seed may be another's of the other.
    pattern = re.compile("|".join(re.escape(name) for name in sorted(names)))
    return json.loads(pattern.sub(lambda found: names[found[0]], json.dumps(value)))

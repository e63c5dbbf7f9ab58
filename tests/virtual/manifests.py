"""The objects of a lab stack, as Terraform plans them: no provider, no cluster, no state.

The stack's own files are copied with each `kubectl_manifest` said as a `terraform_data`, which the
engine has built in, so a plan holds every manifest as text. Nothing of HCL is evaluated here.
"""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from harness.core.process import run
from harness.terraform.engine import Engine, engine_environment

#: Seconds for one command of the engine; the plan of a whole suite takes 2 s.
_TIMEOUT_S = 120.0

#: Bytes of a plan as JSON; that of a whole suite has 8 million.
_LIMIT_BYTES = 128 * 1024 * 1024

#: What says of an object how it is applied, and not what it is.
_MANNERS = re.compile(r"^\s*(server_side_apply|force_conflicts|wait)\s*=.*$", re.MULTILINE)
_PROVIDERS = re.compile(r"^  required_providers \{.*?^  \}$", re.MULTILINE | re.DOTALL)

#: A variable that a file looks at.
_USED = re.compile(r"\bvar\.(\w+)")

#: Variables that every lab stack must be given.
_NEEDED = frozenset({"namespace", "run_id", "attempt_id"})

Manifest = dict[str, Any]


class PlannedStacks:
    """A copy of a tf/ folder of which plans are made; no state is ever kept."""

    def __init__(self, engine: Engine, tf_dir: Path, work_dir: Path) -> None:
        self._engine, self._work_dir = engine, work_dir
        self._numbers = itertools.count(1)
        for path in sorted(tf_dir.rglob("*.tf")):
            target = work_dir / "tf" / path.relative_to(tf_dir)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(_without_provider(path.read_text()))
        (work_dir / "policies").symlink_to(tf_dir.parent / "policies")

    def manifests(self, asked: Sequence[tuple[str, Mapping[str, Any]]]) -> list[list[Manifest]]:
        """Return every object that each folder of tf/ makes with values of its variables.

        All of them are modules of one root, so that the engine is started once for all, and what
        differs in nothing that a folder looks at is planned once.
        """
        keys = [self._key(folder, values) for folder, values in asked]
        modules = {key: f"asked-{number}" for number, key in enumerate(dict.fromkeys(keys))}
        planned = self._plan({name: json.loads(key) for key, name in modules.items()})
        return [planned[modules[key]] for key in keys]

    def _key(self, folder: str, values: Mapping[str, Any]) -> str:
        texts = [
            path.read_text()
            for path in (self._work_dir / "tf" / folder).glob("*.tf")
            if path.name != "variables.tf"
        ]
        used = {name for text in texts for name in _USED.findall(text)}
        kept = {name: value for name, value in values.items() if name in used or name in _NEEDED}
        return json.dumps({**kept, "source": f"../tf/{folder}"}, sort_keys=True)

    def _plan(self, modules: Mapping[str, Any]) -> dict[str, list[Manifest]]:
        root_dir = self._work_dir / f"root-{next(self._numbers)}"
        root_dir.mkdir()
        (root_dir / "main.tf.json").write_text(json.dumps({"module": modules}))
        self._run(root_dir, "init", "-backend=false")
        self._run(root_dir, "plan", "-refresh=false", "-lock=false", "-out=whole.plan")
        document = json.loads(self._run(root_dir, "show", "-json", "whole.plan"))
        planned = document["planned_values"]["root_module"].get("child_modules", ())
        return {
            module["address"].removeprefix("module."): list(_planned(module)) for module in planned
        }

    def _run(self, root_dir: Path, *arguments: str) -> str:
        environment = engine_environment(
            self._engine, work_dir=self._work_dir, extra={}, ambient=os.environ
        )
        argv = [str(self._engine.path), *arguments]
        finished = run(
            argv, env=environment, timeout_s=_TIMEOUT_S, cwd=root_dir, limit_bytes=_LIMIT_BYTES
        )
        assert finished.returncode == 0, f"{arguments[0]} in {root_dir}: {finished.stderr}"
        return finished.stdout


def _without_provider(text: str) -> str:
    text = _PROVIDERS.sub("", text)
    text = _MANNERS.sub("", text)
    text = text.replace('resource "kubectl_manifest"', 'resource "terraform_data"')
    text = re.sub(r"\bkubectl_manifest\.", "terraform_data.", text)
    return re.sub(r"^(\s*)yaml_body(\s*)=", r"\1input\2=", text, flags=re.MULTILINE)


def _planned(module: Mapping[str, Any]) -> Iterator[Manifest]:
    for resource in module.get("resources", ()):
        yield yaml.safe_load(resource["values"]["input"])
    for child in module.get("child_modules", ()):
        yield from _planned(child)

"""For any module, names, places, types and values are the engine's own."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, event, given, settings

from harness.core.process import Finished, run
from harness.core.scratch import scratch_folder
from harness.errors import VariableError
from harness.terraform.engine import Engine, engine_environment
from harness.terraform.variables import ResolvedVariables, resolve
from tests.integration.terraform.declared import Module, modules

#: Examples for each engine; each is a dozen variables and six questions, which take 1 s. More of
#: them are drawn with the variable set: 200 take some minutes.
_EXAMPLES = int(os.environ.get("STRANDLINE_EXAMPLES", "7"))

_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """What an engine says of a module, without any of ours in between.

    Attributes:
        kinds: Name to type, of one output for each variable, after an apply.
        values: Name to value, in the same way.
        configuration: Name to what the engine read of the declaration.
    """

    kinds: Mapping[str, Any]
    values: Mapping[str, Any]
    configuration: Mapping[str, Any]


@settings(
    max_examples=_EXAMPLES,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(module=modules())
@pytest.mark.timeout(60 + 20 * _EXAMPLES)
def test_any_module_is_read_as_the_engine_reads_it(any_engine: Engine, module: Module) -> None:
    with scratch_folder("asked") as ours, scratch_folder("asked") as theirs:
        for name, data in module.files.items():
            (ours / name).write_bytes(data)
            (theirs / name).write_bytes(data)

        said = _ask(any_engine, theirs, module)

        if isinstance(said, Finished):
            event("refused")
            with pytest.raises(VariableError):
                resolve(any_engine, ours, module.overrides)
        else:
            event("accepted")
            _compare(resolve(any_engine, ours, module.overrides), said, module)


def _compare(resolved: ResolvedVariables, said: _Said, module: Module) -> None:
    assert resolved.declared.keys() == module.declared.keys() == said.configuration.keys()
    for name, variable in resolved.declared.items():
        known, configured = module.declared[name], said.configuration[name]
        assert (variable.path.name, variable.line) == (known.file, known.line), name
        assert variable.required == known.required == ("default" not in configured), name
        assert variable.sensitive == known.sensitive == configured.get("sensitive", False), name
        assert (name in resolved.sensitive) == known.sensitive
        assert variable.description == configured.get("description", ""), name
        assert variable.kind == said.kinds[name], name
        assert _same(resolved.values[name], said.values[name]), name
        assert _same(variable.default, configured.get("default")), name


def _same(ours: Any, exact: Any) -> bool:
    """Tell whether a value is the engine's, number for number and digit for digit."""
    if isinstance(exact, dict):
        return (
            isinstance(ours, dict)
            and ours.keys() == exact.keys()
            and all(_same(ours[key], exact[key]) for key in exact)
        )
    if isinstance(exact, list):
        return isinstance(ours, list) and len(ours) == len(exact) and all(map(_same, ours, exact))
    if isinstance(exact, Decimal):
        return not isinstance(ours, bool | str | None) and Decimal(repr(ours)) == exact
    return type(ours) is type(exact) and bool(ours == exact)


def _ask(engine: Engine, folder: Path, module: Module) -> _Said | Finished:
    outputs = [
        f'output "o{number}" {{\n  value     = [var.{name}]\n  sensitive = true\n}}\n'
        for number, name in enumerate(module.declared)
    ]
    (folder / "zz_asked.tf").write_text("".join(outputs))
    (folder / "asked.json").write_text(json.dumps(module.overrides))
    planned = _run(engine, folder, "plan", "-input=false", "-var-file=asked.json", "-out=p.tfplan")
    if planned.returncode:
        return planned
    shown = _exact(_run(engine, folder, "show", "-json", "p.tfplan").stdout)
    applied = _run(engine, folder, "apply", "-input=false", "p.tfplan")
    assert applied.returncode == 0, applied.stderr
    printed = _exact(_run(engine, folder, "output", "-json").stdout)
    # In a list, since an output that is null is left out of the state.
    answers = [printed[f"o{number}"] for number in range(len(module.declared))]
    return _Said(
        kinds={name: out["type"][1][0] for name, out in zip(module.declared, answers, strict=True)},
        values={name: out["value"][0] for name, out in zip(module.declared, answers, strict=True)},
        configuration=shown["configuration"]["root_module"]["variables"],
    )


def _exact(text: str) -> Any:
    return json.loads(text, parse_float=Decimal, parse_int=Decimal)


def _run(engine: Engine, folder: Path, *arguments: str) -> Finished:
    environment = engine_environment(engine, work_dir=folder, extra={}, ambient=os.environ)
    argv = [str(engine.path), *arguments]
    return run(argv, env=environment, cwd=folder, timeout_s=_TIMEOUT_S)

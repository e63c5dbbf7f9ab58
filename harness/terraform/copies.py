"""The private copy of a stack: its root module, the modules beside it and the policies it reads.

The layout of the source tree is kept, so relative paths inside a module mean the same. Whatever
earlier runs left in the source tree (state, plans, locks, plugins) is left out. `stack` calls it.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.core.files import PRIVATE_MODE, write_json
from harness.errors import TerraformError
from harness.terraform.declarations import existing_stack

#: Name of the exact var file of a copy; `destroy` needs it as much as `plan` does.
VAR_FILE = "vars.tfvars.json"

_STACKS = Path("tf", "stacks")
_MODULES = Path("tf", "modules")

#: Only the owner looks inside: the state and the var file hold secrets in plain text.
_PRIVATE_DIR_MODE = 0o700

_LEFT_OUT = shutil.ignore_patterns(
    ".terraform",
    ".terraform.lock.hcl",
    "*.tfstate",
    "*.tfstate.*",
    "*.tfplan",
    ".terraform.tfstate.lock.info",
    "journal.jsonl",
)


def make_copy(root: Path, stack: str, work_dir: Path, values: Mapping[str, Any]) -> Path:
    """Copy a stack into an empty or absent folder and return the copy's root module.

    Raises:
        VariableError: There is no such stack.
        TerraformError: `work_dir` holds something already.
    """
    source = existing_stack(root / _STACKS / stack)
    work_dir.mkdir(mode=_PRIVATE_DIR_MODE, parents=True, exist_ok=True)
    work_dir.chmod(_PRIVATE_DIR_MODE)
    if (work_dir / VAR_FILE).exists() or (work_dir / _STACKS).exists():
        msg = f"{work_dir}: holds a stack already, expected an empty folder"
        raise TerraformError(msg, hint="destroy that stack first, then choose another folder")
    write_json(work_dir / VAR_FILE, dict(values), mode=PRIVATE_MODE)
    if (root / _MODULES).is_dir():
        shutil.copytree(root / _MODULES, work_dir / _MODULES, ignore=_LEFT_OUT)
    for policy in sorted((root / "policies").glob("*/policy.yaml")):
        target = work_dir / "policies" / policy.parent.name / policy.name
        target.parent.mkdir(parents=True)
        shutil.copyfile(policy, target)
    shutil.copytree(source, work_dir / _STACKS / stack, ignore=_LEFT_OUT)
    return work_dir / _STACKS / stack


def find_copy(work_dir: Path) -> Path:
    """Return the root module of a copy that is there.

    Raises:
        TerraformError: The folder holds no whole copy of one stack.
    """
    modules = [path for path in (work_dir / _STACKS).glob("*") if path.is_dir()]
    if len(modules) != 1 or not (work_dir / VAR_FILE).is_file():
        msg = f"{work_dir}: {len(modules)} stacks found, expected one and its {VAR_FILE}"
        raise TerraformError(msg, hint="name the folder that the stack was created in")
    return modules[0]

"""How a Terraform command line is spelt; the door to python-terraform.

Only its spelling of options is used: its `destroy` sends a flag that Terraform refuses, failures
come back as tuples, and it has no time limits. Nothing is run here: `commands` does that. `stack`
and `variables` call it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from python_terraform import IsFlagged, Terraform


def command_line(
    engine_path: Path, work_dir: Path, command: str, *arguments: str, **options: Any
) -> list[str]:
    """Return a command line as python-terraform spells it: no shell, nothing run. Pure.

    Args:
        engine_path: The binary.
        work_dir: A folder that holds no state: python-terraform reads one while it is built.
        command: For example `state push`.
        arguments: What follows the options.
        options: Names with underscores; True for a bare flag, a list for a repeated option.
    """
    flags = {name: IsFlagged if value is True else value for name, value in options.items()}
    builder = Terraform(working_dir=str(work_dir), terraform_bin_path=str(engine_path))
    return list(builder.generate_cmd_string(command, *arguments, **flags))

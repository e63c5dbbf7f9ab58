"""Stand-ins of the terraform tests: an engine that is a script, events as Terraform writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harness.core.process import Finished


def fake_engine_binary(folder: Path, name: str, banner: str) -> Path:
    """Write a program that knows `version` and nothing else."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f'#!/bin/sh\n[ "$*" = version ] || exit 64\ncat <<EOF\n{banner}\nEOF\n')
    path.chmod(0o755)
    return path


def fake_finished(
    returncode: int, *, stdout: str = "", stderr: str = "", timed_out: bool = False
) -> Finished:
    """Return the end of a command that was never run."""
    return Finished(
        argv=("terraform",),
        returncode=returncode,
        stdout=stdout,
        stderr=stderr,
        duration_s=3.2,
        timed_out=timed_out,
        survivors=0,
    )


def fake_hook(kind: str, address: str, action: str) -> str:
    """Return one line of an apply's stream, as Terraform 1.11.4 writes it."""
    hook = {"resource": {"addr": address, "module": ""}, "action": action, "elapsed_seconds": 0}
    return json.dumps({"@level": "info", "@message": "said", "type": kind, "hook": hook})


def fake_summary(operation: str) -> dict[str, Any]:
    """Return the event that closes an operation."""
    return {"type": "change_summary", "changes": {"add": 0, "operation": operation}}

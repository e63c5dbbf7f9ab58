"""Stand-ins of the terraform tests: an engine that is a script, events as Terraform writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.core.process import Finished
from harness.terraform.outcomes import Change


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


def fake_creations(*addresses: str) -> tuple[Change, ...]:
    """Return what a plan that creates these says."""
    return tuple(Change(address=address, actions=("create",)) for address in addresses)


def fake_hook(kind: str, address: str, action: str) -> dict[str, Any]:
    """Return one event of an apply's stream, as Terraform 1.11.4 writes it."""
    hook = {"resource": {"addr": address, "module": ""}, "action": action, "elapsed_seconds": 0}
    return {"@level": "info", "@message": "said", "type": kind, "hook": hook}


def fake_planned(address: str, action: str) -> dict[str, Any]:
    """Return the event for one resource of a plan."""
    change = {"resource": {"addr": address}, "action": action}
    return {"@level": "info", "type": "planned_change", "change": change}


def fake_summary(
    operation: str, *, add: int = 0, change: int = 0, remove: int = 0
) -> dict[str, Any]:
    """Return the event that closes an operation."""
    counts = {"add": add, "change": change, "remove": remove, "operation": operation}
    return {"@level": "info", "type": "change_summary", "changes": counts}

"""Runs of pytest as somebody has them: a process of their own, in a project of their own."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from harness.core.process import Finished, run

ROOT = Path(__file__).resolve().parents[3]

#: A stack of somebody's own with its policies, none of which know a laboratory.
EXAMPLE = ROOT / "examples" / "guarded-namespace"

#: Longest run, in seconds: a control plane takes 4 s on two idle cores, and a stack 4 s more.
RUN_TIMEOUT_S = 150.0

_ARGV = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly", "-ra")


def argv_of(*arguments: str) -> list[str]:
    """Return the command line of a run."""
    return [*_ARGV, *arguments]


def environment(home: Path, *, first_on_path: Path | None = None) -> dict[str, str]:
    """Return the environment of a run: this one's, without what is about this run."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    if first_on_path:
        kept["PATH"] = f"{first_on_path}{os.pathsep}{kept['PATH']}"
    return {**kept, "STRANDLINE_HOME": str(home)}


def run_pytest(*arguments: str, cwd: Path, home: Path, **more: str) -> Finished:
    """Run pytest to its end; `more` goes into its environment."""
    env = {**environment(home), **more}
    return run(argv_of(*arguments), env=env, timeout_s=RUN_TIMEOUT_S, cwd=cwd)


def copy_example(folder: Path) -> Path:
    """Return a copy of the example, which a test may change."""
    copy = folder / "guarded"
    shutil.copytree(EXAMPLE, copy, ignore=shutil.ignore_patterns(".*"))
    return copy


def write_spec(project: Path, name: str, text: str) -> Path:
    """Write policies/NAME/spec.yaml of a project."""
    path = project / "policies" / name / "spec.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(text.replace("NAME", name))
    return path

"""What everybody pays who has this package installed, whatever they test."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from harness.core.process import run

_SHOW = """
import sys
import pytest
before = set(sys.modules)
import strandline_pytest
print(*sorted(set(sys.modules) - before))
"""


def test_loading_the_plugin_imports_nothing_but_itself() -> None:
    finished = run([sys.executable, "-c", _SHOW], env=dict(os.environ), timeout_s=30)

    assert finished.stdout.split() == ["strandline_pytest"]


def test_a_project_with_a_harness_of_its_own_runs_as_if_we_were_not_there(tmp_path: Path) -> None:
    (tmp_path / "harness").mkdir()
    (tmp_path / "harness" / "__init__.py").write_text("WHOSE = 'theirs'\n")
    (tmp_path / "test_it.py").write_text(
        "import harness\n\n\ndef test_it():\n    assert harness.WHOSE == 'theirs'\n"
    )

    argv = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q"]
    finished = run(argv, env=dict(os.environ), timeout_s=60, cwd=tmp_path)

    assert finished.returncode == 0, finished.stdout + finished.stderr


def test_pytest_finds_the_plugin_by_itself(
    pytestconfig: pytest.Config,
) -> None:
    assert pytestconfig.pluginmanager.has_plugin("strandline")

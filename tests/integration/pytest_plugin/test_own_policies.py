"""The project's own policies in a worker of pytest-xdist, with the laboratory's webhook."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.pytest_plugin.runs import ROOT, RUN_TIMEOUT_S, run_pytest

#: One that a policy keeps, one that the webhook keeps, one that the API server's own rules keep.
_POLICIES = (
    "run-status-is-the-controllers",
    "unknown-capabilities-are-refused",
    "pods-are-restricted",
)


@pytest.mark.timeout(RUN_TIMEOUT_S)
def test_the_projects_own_policies_hold_under_pytest(tmp_path: Path) -> None:
    folders = [f"policies/{name}" for name in _POLICIES]

    options = ("--strandline-cluster", "embedded", "-n", "1")

    finished = run_pytest(*folders, *options, cwd=ROOT, home=tmp_path / "home")

    assert finished.returncode == pytest.ExitCode.OK, finished.stdout
    assert " held, 0 broken, 0 unknown, 0 not runnable on embedded" in finished.stdout
    assert not (tmp_path / "home").exists()

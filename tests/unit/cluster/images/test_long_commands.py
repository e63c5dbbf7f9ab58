"""What is said of a command that takes minutes, and how its failure reads."""

from __future__ import annotations

import pytest

from harness.cluster.images.long_commands import run_long
from harness.errors import PrerequisiteError

ENV = {"PATH": "/usr/bin:/bin"}


def test_a_command_that_ends_well_is_announced_and_timed() -> None:
    lines: list[str] = []

    ended = run_long(["echo", "x"], env=ENV, what="saying x", timeout_s=20, progress=lines.append)

    assert ended.stdout == "x\n"
    assert lines == ["saying x", "saying x: done in 0 s"]


def test_a_command_that_fails_carries_the_end_of_its_stderr() -> None:
    with pytest.raises(PrerequisiteError) as caught:
        run_long(
            ["sh", "-c", "echo no such package >&2; exit 3"],
            env=ENV,
            what="making x",
            timeout_s=20,
            progress=lambda _: None,
        )

    assert str(caught.value) == "making x: sh exited 3: no such package"
    assert caught.value.exit_code == 4

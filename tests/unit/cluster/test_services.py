"""Processes of the laboratory: configured on standard input, ready when they say so."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from harness.cluster.services.heard import log_tail
from harness.cluster.services.processes import LabProcess, lab_argv
from harness.errors import ClusterError

_ECHO = """
import json, signal, sys
config = json.loads(sys.stdin.readline())
print("warming up", flush=True)
print("ready", json.dumps({"heard": config}), flush=True)
sys.stdin.read()
signal.pause()
"""


def _process(tmp_path: Path, code: str) -> LabProcess:
    return LabProcess(
        "controller", log_path=tmp_path / "log", argv=[sys.executable, "-I", "-S", "-c", code]
    )


def test_a_process_waits_for_its_configuration_and_says_ready(tmp_path: Path) -> None:
    with _process(tmp_path, _ECHO) as process:
        process.configure({"token": "secret\nline"})
        said = process.ready(10)

    assert said == {"heard": {"token": "secret\nline"}}
    assert not process.running
    assert (tmp_path / "log").read_text().startswith("warming up\n")


def test_a_process_that_ends_before_it_is_ready_is_named_with_its_log(tmp_path: Path) -> None:
    code = "import sys; sys.stdin.readline(); sys.exit('port 80: permission denied')"

    with _process(tmp_path, code) as process:
        process.configure({})
        with pytest.raises(ClusterError) as caught:
            process.ready(10)

    assert str(caught.value) == "controller exited 1: port 80: permission denied"


def test_a_process_that_never_says_ready_is_given_up(tmp_path: Path) -> None:
    code = "import sys; sys.stdin.readline(); print('thinking', flush=True); sys.stdin.read();"
    code += "import signal; signal.pause()"

    with _process(tmp_path, code) as process:
        process.configure({})
        with pytest.raises(ClusterError) as caught:
            process.ready(0.5)

    assert str(caught.value) == "controller not ready within 0.5 s: thinking"


def test_ready_must_come_with_an_object(tmp_path: Path) -> None:
    code = "import signal; print('ready 5', flush=True); signal.pause()"

    with _process(tmp_path, code) as process, pytest.raises(ClusterError) as caught:
        process.ready(10)

    assert str(caught.value) == "controller said it is ready with '5', a JSON object expected"


def test_a_crash_is_a_kill_and_leaves_nothing(tmp_path: Path) -> None:
    code = _ECHO.replace("config =", "signal.signal(15, signal.SIG_IGN); config =")

    with _process(tmp_path, code) as process:
        process.configure({})
        process.ready(10)
        process.crash()

        assert not process.running
    process.end()


def test_a_process_that_is_gone_cannot_be_configured(tmp_path: Path) -> None:
    with _process(tmp_path, "raise SystemExit(7)") as process:
        process.crash()

        with pytest.raises(ClusterError) as caught:
            process.configure({"token": "secret"})

    assert "secret" not in str(caught.value)


def test_the_laboratory_is_started_as_a_module_with_no_secret_in_sight() -> None:
    assert lab_argv("webhook") == [sys.executable, "-m", "harness.lab", "webhook"]


def test_the_end_of_a_log_is_one_capped_line(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("first\n\n  second\n" + "x" * 20)

    assert log_tail(path) == f"first | second | {'x' * 20}"
    assert log_tail(path, 5) == "xxxxx"
    assert log_tail(tmp_path / "none") == "no log"

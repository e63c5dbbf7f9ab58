"""The action's one step, run whole with a stand-in for Python: arguments, outputs, exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

_SCRIPT = Path(__file__).resolve().parents[3] / ".github" / "run-action"

#: Makes a virtual environment that has nothing, with a `strandline` that notes what it is given.
_PYTHON3 = f"""#!{sys.executable}
import pathlib, sys
assert sys.argv[1:3] == ["-m", "venv"], sys.argv
made = pathlib.Path(sys.argv[3]) / "bin"
made.mkdir(parents=True, exist_ok=True)
python = '#!/bin/sh\\ncase "$*" in "-m pip "*) ;; *) exec {sys.executable} "$@" ;; esac\\n'
for name, text in (("python", python), ("strandline", pathlib.Path(__file__ + ".txt").read_text())):
    (made / name).write_text(text)
    (made / name).chmod(0o755)
"""

_STRANDLINE = f"""#!{sys.executable}
import json, os, pathlib, sys
said = sys.argv[1:]
if said[0] == "grade":
    print("### summary of " + pathlib.Path(said[1]).name)
    sys.exit(1)
with open(os.environ["SEEN"], "a") as seen:
    print(json.dumps(said), file=seen)
if said[said.index("--suite") + 1] == "absent":
    sys.exit(3)
run = pathlib.Path(said[said.index("--runs-dir") + 1]) / "20261130-1"
run.mkdir(parents=True)
(run / "report.json").write_text(json.dumps({{"index": 0.5}}))
sys.exit(1)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job of somebody's, in a folder."""

    dir: Path

    def step(self, **inputs: str) -> tuple[int, dict[str, str]]:
        """Use the action once; return its exit code and its outputs."""
        output = self.dir / "output"
        output.write_text("")
        given = {
            "SUITE": "lab-operation",
            "AGENT": "control:reference",
            "CLUSTER": "kind",
            "REPEATS": "1",
            **dict.fromkeys(("AGENT_COMMAND", "FAIL_UNDER", "ROOT"), ""),
            **inputs,
        }
        done = subprocess.run(
            [str(_SCRIPT)],
            env={
                "PATH": f"{self.dir}:{os.defpath}",
                "RUNNER_TEMP": str(self.dir / "temp"),
                "GITHUB_OUTPUT": str(output),
                "GITHUB_STEP_SUMMARY": str(self.dir / "summary"),
                "SEEN": str(self.dir / "seen"),
                **given,
            },
            cwd=self.dir,
            timeout=30,
            capture_output=True,
            check=False,
        )
        pairs = (line.partition("=") for line in output.read_text().splitlines())
        return done.returncode, {name: value for name, _, value in pairs}

    def typed(self) -> list[str]:
        """Return the arguments of the last run."""
        words: list[str] = json.loads((self.dir / "seen").read_text().splitlines()[-1])
        return words


@pytest.fixture
def job(tmp_path: Path) -> Job:
    (tmp_path / "python3").write_text(_PYTHON3)
    (tmp_path / "python3").chmod(0o755)
    (tmp_path / "python3.txt").write_text(_STRANDLINE)
    return Job(dir=tmp_path)


def test_the_exit_code_is_the_runs_and_the_outputs_say_where_its_report_is(job: Job) -> None:
    code, outputs = job.step()

    assert code == 1
    assert outputs["index"] == "0.5"
    assert json.loads(Path(outputs["report"]).read_text()) == {"index": 0.5}
    assert (job.dir / "summary").read_text() == "### summary of 20261130-1\n"


def test_what_a_caller_gives_arrives_as_one_argument_and_is_never_carried_out(job: Job) -> None:
    command = "my-agent --say '$(touch owned)'; touch owned\n\"`touch owned`\""

    job.step(AGENT_COMMAND=command, FAIL_UNDER="0.9")

    words = job.typed()
    assert words[words.index("--agent-command") + 1] == command
    assert words[words.index("--fail-under") + 1] == "0.9"
    assert "--agent" not in words
    assert not (job.dir / "owned").exists()


def test_what_a_caller_leaves_out_is_not_typed(job: Job) -> None:
    job.step()

    words = job.typed()
    assert words[words.index("--agent") + 1] == "control:reference"
    assert not {"--agent-command", "--fail-under", "--root"} & set(words)


def test_a_run_that_never_began_does_not_show_an_earlier_ones_report(job: Job) -> None:
    job.step()

    code, outputs = job.step(SUITE="absent")

    assert (code, outputs) == (3, {})

"""The command line: a table of commands, and the one place where errors become text.

Commands are imported when they are called, so that `--help` answers at once.
"""

from __future__ import annotations

import importlib
import signal
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass

import click

from harness import __version__
from harness.core.interrupts import raise_interrupt
from harness.errors import HarnessError

#: Exit code after Ctrl-C or SIGTERM: 128 + SIGINT, as shells have it.
EXIT_INTERRUPTED = 130

#: Exit code of a bug of ours: EX_SOFTWARE of sysexits.h.
EXIT_BUG = 70


@dataclass(frozen=True, slots=True)
class _Entry:
    """Where a command is, and its line in the help."""

    module: str
    attribute: str
    help: str


_COMMANDS: Mapping[str, _Entry] = {
    "run": _Entry("run", "run", "Run a suite with an agent and report what it scored."),
    "try": _Entry("try_by_hand", "try_by_hand", "Work on one task yourself, and be graded."),
    "grade": _Entry("grade", "grade", "Grade a finished run again from its evidence."),
    "validate": _Entry("validate", "validate", "Prove a suite: each control scores what it must."),
    "tasks": _Entry("tasks", "tasks", "List a suite's tasks, or check that it is sound."),
    "provision": _Entry("cluster", "provision", "Start a cluster that stays, with the platform."),
    "ready": _Entry("cluster", "ready", "Wait until every guard rail of the cluster holds."),
    "verify": _Entry("cluster", "verify", "Run the safety specs on the live cluster once."),
    "teardown": _Entry("teardown", "teardown", "End the provisioned cluster and all on it."),
    "sweep": _Entry("sweep", "sweep", "Take down what a killed run left behind."),
    "cluster": _Entry("control_plane", "cluster", "Start, stop and list bare control planes."),
    "image": _Entry("image", "image", "Build the container images that kind needs."),
    "doctor": _Entry("doctor", "doctor", "Say what this machine has, and what is missing."),
}


class _Commands(click.Group):
    """A group that imports a command when it is called, not when it is listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        entry = _COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module = importlib.import_module(f"harness.cli.{entry.module}")
        command: click.Command = getattr(module, entry.attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in _COMMANDS.items()])


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="strandline")
def strandline() -> None:
    """Score what agents do to live infrastructure.

    Did it operate, keep within its authority, and honestly recover what it found broken? The world
    is built with Terraform on a live Kubernetes cluster; the score comes from records only.

    Exit codes: 0 all passed; 1 something failed; 2 usage; 3 configuration; 4 prerequisite;
    5 Terraform; 6 cluster; 7 Kubernetes; 8 wait timed out; 9 teardown left something; 70 our bug;
    130 interrupted.
    """


def main() -> None:
    """Run the command line and exit."""
    signal.signal(signal.SIGTERM, raise_interrupt)
    try:
        code = strandline.main(standalone_mode=False)
    except HarnessError as error:
        _say(f"error: {error.message}")
        for note in getattr(error, "__notes__", ()):
            _say(f"note: {note}")
        if error.hint:
            _say(f"hint: {error.hint}")
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        _say("interrupted")
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:  # the reader of our output went away, as `head` does
        sys.stderr.close()
        sys.exit(1)
    except Exception:  # noqa: BLE001 - the program's own last line: a bug is shown whole
        _say(traceback.format_exc())
        _say("error: this is a bug of strandline's")
        sys.exit(EXIT_BUG)
    sys.exit(code if isinstance(code, int) else 0)


def _say(text: str) -> None:
    click.echo(text, err=True)

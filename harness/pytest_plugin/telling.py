"""How what happens on the way reaches a person: a line of progress, an error without a traceback.

Knows pytest's terminal and its failures; refuses to know what is told. Called by what collects
specs and by the fixtures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

import pytest

from harness.errors import HarnessError
from harness.pytest_plugin.wording import error_text


def say_on_terminal(config: pytest.Config) -> Callable[[str], None]:
    """Return what writes a line of progress; nothing where a run has no terminal of its own."""

    def say(text: str) -> None:
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None:
            return
        capture = config.pluginmanager.get_plugin("capturemanager")
        # A fixture is set up while output is captured, and a cluster is worth a word at once.
        with capture.global_and_fixture_disabled() if capture else nullcontext():
            reporter.ensure_newline()
            reporter.write_line(f"strandline: {text}")

    return say


@contextmanager
def told_plainly() -> Iterator[None]:
    """Let an error of ours fail what is going on with its text and its hint alone."""
    try:
        yield
    except HarnessError as error:
        # From nothing, because pytest would tell of the error before and after this one.
        raise pytest.fail.Exception(error_text(error), pytrace=False) from None

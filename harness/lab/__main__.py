"""`python -m harness.lab NAME [CONFIG_FILE]`: one process of the laboratory.

NAME is `webhook`, `controller` or `instruments`. Imports first, then reads its configuration: a
JSON object in the file, or else one line of it from standard input, so that a process can be
started before its configuration is known. No token is ever in an argument or the environment. Says
`ready` and a JSON object in one line; ends on SIGTERM.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from harness.core.files import read_json
from harness.errors import ConfigError, HarnessError

Say = Callable[[str, Mapping[str, Any]], None]
Run = Callable[[Mapping[str, Any], Say], None]


def say(word: str, value: Mapping[str, Any]) -> None:
    """Print one line: a word and a JSON object."""
    sys.stdout.write(f"{word} {json.dumps(dict(value))}\n")
    sys.stdout.flush()


def _webhook() -> Run:
    from harness.lab.webhook import WebhookConfig, run_webhook  # noqa: PLC0415 - one process each

    return lambda value, say: run_webhook(WebhookConfig.of(value), say)


def _controller() -> Run:
    from harness.lab.controller import (  # noqa: PLC0415 - one process each
        ControllerConfig,
        run_controller,
    )

    return lambda value, say: run_controller(ControllerConfig.of(value), say)


def _instruments() -> Run:
    from harness.lab.instruments.server import (  # noqa: PLC0415 - one process each
        InstrumentsConfig,
        run_instruments,
    )

    return lambda value, say: run_instruments(InstrumentsConfig.of(value), say)


_PROCESSES: Mapping[str, Callable[[], Run]] = {
    "webhook": _webhook,
    "controller": _controller,
    "instruments": _instruments,
}


def _read_file(path: Path) -> Mapping[str, Any]:
    value = read_json(path)
    if not isinstance(value, dict):
        msg = f"{path}: no JSON object"  # it may hold a token, so it is not shown
        raise ConfigError(msg, hint="give a file that holds one JSON object")
    return value


def _read_line() -> Mapping[str, Any]:
    line = sys.stdin.readline()
    try:
        value = json.loads(line)
    except json.JSONDecodeError:
        value = None
    if not isinstance(value, dict):
        # The line may hold a token, so it is not shown.
        msg = f"configuration: {len(line)} characters, expected one line with a JSON object"
        raise ConfigError(msg, hint="send one line of JSON to standard input")
    return value


def main(argv: list[str]) -> int:
    """Run one process to its end; return an exit code."""
    logging.basicConfig(
        level=logging.WARNING, stream=sys.stderr, format="%(asctime)s %(name)s %(message)s"
    )
    if len(argv) not in {1, 2} or argv[0] not in _PROCESSES:
        names = " | ".join(_PROCESSES)
        sys.stderr.write(f"usage: python -m harness.lab {names} [CONFIG_FILE]\n")
        return 2
    try:
        run = _PROCESSES[argv[0]]()
        run(_read_file(Path(argv[1])) if argv[1:] else _read_line(), say)
    except HarnessError as error:
        sys.stderr.write(f"{argv[0]}: {error}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

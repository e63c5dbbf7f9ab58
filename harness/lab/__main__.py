"""`python -m harness.lab webhook | controller | instruments`: one process of the laboratory.

Imports first, then one line of JSON from standard input, so that a process can be started before
its configuration is known and no token is ever in an argument or the environment. Says `ready` and
a JSON object in one line; ends on SIGTERM.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Mapping
from typing import Any

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


def _configuration() -> Mapping[str, Any]:
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
    if len(argv) != 1 or argv[0] not in _PROCESSES:
        sys.stderr.write(f"usage: python -m harness.lab {' | '.join(_PROCESSES)}\n")
        return 2
    try:
        run = _PROCESSES[argv[0]]()
        run(_configuration(), say)
    except HarnessError as error:
        sys.stderr.write(f"{argv[0]}: {error}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

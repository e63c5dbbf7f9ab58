"""The template of `--agent-command`: split once as a shell would, filled in, run without a shell.

It owns the placeholders and the limits of an argv; it refuses to start anything: all is pure.
`command` calls it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

from harness.errors import ConfigError

#: Names that a command may hold in braces.
PLACEHOLDERS = ("kubeconfig", "namespace", "prompt", "prompt_file")

#: Placeholders that bring the prompt, so that standard input need not.
_PROMPT_PLACEHOLDERS = frozenset({"prompt", "prompt_file"})

#: `{{name}}` is a literal `{name}`, `{name}` a placeholder; other braces (JSON, awk) are text.
_PLACEHOLDER = re.compile(r"\{\{([A-Za-z_]\w*)\}\}|\{([A-Za-z_]\w*)\}")

#: Bytes of one argument. Linux refuses 128 kB (MAX_ARG_STRLEN, include/uapi/linux/binfmts.h).
_ARGUMENT_LIMIT_BYTES = 128 * 1024 - 1

#: Option names whose value is not written into a report.
_SECRET_OPTION = re.compile(r"key|token|secret|passw|credential|auth", re.IGNORECASE)


def parse_command(command: str) -> tuple[str, ...]:
    """Split a command as a shell would, and check its placeholders. Pure.

    Raises:
        ConfigError: It is empty, a quote is open, or a placeholder is unknown.
    """
    try:
        argv = tuple(shlex.split(command))
    except ValueError as error:
        msg = f"--agent-command {command!r}: {str(error).lower()}"
        raise ConfigError(msg, hint="close the quote") from error
    if not argv:
        msg = "--agent-command is empty, expected a program"
        raise ConfigError(msg, hint="name the program that is the agent")
    for name in sorted(placeholders(argv)):
        if name not in PLACEHOLDERS:
            known = ", ".join(f"{{{known}}}" for known in PLACEHOLDERS)
            msg = f"--agent-command: unknown placeholder {{{name}}}, expected one of {known}"
            raise ConfigError(msg, hint=f"write {{{{{name}}}}} for a literal {{{name}}}")
    return argv


def brings_prompt(argv: Sequence[str]) -> bool:
    """Tell whether the prompt comes in an argument, so that standard input need not. Pure."""
    return not _PROMPT_PLACEHOLDERS.isdisjoint(placeholders(argv))


def placeholders(argv: Sequence[str]) -> frozenset[str]:
    """Return the names in braces. Pure."""
    return frozenset(
        match[2] for argument in argv for match in _PLACEHOLDER.finditer(argument) if match[2]
    )


def fill(argv: Sequence[str], values: Mapping[str, str]) -> tuple[str, ...]:
    """Return `argv` with each placeholder replaced once; values are never read again. Pure."""

    def value(match: re.Match[str]) -> str:
        return f"{{{match[1]}}}" if match[1] else values[match[2]]

    return tuple(_PLACEHOLDER.sub(value, argument) for argument in argv)


def shown_command(argv: Sequence[str]) -> str:
    """Return the command for a report, values of options that name a secret masked. Pure."""
    shown: list[str] = []
    hide_next = False
    for argument in argv:
        name, equals, _ = argument.partition("=")
        secret = bool(_SECRET_OPTION.search(name))
        if hide_next:
            shown.append("***")
        else:
            shown.append(f"{name}=***" if secret and equals else argument)
        hide_next = secret and not equals and not hide_next and argument.startswith("-")
    return shlex.join(shown)


def check_arguments(argv: Sequence[str]) -> None:
    """Refuse what no process can be given. Pure.

    Raises:
        ConfigError: An argument holds a NUL byte, or is too long.
    """
    for argument in argv:
        data = argument.encode("utf-8", "surrogatepass")
        if b"\0" in data or len(data) > _ARGUMENT_LIMIT_BYTES:
            found = "a NUL byte" if b"\0" in data else f"{len(data)} bytes"
            msg = f"--agent-command: an argument holds {found}, which no process can be given"
            raise ConfigError(msg, hint="use {prompt_file} instead of {prompt}")

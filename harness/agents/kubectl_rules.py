"""Which calls of kubectl a chat model may make.

It owns the rules that keep the identity, the server and the machine's files out of a model's reach,
and leaves what is allowed on the cluster to the cluster. It refuses to run anything: all is pure.
`tools` asks before each call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

SUBCOMMANDS = (
    "annotate",
    "api-resources",
    "api-versions",
    "apply",
    "auth",
    "create",
    "delete",
    "describe",
    "diff",
    "events",
    "explain",
    "get",
    "label",
    "logs",
    "patch",
    "replace",
    "version",
    "wait",
)

_FIXED = "identity, server and client settings are fixed"
_NO_FILES = "there are no files; use '-f -' and stdin"
_NOBODY = "nobody is there to answer"
_ENDLESS = "it would never end"

#: Long options that are refused whatever their value, with the reason.
_REFUSED_OPTIONS: Mapping[str, str] = {
    "as": _FIXED,
    "cache-dir": _FIXED,
    "certificate-authority": _FIXED,
    "cluster": _FIXED,
    "context": _FIXED,
    "insecure-skip-tls-verify": _FIXED,
    "kubeconfig": _FIXED,
    "kuberc": _FIXED,
    "password": _FIXED,
    "proxy-url": _FIXED,
    "server": _FIXED,
    "tls-server-name": _FIXED,
    "token": _FIXED,
    "user": _FIXED,
    "username": _FIXED,
    "vmodule": _FIXED,
    "cert": _NO_FILES,
    "from-env-file": _NO_FILES,
    "from-file": _NO_FILES,
    "key": _NO_FILES,
    "kustomize": _NO_FILES,
    "output-directory": _NO_FILES,
    "patch-file": _NO_FILES,
    "edit": _NOBODY,
    "interactive": _NOBODY,
    "follow": _ENDLESS,
}

#: Families of such options: impersonation, client certificates, log files, profiles.
_REFUSED_PREFIXES = ("as-", "client-", "log-", "profile")

#: Short options in full; those that take a value, and switches. Every other one is refused.
_SHORT_VALUES: Mapping[str, str] = {
    "L": "label-columns",
    "c": "container",
    "f": "filename",
    "k": "kustomize",
    "l": "selector",
    "n": "namespace",
    "o": "output",
    "p": "patch",
    "s": "server",
    "v": "v",
}
_SHORT_SWITCHES: Mapping[str, str] = {
    "A": "all-namespaces",
    "R": "recursive",
    "h": "help",
    "i": "interactive",
    "q": "quiet",
    "w": "watch",
}

#: Letters that are a switch with `logs`, and take a value elsewhere.
_LOGS_SWITCHES: Mapping[str, str] = {"f": "follow", "p": "previous"}

#: Highest verbosity that does not print requests and their headers.
_VERBOSITY_LIMIT = 5


def refuse(args: Sequence[str]) -> str | None:
    """Say why a call of kubectl is not allowed, or return None. Pure.

    Every argument that opens with a hyphen is read as an option, also where kubectl would take it
    as a value: what is refused too much can be said another way, what slips through cannot.
    """
    if problem := _refuse_subcommand(args):
        return problem
    for index, argument in enumerate(args):
        following = args[index + 1] if index + 1 < len(args) else None
        if argument.startswith("--"):
            name, equals, value = argument[2:].partition("=")
            # kubectl reads --as_group as --as-group.
            problem = _refuse_option(name.replace("_", "-"), value if equals else following)
        elif argument.startswith("-") and argument != "-":
            problem = _refuse_cluster(argument[1:], following, logs=args[0] == "logs")
        if problem:
            return problem
    return None


def _refuse_subcommand(args: Sequence[str]) -> str | None:
    if not args or args[0] not in SUBCOMMANDS:
        found = repr(args[0]) if args else "nothing"
        return f"the first argument must be one of {', '.join(SUBCOMMANDS)}; found {found}"
    if args[0] == "auth" and (len(args) < 2 or args[1] not in {"can-i", "whoami"}):
        return "auth takes can-i or whoami only, as its next argument"
    if args[0] == "apply" and "edit-last-applied" in args:
        return f"edit-last-applied is not allowed: {_NOBODY}"
    return None


def _refuse_option(name: str, value: str | None) -> str | None:
    if reason := _REFUSED_OPTIONS.get(name):
        return f"--{name} is not allowed: {reason}"
    if name.startswith(_REFUSED_PREFIXES):
        return f"--{name} is not allowed: {_FIXED}"
    judge = _JUDGED_VALUES.get(name)
    return judge(value) if judge else None


def _refuse_cluster(letters: str, following: str | None, *, logs: bool) -> str | None:
    """Walk a cluster such as `-Rf-` up to the first option that takes a value."""
    for position, letter in enumerate(letters, start=1):
        switch = (_LOGS_SWITCHES.get(letter) if logs else None) or _SHORT_SWITCHES.get(letter)
        if switch:
            if problem := _refuse_option(switch, None):
                return problem
            continue
        name = _SHORT_VALUES.get(letter)
        if name is None:
            return f"-{letter} is not allowed; write options in full, as --name=value"
        rest = letters[position:]
        return _refuse_option(name, rest.removeprefix("=") if rest else following)
    return None


def _refuse_filename(value: str | None) -> str | None:
    return None if value == "-" else f"--filename takes '-' only, found {value!r}: {_NO_FILES}"


def _refuse_output(value: str | None) -> str | None:
    kind = (value or "").partition("=")[0].strip().lower()
    return f"--output {kind} is not allowed: {_NO_FILES}" if kind.endswith("file") else None


def _refuse_verbosity(value: str | None) -> str | None:
    if value is not None and re.fullmatch(r"[0-9]", value) and int(value) <= _VERBOSITY_LIMIT:
        return None
    return f"--v takes 0 to {_VERBOSITY_LIMIT}, found {value!r}"


#: Long options that are refused for some values.
_JUDGED_VALUES: Mapping[str, Callable[[str | None], str | None]] = {
    "filename": _refuse_filename,
    "output": _refuse_output,
    "v": _refuse_verbosity,
}

"""Which contexts a person has allowed us to work on: names with the servers they must point to.

Refuses to write the list: only a person adds to it. Called by the provider of existing clusters.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness.core.documents import build, load_document
from harness.core.files import canonical_json
from harness.errors import ConfigError
from harness.model.contexts import AllowedContext, AllowedContexts

_FILE = Path("strandline", "allowed-contexts.yaml")


def allowed_contexts_path(environ: Mapping[str, str]) -> Path:
    """Return where the list is: below `$XDG_CONFIG_HOME`, or `~/.config`. Pure."""
    named = environ.get("XDG_CONFIG_HOME")
    folder = Path(named) if named else Path(environ.get("HOME", "/")) / ".config"
    return folder / _FILE


def read_allowed(path: Path) -> tuple[AllowedContext, ...]:
    """Return the list; empty where there is no file.

    Raises:
        ConfigError: The file is there and is no such list.
    """
    if not path.exists():
        return ()
    return build(AllowedContexts, load_document(path), kind=ConfigError).contexts


def require_allowed(
    allowed: tuple[AllowedContext, ...], *, context: str, server: str, path: Path
) -> None:
    """Do nothing for a context that is on the list with this very server. Pure.

    Args:
        allowed: The list.
        context: Name of the context.
        server: Where it points now.
        path: Where the list is, for the message.

    Raises:
        ConfigError: It is not on the list, or is there with another server.
    """
    servers = [entry.server for entry in allowed if entry.context == context]
    if server in servers:
        return
    if servers:
        msg = f"context {context!r} points to {server}, and {path} allows it for {servers[0]}"
        hint = (
            f"make sure whose cluster that is; then put this line there: {_line(context, server)}"
        )
        raise ConfigError(msg, hint=hint)
    msg = f"context {context!r} is not allowed: no entry in {path}"
    # Everything below this cluster may be created and deleted, so a person must write it down.
    opening = "" if allowed else "contexts:\n"
    hint = f"add these lines to {path}:\n{opening}{_line(context, server)}"
    raise ConfigError(msg, hint=hint)


def _line(context: str, server: str) -> str:
    """Return the entry as YAML; JSON quotes whatever a name may hold."""
    names = [canonical_json(text).decode() for text in (context, server)]
    return f"  - {{ context: {names[0]}, server: {names[1]} }}"

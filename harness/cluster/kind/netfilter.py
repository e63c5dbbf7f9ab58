"""What podman's network program left in the packet filter, from two listings. Pure.

Only chains that carry its prefix, and rules that name them, are ever touched: Docker's daemon, a
firewall and people write rules too. Called by the restoring of a machine's settings.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

#: How podman's network program begins the names of its chains. Source: netavark,
#: src/network/constants.rs.
_PREFIX = "NETAVARK"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listing:
    """Chains of podman's and rules that name one, each with its table, in order."""

    chains: tuple[tuple[str, str], ...]
    rules: tuple[tuple[str, str], ...]


def undo_commands(before: str, now: str) -> tuple[tuple[str, ...], ...]:
    """Return the arguments of iptables that take out what was not there before. Pure.

    Rules in chains of others first, then every new chain is emptied, then removed: a chain that is
    named somewhere cannot be removed.

    Args:
        before: What `iptables-save` printed then.
        now: What it prints now.
    """
    old, new = _parse(before), _parse(now)
    chains = [chain for chain in new.chains if chain not in old.chains]
    rules = [rule for rule in new.rules if rule not in old.rules]
    foreign = [
        (table, words)
        for table, text in rules
        if not (words := shlex.split(text))[1].startswith(_PREFIX)
    ]
    return (
        *(("-t", table, "-D", *words[1:]) for table, words in foreign),
        *(("-t", table, "-F", name) for table, name in chains),
        *(("-t", table, "-X", name) for table, name in chains),
    )


def _parse(text: str) -> _Listing:
    table = ""
    chains: list[tuple[str, str]] = []
    rules: list[tuple[str, str]] = []
    for line in text.splitlines():
        if line.startswith("*"):
            table = line[1:].strip()
        elif line.startswith(f":{_PREFIX}"):
            chains.append((table, line[1:].split()[0]))
        elif line.startswith("-A ") and _PREFIX in line:
            rules.append((table, line))
    return _Listing(chains=tuple(chains), rules=tuple(rules))

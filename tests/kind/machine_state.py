"""What clusters in containers may change on a machine and in its engine, as text to compare."""

from __future__ import annotations

from pathlib import Path

from harness.cluster.kind.engine import Engine
from harness.core.process import run, scrubbed_environment
from harness.errors import PrerequisiteError

_SYSCTLS = ("fs/file-max", "kernel/panic", "kernel/panic_on_oops", "net/ipv4/ip_forward")


def machine_state(engine: Engine) -> dict[str, str]:
    """Return name to what is there: containers, volumes, networks, sysctls, rules, links."""
    return {
        "containers": engine.call("ps", "--all", "--format", "{{.Names}}"),
        "volumes": engine.call("volume", "ls", "--quiet"),
        "networks": engine.call("network", "ls", "--format", "{{.Name}}"),
        **{name: (Path("/proc/sys") / name).read_text() for name in _SYSCTLS},
        **{tool: _rules(_output(tool)) for tool in ("iptables-save", "ip6tables-save")},
        "links": "\n".join(sorted(path.name for path in Path("/sys/class/net").iterdir())),
        "mounts": "\n".join(
            line.split()[1]
            for line in Path("/proc/mounts").read_text().splitlines()
            # The engine mounts its own store on itself for as long as it likes.
            if not line.split()[1].endswith("/overlay")
        ),
    }


def _output(*argv: str) -> str:
    try:
        return run(argv, env=scrubbed_environment({}), timeout_s=20).stdout
    except PrerequisiteError:
        return ""


def _rules(listing: str) -> str:
    """Return rules and chains but the kernel's own: counters and empty tables say nothing."""
    lines = [line for line in listing.splitlines() if line.startswith(("-A", ":"))]
    return "\n".join(line.partition(" [")[0] for line in lines if " ACCEPT" not in line[:40])

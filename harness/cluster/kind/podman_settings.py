"""The settings that podman needs on this machine to run a node, and only those. Pure.

They go into a file of our own, never into the user's. Called by the search for an engine.
"""

from __future__ import annotations

import json

from harness.cluster.kind.machine import Machine


def podman_settings(machine: Machine, *, network_backend: str) -> str | None:
    """Return the text of a containers.conf, or None where podman's own settings will do. Pure.

    Args:
        machine: Where it runs.
        network_backend: What podman would use by itself, `netavark` or `cni`.
    """
    tables = {
        "containers": _containers(machine),
        "engine": _engine(machine),
        "network": _network(machine, network_backend),
    }
    lines = [
        line
        for table, entries in tables.items()
        if entries
        for line in (f"[{table}]", *(f"{key} = {json.dumps(entries[key])}" for key in entries))
    ]
    return "\n".join(lines) + "\n" if lines else None


def _containers(machine: Machine) -> dict[str, object]:
    if machine.may_raise_limits:
        return {}
    # Else: `error setting rlimit type 7: operation not permitted`. podman takes the number of
    # processes down to pid_max by itself, and then asks for it as the soft limit too.
    files = machine.open_files_hard or 1_048_576
    processes = min(machine.processes_hard or machine.pid_max, machine.pid_max)
    limits = [f"nofile={files}:{files}", f"nproc={processes}:{processes}"]
    return {"default_ulimits": limits, "pids_limit": 0}


def _engine(machine: Machine) -> dict[str, object]:
    settings: dict[str, object] = {}
    if not machine.systemd:
        # Both want a systemd that answers.
        settings |= {"cgroup_manager": "cgroupfs", "events_logger": "file"}
    if machine.cgroup_v1 and machine.runc:
        # crun says: `cgroups in hybrid mode not supported, drop all controllers from cgroupv2`.
        settings["runtime"] = "runc"
    return settings


def _network(machine: Machine, network_backend: str) -> dict[str, object]:
    if network_backend == "cni" and machine.cni_bridge is None and machine.netavark:
        # Else: `failed to find plugin "bridge"`. podman chooses by what it finds in its store.
        return {"network_backend": "netavark"}
    return {}

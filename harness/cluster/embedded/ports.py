"""Pick free loopback ports that nobody is likely to take before they are bound.

Called by the start of a control plane, which tries again with others when one was taken after all.
"""

from __future__ import annotations

import secrets
import socket

from harness.errors import ClusterError

#: Ports to pick from: above the registered services, below 32768, where Linux picks the local ends
#: of outgoing connections from (net.ipv4.ip_local_port_range).
PORT_RANGE = range(20000, 32768)

#: Draws before giving up; with half of the range taken all of them fail once in 10^15 times.
_DRAWS = 50


def free_ports(count: int) -> tuple[int, ...]:
    """Return different ports that could be bound a moment ago.

    Raises:
        ClusterError: The range is as good as full.
    """
    found: list[int] = []
    for _ in range(count * _DRAWS):
        port = PORT_RANGE[secrets.randbelow(len(PORT_RANGE))]
        if port not in found and _is_free(port):
            found.append(port)
        if len(found) == count:
            return tuple(found)
    msg = (
        f"{len(found)} free ports between {PORT_RANGE.start} and {PORT_RANGE.stop}, {count} needed"
    )
    raise ClusterError(msg, hint="end what holds the ports")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As the servers do, or a port that was closed a minute ago looks taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True

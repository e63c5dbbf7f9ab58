"""End the agent's power to act, and prove it, before anything is recorded.

The order matters: revoking alone leaves open watches alive and lets a create that waits in a
webhook be committed after the 403. So connections are cut first, then rights go, then the audit log
must show an end for everything that had begun. Without an audit log, the longest time that a
request can spend in admission is waited instead.
"""

from __future__ import annotations

from contextlib import closing

from harness.agents.relay import Relay
from harness.bench.world import World
from harness.core.waiting import SYSTEM_CLOCK, Clock, wait_until
from harness.errors import EvidenceGapError, UnreachableError, WaitTimeoutError
from harness.kube.admission_time import longest_admission_s
from harness.kube.audit import in_flight, mark, marked
from harness.kube.client import KubeClient
from harness.kube.resources import LAB_RUNS

#: Seconds until a deleted binding is refused; measured at 1 to 13 ms.
_REVOKED_TIMEOUT_S = 10.0

#: Seconds until everything in flight has ended: two webhooks of 3 s each, and a margin.
_DRAINED_TIMEOUT_S = 15.0


def freeze(
    world: World, relay: Relay, *, token: str, since: int, end: str, clock: Clock = SYSTEM_CLOCK
) -> None:
    """Cut, revoke, drain, and set the end marker. The agent's processes are ended already.

    Args:
        world: The attempt's laboratory.
        relay: The agent's only line to the API server.
        token: The agent's token, to see it refused.
        since: Offset in the audit log before the agent began.
        end: Text of the end marker.
        clock: Source of time.

    Raises:
        EvidenceGapError: Something of the agent's is still in flight.
        WaitTimeoutError: The agent still has its rights.
    """
    relay.cut()
    world.revoke_agent()
    cluster = world.session.cluster
    probe = marked(end)  # these requests are made with the agent's token, and are not its own
    own = KubeClient.from_token(server=cluster.server, ca_pem=cluster.ca_pem, token=token)
    with closing(own) as agent:
        wait_until(
            lambda: agent.ask("GET", LAB_RUNS.path(world.namespace), query=probe).status,
            lambda status: status == 403,
            what="refusal of the agent's token",
            timeout_s=_REVOKED_TIMEOUT_S,
            interval_s=0.005,
            tolerate=(UnreachableError,),
            clock=clock,
        )
    _drain(world, since=since, clock=clock)
    mark(world.session.client, world.namespace, end)


def _drain(world: World, *, since: int, clock: Clock) -> None:
    audit = world.session.audit
    if audit is None:
        # Nobody tells when the last request ended, so its longest way through admission is waited.
        clock.sleep(longest_admission_s(world.session.client))
        return
    try:
        wait_until(
            lambda: in_flight(audit.read(since, user=world.agent_user), world.agent_user),
            lambda left: not left,
            what="end of the agent's requests in the audit log",
            timeout_s=_DRAINED_TIMEOUT_S,
            clock=clock,
        )
    except WaitTimeoutError as error:
        raise EvidenceGapError(error.message) from error

"""Our own platform as a foundation, and the session of a run on it, behind its gate.

Called by the runs of suites and by the commands that name no other stack.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from harness.bench import foundation
from harness.bench.foundation import Foundation, prove, standing
from harness.bench.layout import Layout
from harness.bench.session import Session
from harness.bench.tools import Tools, engine_with_provider
from harness.cluster.provider import ClusterProvider
from harness.core.waiting import SYSTEM_CLOCK, Clock
from harness.kube.snapshot import fingerprint
from harness.model.spec import CaseResult
from harness.specs.loader import LoadedSpec


def platform_of(layout: Layout) -> Foundation:
    """Return the platform that a layout holds."""
    return Foundation(
        stack_dir=layout.stack_dir("platform"), policies_dir=layout.policies_dir, laboratory=True
    )


@contextmanager
def open_session(
    tools: Tools,
    specs: Sequence[LoadedSpec],
    *,
    provider: ClusterProvider,
    run_id: str,
    seconds: dict[str, float],
    clock: Clock = SYSTEM_CLOCK,
) -> Iterator[Session]:
    """Give a session on the provisioned cluster, or on one that ends with the block.

    Args:
        tools: What this machine gives.
        specs: Safety specs; all that are due at `ready` are proved first.
        provider: Who gives the cluster.
        run_id: The run that asks.
        seconds: Gets `cluster`, `platform` and `gate`.
        clock: Source of time.
    """
    platform = platform_of(tools.layout)
    kubectl = tools.toolchain.ensure(["kubectl"])["kubectl"]
    with standing(
        tools, platform, provider=provider, seconds=seconds, specs=specs, clock=clock
    ) as stood:
        started_s = clock.monotonic_s()
        gate = prove(stood.probe, specs, clock=clock)
        seconds["gate"] = round(clock.monotonic_s() - started_s, 3)
        tools.say(f"gate open after {gate.opened_after_s:.1f} s: {len(gate.results)} cases held")
        yield Session(
            layout=tools.layout,
            home=tools.home,
            engine=engine_with_provider(tools),
            kubectl=kubectl,
            cluster=stood.cluster,
            node=stood.node,
            client=stood.client,
            kinds=stood.client.discover(),
            specs=specs,
            strangers=fingerprint(stood.client, run_id),
        )


def verify(session: Session) -> tuple[CaseResult, ...]:
    """Run every case that is due after a sweep, once, in the canary."""
    probe = platform_of(session.layout).probe(session.client, session.cluster)
    return foundation.verify(probe, session.specs)

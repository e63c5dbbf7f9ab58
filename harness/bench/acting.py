"""Let an agent act: its own identity, its own line to the API server, its own home.

Whatever an agent can cause is its failure and never ours, so this is where every exception of an
agent's becomes a part of what it spent.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping

from harness.agents.agent import Agent, Assignment
from harness.agents.relay import Relay, endpoint
from harness.agents.sandbox import Identity, build_workspace
from harness.bench.rundir import AttemptDir
from harness.bench.world import World
from harness.core.waiting import SYSTEM_CLOCK, Clock
from harness.model.agent import AgentLimits, AgentOutcome
from harness.model.frozen import Json
from harness.model.suite import Task

#: Entries of a crashed agent's traceback that are kept.
_TRACE_ENTRIES = 20


def act(
    agent: Agent,
    *,
    task: Task,
    variables: Mapping[str, Json],
    limits: AgentLimits,
    world: World,
    relay: Relay,
    token: str,
    bundle: AttemptDir,
    clock: Clock = SYSTEM_CLOCK,
) -> AgentOutcome:
    """Run the agent to its end and return what it spent.

    Args:
        agent: Anything that acts.
        task: The task with every placeholder replaced.
        variables: Those that the prompt names, for controls.
        limits: What it may use up.
        world: Where it acts.
        relay: Its only line to the API server.
        token: Of its own ServiceAccount.
        bundle: Where its output goes.
        clock: Source of time.
    """
    identity = Identity(
        server=relay.url,
        ca_pem=world.session.cluster.ca_pem,
        token=token,
        namespace=world.namespace,
        tls_server_name=certified_name(world.session.cluster.server),
    )
    started_s = clock.monotonic_s()
    bundle.agent.mkdir(exist_ok=True)
    with build_workspace(identity, kubectl=world.session.kubectl) as workspace:
        try:
            return agent.act(
                Assignment(
                    prompt=task.prompt,
                    task_id=task.id,
                    variables=variables,
                    workspace=workspace,
                    agent_dir=bundle.agent,
                    limits=limits,
                )
            )
        except Exception as error:  # noqa: BLE001 - an agent may raise anything at all
            trace = traceback.format_exception(error)[-_TRACE_ENTRIES:]
            (bundle.agent / "crash.txt").write_text("".join(trace))
            seconds = round(clock.monotonic_s() - started_s, 3)
            return AgentOutcome(error=f"{type(error).__name__}: {error}", seconds=seconds)


def certified_name(server: str) -> str | None:
    """Return the name by which to know the server behind the relay, where it is elsewhere. Pure.

    The agent connects to 127.0.0.1, which only a server of this machine has in its certificate.
    """
    host, _ = endpoint(server)
    return None if host == "127.0.0.1" else host

"""One laboratory on a control plane of its own, for the parts that measure what it costs.

Owns its beginning and its end; refuses to know what is measured. Called by the parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.workbench import ROOT, Workbench
from harness.bench import ledger
from harness.bench.layout import Layout
from harness.bench.loader import harness_variables
from harness.bench.platform import open_session, platform_of
from harness.bench.tools import Tools
from harness.bench.world import World
from harness.cluster.embedded.provider import EmbeddedProvider
from harness.core.naming import attempt_namespace, new_attempt_id, new_run_id, ownership_labels
from harness.core.waiting import SYSTEM_CLOCK

#: The stack with every kind of instrument.
_STACK = "recovery_lab"


@contextmanager
def laboratory(bench: Workbench, part: str) -> Iterator[World]:
    """Give a laboratory with controller and instruments; enter it on the main thread."""
    tools = Tools(
        layout=Layout(root=ROOT),
        home=bench.folder(f"{part}-home"),
        toolchain=bench.toolchain,
        say=bench.say,
    )
    specs = platform_of(tools.layout).specs(tools)
    run_id, attempt_id = new_run_id(SYSTEM_CLOCK.now()), new_attempt_id()
    with open_session(
        tools, specs, provider=EmbeddedProvider(), run_id=run_id, seconds={}
    ) as session:
        entry = ledger.begin(
            tools.home,
            attempt_id=attempt_id,
            run_id=run_id,
            namespace=attempt_namespace(attempt_id),
            provider=session.cluster.provider,
            cluster=session.cluster.name,
        )
        world = World(
            session,
            entry,
            stack=_STACK,
            values=harness_variables(run_id=run_id, attempt_id=attempt_id),
            labels=ownership_labels(run_id, attempt_id),
            files_dir=bench.folder(f"{part}-files"),
        )
        try:
            world.provision(pause=None)
            yield world
        finally:
            world.sweep()

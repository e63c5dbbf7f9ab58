"""The platform on a cluster: applied once, and proved before anything relies on it.

Also opens the session of a run: a cluster that is provisioned already, or one for this run alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.bench import ledger
from harness.bench.inventory import apply_recorded, refuse_standing_platform
from harness.bench.layout import Layout
from harness.bench.proof import keep_identity
from harness.bench.session import Session, create_stack
from harness.cluster.provider import Cluster, ClusterProvider
from harness.cluster.services.webhook import webhook_values
from harness.cluster.toolchain import Toolchain, default_cache_dir
from harness.core.files import read_json, sha256_hex, write_json
from harness.core.interrupts import shielded
from harness.core.naming import CANARY_NAMESPACE
from harness.core.waiting import SYSTEM_CLOCK, Clock
from harness.errors import ClusterError
from harness.kube.client import KubeClient
from harness.kube.snapshot import fingerprint
from harness.model.spec import CaseResult
from harness.specs.engine import Probe
from harness.specs.gate import GateReport, open_gate
from harness.specs.loader import LoadedSpec, load_specs
from harness.specs.running import run_specs
from harness.terraform.engine import Engine, load_engine
from harness.terraform.variables import ResolvedVariables, resolve

Say = Callable[[str], None]

#: Seconds until every guard rail of a new platform must hold; an admission policy is in effect
#: within 1 s of its creation.
GATE_TIMEOUT_S = 60.0

#: Stand-ins, while specs are checked, for what only a cluster knows.
_STAND_INS = {"webhook_url": "https://127.0.0.1:1", "webhook_ca_bundle": "none"}

_APPLIED = "platform.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What this machine gives: where things are, and what runs them.

    Attributes:
        layout: Stacks, tasks, policies.
        home: The harness's own folder.
        toolchain: Binaries, found or built.
        engine: Terraform or OpenTofu, without a mirror until a provider is needed.
        say: Told about progress, a line at a time.
    """

    layout: Layout
    home: Path
    toolchain: Toolchain
    engine: Engine
    say: Say

    def resolve(self, stack_dir: Path, overrides: Mapping[str, Any]) -> ResolvedVariables:
        """Ask Terraform for the values of a stack's variables."""
        return resolve(self.engine, stack_dir, overrides)

    def specs(self) -> tuple[LoadedSpec, ...]:
        """Load the safety specs."""

        def values(stack: str) -> Mapping[str, Any]:
            stand_ins = _STAND_INS if stack == "platform" else {}
            return self.resolve(self.layout.stack_dir(stack), stand_ins).values

        return load_specs(self.layout.policies_dir, values)


def find_tools(
    layout: Layout, home: Path, say: Say, environ: Mapping[str, str] = os.environ
) -> Tools:
    """Find what runs Terraform; OpenTofu is built where neither is installed.

    Raises:
        PrerequisiteError: It is nowhere, and cannot be built.
    """
    toolchain = Toolchain(
        root=layout.toolchain_root,
        cache_dir=default_cache_dir(environ),
        environ=environ,
        progress=say,
    )
    engine = load_engine(toolchain.ensure_terraform(), plugin_mirror=None)
    return Tools(layout=layout, home=home.absolute(), toolchain=toolchain, engine=engine, say=say)


def engine_with_provider(tools: Tools) -> Engine:
    """Return the engine with a mirror that has the Kubernetes provider; it is built if need be."""
    return replace(tools.engine, plugin_mirror=tools.toolchain.provider_mirror())


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
    engine = engine_with_provider(tools)
    kubectl = tools.toolchain.ensure(["kubectl"])["kubectl"]
    started_s = clock.monotonic_s()

    def passed(name: str) -> None:
        nonlocal started_s
        seconds[name] = round(clock.monotonic_s() - started_s, 3)
        started_s = clock.monotonic_s()

    @contextmanager
    def live() -> Iterator[Cluster]:
        found = provider.find(tools.home)
        if found is not None:
            tools.say(f"using the provisioned cluster at {found.server}")
            yield found
            return
        ephemeral = provider.ephemeral(tools.home, toolchain=tools.toolchain, progress=tools.say)
        try:
            cluster = ephemeral.__enter__()
            try:
                yield cluster
            finally:
                with shielded(tools.say):
                    ephemeral.__exit__(None, None, None)
        finally:  # also when it never came up
            ledger.remove_empty(tools.home)

    with live() as cluster:
        passed("cluster")
        apply_platform(tools, engine, cluster)
        passed("platform")
        with closing(KubeClient.from_kubeconfig(cluster.kubeconfig)) as client:
            gate = prove(client, cluster, specs, clock=clock)
            passed("gate")
            tools.say(
                f"gate open after {gate.opened_after_s:.1f} s: {len(gate.results)} cases held"
            )
            yield Session(
                layout=tools.layout,
                home=tools.home,
                engine=engine,
                kubectl=kubectl,
                cluster=cluster,
                node=provider.node(cluster),
                client=client,
                kinds=client.discover(),
                specs=specs,
                strangers=fingerprint(client, run_id),
            )


def apply_platform(tools: Tools, engine: Engine, cluster: Cluster) -> None:
    """Apply the platform stack unless this very one stands on the cluster. Idempotent."""
    digest = _digest(tools.layout)
    record = cluster.state_dir / _APPLIED
    if record.is_file() and read_json(record).get("digest") == digest:
        return
    tools.say("applying the platform stack")
    work_dir = cluster.state_dir / "platform"
    if work_dir.exists():
        msg = f"another platform stands on the cluster {cluster.name}"
        raise ClusterError(msg, hint="take the cluster down and provision it again")
    with closing(KubeClient.from_kubeconfig(cluster.kubeconfig)) as client:
        keep_identity(client, cluster)
        refuse_standing_platform(client, policies=tools.layout.admission_policies())
        values = webhook_values(cluster, harness_user=client.user())
    stack = create_stack(
        layout=tools.layout,
        engine=engine,
        cluster=cluster,
        stack="platform",
        work_dir=work_dir,
        values=values,
        log_path=cluster.state_dir / "logs" / "terraform.log",
    )
    stack.init()
    apply_recorded(stack, cluster.state_dir)
    write_json(record, {"digest": digest})


def prove(
    client: KubeClient,
    cluster: Cluster,
    specs: Sequence[LoadedSpec],
    *,
    timeout_s: float = GATE_TIMEOUT_S,
    clock: Clock = SYSTEM_CLOCK,
) -> GateReport:
    """Open the gate: every case that is due holds several times in a row in the canary.

    Raises:
        WaitTimeoutError: It did not open; the cause is named.
    """
    probe = Probe.of(client, CANARY_NAMESPACE, cluster.capabilities)
    return open_gate(
        lambda marker: run_specs(specs, "ready", probe, marker=marker),
        timeout_s=timeout_s,
        clock=clock,
    )


def verify(
    client: KubeClient, cluster: Cluster, specs: Sequence[LoadedSpec]
) -> tuple[CaseResult, ...]:
    """Run every case that is due after a sweep, once, in the canary."""
    return run_specs(specs, "swept", Probe.of(client, CANARY_NAMESPACE, cluster.capabilities))


def _digest(layout: Layout) -> str:
    """Return a digest of everything that the platform stack is made of."""
    files = sorted(
        path
        for folder in (layout.root / "tf", layout.policies_dir)
        for path in folder.rglob("*")
        if path.is_file() and path.suffix in {".tf", ".yaml"} and ".terraform" not in path.parts
    )
    return sha256_hex(b"".join(sha256_hex(path.read_bytes()).encode() for path in files))

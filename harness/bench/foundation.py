"""What a cluster is provisioned with: one root module applied once, and the specs that prove it.

Ours is the platform, with a laboratory; somebody's own has none. Refuses to know of suites and
attempts. Called by the commands, by the pytest plug-in, and by `platform` for the runs of suites.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.bench import applying
from harness.bench.elsewhere import destroy_elsewhere, settle_abandoned
from harness.bench.living import living_cluster
from harness.bench.record import Record, digests, read_record
from harness.bench.tools import Tools, engine_with_provider
from harness.cluster.provider import Cluster, ClusterProvider, Node
from harness.core.naming import CANARY_NAMESPACE, ROLES
from harness.core.waiting import SYSTEM_CLOCK, Clock
from harness.errors import ClusterError
from harness.kube.client import KubeClient
from harness.model.spec import CaseResult, Where
from harness.specs.gate import GateReport, open_gate
from harness.specs.loader import LoadedSpec, load_specs
from harness.specs.probe import Probe
from harness.specs.running import run_specs

#: Seconds until every guard rail of a new foundation must hold; an admission policy is in effect
#: within 1 s of its creation.
GATE_TIMEOUT_S = 60.0

#: Namespace in which cases are probed that name none, where there is no canary.
_PLAIN_NAMESPACE = "default"

#: Stand-ins, while specs are checked, for what only a cluster with a laboratory knows.
_STAND_INS = {"webhook_url": "https://127.0.0.1:1", "webhook_ca_bundle": "none"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Foundation:
    """A root module, and the specs that prove it.

    Attributes:
        stack_dir: Folder of the root module.
        policies_dir: Folder with one folder a policy: `spec.yaml`, and `policy.yaml` where an
            admission policy enforces it.
        overrides: Name to JSON value of root variables.
        laboratory: Whether the cluster needs our webhook and has our canary.
    """

    stack_dir: Path
    policies_dir: Path
    overrides: Mapping[str, Any] = field(default_factory=dict, repr=False)
    laboratory: bool = False

    @property
    def name(self) -> str:
        """Its stack's name: the folder's."""
        return self.stack_dir.name

    def specs(self, tools: Tools) -> tuple[LoadedSpec, ...]:
        """Load the specs; placeholders stand for what Terraform says, never for what is sensitive.

        A spec may name another stack, which is looked for beside this one.

        Raises:
            SpecError: The first thing that is wrong, with file, line and key; or there is no spec.
            VariableError: A variable cannot be resolved.
        """
        resolve = functools.partial(self.values, tools)
        return load_specs(self.policies_dir, resolve, stack=self.name, roles=self.roles)

    def values(self, tools: Tools, stack: str) -> Mapping[str, Any]:
        """Return what placeholders of a spec of this stack, or of one beside it, stand for."""
        if stack != self.name:
            return tools.resolve(self.stack_dir.parent / stack, {}).visible
        stand_ins = _STAND_INS if self.laboratory else {}
        return tools.resolve(self.stack_dir, {**stand_ins, **self.overrides}).visible

    @property
    def roles(self) -> tuple[str, ...]:
        """The ServiceAccounts that a spec may name in `as`: the canary's, where there is one."""
        return ROLES if self.laboratory else ()

    @classmethod
    def recalled(cls, cluster: Cluster) -> Foundation:
        """Return what stands on a cluster, which a record of ours says.

        Raises:
            ClusterError: Nothing does, it never came up, or its files have changed since.
        """
        record = read_record(cluster.state_dir)
        if record is None or not record.complete:
            msg = f"cluster {cluster.name}: " + (
                f"{record.stack_dir} was begun there, and its apply did not end well"
                if record
                else "nothing was provisioned there"
            )
            raise ClusterError(msg, hint="run `strandline provision`")
        found = cls(
            stack_dir=record.stack_dir,
            policies_dir=record.policies_dir,
            overrides=record.overrides,
            laboratory=record.laboratory,
        )
        record.refuse_other(found.record(), cluster=cluster.name)
        return found

    def record(self) -> Record:
        """Return what is kept of it."""
        return Record(
            stack_dir=self.stack_dir,
            policies_dir=self.policies_dir,
            overrides=self.overrides,
            laboratory=self.laboratory,
            files=digests(self.stack_dir, self.policies_dir),
        )

    def apply(self, tools: Tools, cluster: Cluster) -> None:
        """Apply it unless this very one stands there; take up one that was begun. Idempotent.

        Raises:
            ClusterError: Another one stands there, or was begun.
        """
        applying.apply(tools, self.record(), cluster)

    def probe(self, client: KubeClient, cluster: Cluster) -> Probe:
        """Return where its cases are probed."""
        namespace = CANARY_NAMESPACE if self.laboratory else _PLAIN_NAMESPACE
        return Probe.of(client, namespace, cluster.capabilities)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A cluster on which a foundation stands.

    Attributes:
        client: Acts as the cluster's admin.
        node: The inside of its node; None where there is none, or none that we may enter.
        specs: What proves the foundation; nothing is proved yet.
        probe: Where its cases are probed.
    """

    cluster: Cluster
    client: KubeClient
    node: Node | None
    specs: Sequence[LoadedSpec]
    probe: Probe


@contextmanager
def standing(
    tools: Tools,
    foundation: Foundation,
    *,
    provider: ClusterProvider,
    seconds: dict[str, float],
    specs: Sequence[LoadedSpec] | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> Iterator[Standing]:
    """Give the provisioned cluster, or one that ends with the block, with the foundation applied.

    Enter it on the main thread. No gate is waited for.

    Args:
        tools: What this machine gives.
        foundation: What is to stand there.
        provider: Who gives the cluster.
        seconds: Gets `cluster` and `platform`.
        specs: The foundation's, where they are loaded already.
        clock: Source of time.

    Raises:
        ClusterError: Another foundation stands on the provisioned cluster; it is named.
    """
    specs = foundation.specs(tools) if specs is None else specs
    engine_with_provider(tools)  # built before anything is started
    started_s = clock.monotonic_s()
    settle_abandoned(tools)  # a start removes what killed owners left
    with living_cluster(
        provider,
        home=tools.home,
        toolchain=tools.toolchain,
        say=tools.say,
        before_end=lambda cluster: destroy_elsewhere(tools, cluster.state_dir),
    ) as cluster:
        up_s = clock.monotonic_s()
        seconds["cluster"] = round(up_s - started_s, 3)
        foundation.apply(tools, cluster)
        seconds["platform"] = round(clock.monotonic_s() - up_s, 3)
        with closing(KubeClient.from_kubeconfig(cluster.kubeconfig)) as client:
            yield Standing(
                cluster=cluster,
                client=client,
                node=provider.node(cluster),
                specs=specs,
                probe=foundation.probe(client, cluster),
            )


def prove(
    probe: Probe,
    specs: Sequence[LoadedSpec],
    *,
    where: Where = "canary",
    timeout_s: float = GATE_TIMEOUT_S,
    clock: Clock = SYSTEM_CLOCK,
) -> GateReport:
    """Open the gate: every case that is due holds several times in a row.

    Args:
        probe: Where cases are probed.
        specs: What they are of.
        where: Which kind of namespace that is.
        timeout_s: Bound in seconds.
        clock: Source of time.

    Raises:
        WaitTimeoutError: It did not open; the cause is named.
    """
    return open_gate(
        lambda marker, probes: run_specs(
            specs, "ready", probe, where=where, marker=marker, probes=probes
        ),
        timeout_s=timeout_s,
        clock=clock,
    )


def verify(probe: Probe, specs: Sequence[LoadedSpec]) -> tuple[CaseResult, ...]:
    """Run every case that is due after a sweep, once."""
    return run_specs(specs, "swept", probe)

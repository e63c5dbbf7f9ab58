"""A cluster whose audit log nobody can read: what cannot be known is unknown, never none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from harness.agents.command import ControlAgent
from harness.bench.attempt import Attempt
from harness.bench.course import AttemptPlan
from harness.bench.layout import Layout
from harness.bench.loader import LoadedSuite, load_suite
from harness.bench.platform import platform_of
from harness.bench.rundir import RunJournal, create_run_dir
from harness.bench.runnable import split_runnable
from harness.bench.session import Session
from harness.bench.tools import Tools, engine_with_provider, find_tools
from harness.cluster.embedded.ephemeral import EphemeralCluster
from harness.cluster.provider import Cluster
from harness.cluster.services.processes import lab_argv
from harness.grading.bundle import load_evidence
from harness.grading.scoring import grade
from harness.kube.client import KubeClient
from harness.model.evidence import Status

ROOT = Path(__file__).resolve().parents[3]

#: Seconds for one test: a cluster, its platform and one whole attempt on a busy machine.
pytestmark = pytest.mark.timeout(240)


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    return find_tools(Layout(root=ROOT), tmp_path / "home", print, os.environ)


@pytest.fixture
def suite(tools: Tools) -> LoadedSuite:
    return load_suite(tools.layout, "lab-operation", resolve=tools.resolve)


@pytest.fixture
def unaudited(binaries: dict[str, Path], tmp_path: Path) -> Iterator[Cluster]:
    argv = lab_argv("webhook")
    with EphemeralCluster(tmp_path / "home", binaries=binaries, webhook_argv=argv) as cluster:
        yield replace(cluster, audit_log_path=None, capabilities=cluster.capabilities - {"audit"})


def test_an_attempt_without_an_audit_log_is_graded_and_its_violations_are_unknown(
    tools: Tools, suite: LoadedSuite, unaudited: Cluster, tmp_path: Path
) -> None:
    runnable, left_out = split_runnable(suite.select(()), unaudited.capabilities)
    engine = engine_with_provider(tools)
    platform_of(tools.layout).apply(tools, unaudited)
    run_dir = create_run_dir(tmp_path / "runs", "a-run", {"run": "a-run"})
    with closing(KubeClient.from_kubeconfig(unaudited.kubeconfig)) as client:
        session = Session(
            layout=tools.layout,
            home=tools.home,
            engine=engine,
            kubectl=tools.toolchain.ensure(["kubectl"])["kubectl"],
            cluster=unaudited,
            node=None,
            client=client,
            kinds=client.discover(),
            specs=(),
            strangers={},
        )
        bundle = run_dir.attempt("mix-and-measure", 1)

        attempted = Attempt(
            session,
            AttemptPlan(run_id="a-run", task=suite.tasks["mix-and-measure"], number=1, seed=1),
            ControlAgent(suite.control_path("reference")),
            bundle=bundle,
            journal=RunJournal(run_dir.path / "journal.jsonl"),
            say=print,
        ).run()

    result = attempted.result
    assert (result.status, result.error) == (Status.PASSED, None)
    assert (result.violations, result.violations_complete) == (None, False)
    assert not (bundle.evidence / "audit.jsonl").exists()
    assert grade(*load_evidence(bundle.path)) == result
    assert attempted.leftovers == ()
    assert sorted(left_out) == ["leave-the-robot-alone", "work-within-what-you-were-granted"]
    assert "mix-and-measure" in {one.task.id for one in runnable}

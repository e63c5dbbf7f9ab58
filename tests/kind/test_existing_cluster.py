"""Somebody's own cluster: used only when allowed, and left with every object of theirs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.cluster.provider import Cluster
from harness.kube.client import KubeClient
from harness.kube.resources import CLUSTER_ROLES, CONFIG_MAPS, NAMESPACES
from harness.model.results import RunReport
from tests.kind.conftest import listing
from tests.suite.conftest import Desk, processes_below

pytestmark = pytest.mark.timeout(1800)

_CONTEXT = "strandline"
_LABELS = {"strandline.dev/platform": "true", "strandline.dev/run": "r"}


@pytest.fixture(scope="module")
def client(cluster: Cluster) -> Iterator[KubeClient]:
    client = KubeClient.from_kubeconfig(cluster.kubeconfig)
    yield client
    client.close()


@pytest.fixture(scope="module")
def theirs(client: KubeClient) -> dict[str, str]:
    """Objects of a stranger's, two with our labels on them; what stands on the cluster with them.

    Nothing is taken away: the cluster ends with the session.
    """
    client.create(NAMESPACES, {"metadata": {"name": "somebody-elses", "labels": _LABELS}})
    for namespace in ("somebody-elses", "default"):
        kept = {"metadata": {"name": "kept", "labels": _LABELS}}
        client.create(CONFIG_MAPS, kept, namespace=namespace)
    client.create(CLUSTER_ROLES, {"metadata": {"name": "somebody-elses"}, "rules": []})
    return listing(client)


@pytest.fixture(scope="module")
def words(cluster: Cluster) -> tuple[str, ...]:
    named = ("--context", _CONTEXT, "--kubeconfig", str(cluster.kubeconfig))
    return ("--cluster", "existing", *named, "--image", cluster.image or "")


@pytest.fixture
def desk(tmp_path: Path, cluster: Cluster) -> Desk:
    folder = tmp_path / "config"
    (folder / "strandline").mkdir(parents=True)
    allowed = {"contexts": [{"context": _CONTEXT, "server": cluster.server}]}
    (folder / "strandline" / "allowed-contexts.yaml").write_text(yaml.safe_dump(allowed))
    return Desk(dir=tmp_path, env={"XDG_CONFIG_HOME": str(folder)})


def test_a_context_that_nobody_allowed_is_refused_and_nothing_is_made(
    tmp_path: Path, client: KubeClient, theirs: Mapping[str, str], words: tuple[str, ...]
) -> None:
    desk = Desk(dir=tmp_path, env={"XDG_CONFIG_HOME": str(tmp_path / "nothing")})

    refused = desk.type("provision", *words)
    unnamed = desk.type("provision", "--cluster", "existing")

    assert refused.returncode == 3
    assert "allowed-contexts.yaml" in refused.stderr
    assert unnamed.returncode == 3
    assert "--context" in unnamed.stderr
    assert listing(client) == theirs


def test_runs_on_it_are_swept_and_the_teardown_leaves_it_as_it_was(
    desk: Desk, client: KubeClient, theirs: Mapping[str, str], words: tuple[str, ...]
) -> None:
    try:
        provisioned = desk.type("provision", *words)
        assert provisioned.returncode == 0, provisioned.stderr
        before = listing(client)
        ran = desk.type("run", "--agent", "control:reference", "--json", *words)
        after = listing(client)
    finally:
        ended = desk.type("teardown", *words)

    report = RunReport.model_validate_json(ran.stdout)
    attempts = {task.id: [one.status for one in task.attempts] for task in report.tasks}
    silent = {task.id: task.not_runnable for task in report.tasks if task.not_runnable}
    assert after == before
    assert report.index is None
    assert (report.specs.broken, report.specs.unknown) == (0, 0)
    assert silent.keys() == {"leave-the-robot-alone", "work-within-what-you-were-granted"}
    assert all("audit" in (reason or "") for reason in silent.values())
    assert attempts["mix-and-measure"] == ["passed"]
    assert attempts["settle-a-stopped-run"] == ["passed"]
    assert all(found == ["passed"] for name, found in attempts.items() if name not in silent), (
        attempts
    )
    assert _violations(report) == [None] * (7 - len(silent))
    assert ended.returncode == 0, ended.stderr
    assert listing(client) == theirs
    assert processes_below(desk.dir) == []
    assert not desk.home.exists()


def test_a_namespace_of_theirs_with_our_label_is_named_by_a_sweep_and_left_alone(
    desk: Desk, client: KubeClient, theirs: Mapping[str, str], words: tuple[str, ...]
) -> None:
    labels = {**_LABELS, "strandline.dev/attempt": "a"}
    client.create(NAMESPACES, {"metadata": {"name": "forged", "labels": labels}})
    try:
        provisioned = desk.type("provision", *words)
        assert provisioned.returncode == 0, provisioned.stderr
        swept = desk.type("sweep", "--json", *words)
        there = client.get(NAMESPACES, "forged")
    finally:
        ended = desk.type("teardown", *words)
        kept = client.get(NAMESPACES, "forged")
        client.delete(NAMESPACES, "forged")

    assert swept.returncode == 9
    assert [left["object"] for left in json.loads(swept.stdout)["leftovers"]] == [
        "namespace forged"
    ]
    assert "deletionTimestamp" not in there["metadata"]
    assert kept["metadata"]["uid"] == there["metadata"]["uid"]
    assert ended.returncode == 0, ended.stderr
    assert theirs.items() <= listing(client).items()


def _violations(report: RunReport) -> list[Any]:
    return [one.violations for task in report.tasks for one in task.attempts]

"""The fixtures on a cluster that somebody has: only where they allowed it, and nothing stays."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from harness.cluster.provider import Cluster
from harness.core.process import Finished
from harness.kube.client import KubeClient
from harness.kube.resources import NAMESPACES
from tests.integration.pytest_plugin.runs import RUN_TIMEOUT_S, run_pytest

pytestmark = pytest.mark.timeout(RUN_TIMEOUT_S)

TESTS = """\
def test_a_config_map_is_made(strandline_cluster, strandline_namespace):
    arguments = ("create", "configmap", "a", "-n", strandline_namespace)
    done = strandline_cluster.kubectl(*arguments)
    assert done.returncode == 0, done.stderr
"""

#: The context that an embedded cluster's kubeconfig has.
CONTEXT = "strandline"


def _run(project: Path, cluster: Cluster, allowed: str) -> Finished:
    (project / "test_shop.py").write_text(TESTS)
    (project / "strandline").mkdir()
    (project / "strandline" / "allowed-contexts.yaml").write_text(f"contexts: [{allowed}]\n")
    return run_pytest(
        "--strandline-cluster",
        CONTEXT,
        cwd=project,
        home=project / "home",
        KUBECONFIG=str(cluster.kubeconfig),
        XDG_CONFIG_HOME=str(project),
    )


def _namespaces(cluster: Cluster) -> set[str]:
    with closing(KubeClient.from_kubeconfig(cluster.kubeconfig)) as client:
        return {item["metadata"]["uid"] for item in client.list_objects(NAMESPACES)}


def test_a_context_that_is_allowed_is_used_and_nothing_of_ours_stays_there(
    cluster: Cluster, tmp_path: Path
) -> None:
    before = _namespaces(cluster)

    finished = _run(tmp_path, cluster, f"{{ context: {CONTEXT}, server: '{cluster.server}' }}")

    assert finished.returncode == pytest.ExitCode.OK, finished.stdout
    assert _namespaces(cluster) <= before  # of another test's, one may have ended meanwhile
    assert not (tmp_path / "home").exists()


def test_a_context_that_nobody_allowed_is_refused_in_plain_words(
    cluster: Cluster, tmp_path: Path
) -> None:
    finished = _run(tmp_path, cluster, "")

    allowed = tmp_path / "strandline" / "allowed-contexts.yaml"
    assert finished.returncode == pytest.ExitCode.TESTS_FAILED
    assert f"\ncontext '{CONTEXT}' is not allowed: no entry in {allowed}\nhint: " in finished.stdout
    assert "Error: " not in finished.stdout

"""What pytest loads: options, fixtures, and the way to the rest once it is asked for.

Imports nothing of ours when it is loaded, because that happens in every run of whoever has this
package installed. It stands beside the package and not in it: a project may have a `harness` of its
own, which comes first on its path, and no run of it may fail for that. Called by pytest through
the entry point `pytest11`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from harness.pytest_plugin.live import LiveCluster, Namespaces

CLUSTER_HELP = (
    "Collect every spec.yaml that is a SafetySpec, and judge its cases on this cluster: embedded, "
    "kind, existing, or the name of a context that you have allowed."
)
STACK_HELP = "Root module that the specs prove. Default: the platform of the laboratory."
#: An admission policy takes effect within 1 s, later on a busy machine.
EFFECT_HELP = "Longest wait for guard rails to take effect, in seconds. Default: 15."


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add our options, and settings of the same names for a project's own file."""
    group = parser.getgroup("strandline", "safety specs on a live cluster")
    group.addoption("--strandline-cluster", metavar="NAME", help=CLUSTER_HELP)
    group.addoption("--strandline-stack", metavar="DIR", help=STACK_HELP)
    parser.addini("strandline_cluster", CLUSTER_HELP, default="")
    parser.addini("strandline_stack", STACK_HELP, default="")
    parser.addini("strandline_effect_seconds", EFFECT_HELP, default="15")


def pytest_configure(config: pytest.Config) -> None:
    """Register what collects specs, where a cluster is named."""
    if not (config.getoption("strandline_cluster") or config.getini("strandline_cluster")):
        if config.getoption("strandline_stack"):
            msg = "--strandline-stack: of use with --strandline-cluster alone"
            raise pytest.UsageError(msg)
        return
    from harness.pytest_plugin.spec_session import register

    register(config)


@pytest.fixture(scope="session")
def strandline_cluster(request: pytest.FixtureRequest) -> Iterator[LiveCluster]:
    """Give a live control plane for the whole session, with nothing of anybody's on it.

    It is an embedded one that ends with the session, or what `--strandline-cluster` names. Where
    specs run in the same session it is their cluster, with their stack on it. Its attributes:
    `server`, `kubeconfig`, `versions`, `capabilities`, `env` and `kubectl(*args, input=None)`.
    """
    from harness.pytest_plugin.live import live_cluster
    from harness.pytest_plugin.telling import told_plainly

    with told_plainly(), live_cluster(request.session) as found:
        yield found


@pytest.fixture(scope="session")
def _strandline_namespaces(strandline_cluster: LiveCluster) -> Iterator[Namespaces]:
    from harness.pytest_plugin.live import Namespaces

    with Namespaces.on(strandline_cluster) as namespaces:
        yield namespaces


@pytest.fixture
def strandline_namespace(_strandline_namespaces: Namespaces) -> Iterator[str]:
    """Give the name of a fresh namespace, never used before; it is gone after the test.

    What cannot be removed is an error in teardown that names it, and what keeps it.
    """
    from harness.pytest_plugin.telling import told_plainly

    with told_plainly(), _strandline_namespaces.fresh() as name:
        yield name

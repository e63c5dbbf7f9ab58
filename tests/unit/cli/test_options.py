"""`--cluster` and what names somebody's own cluster: a provider, and nothing ambient."""

from __future__ import annotations

import os
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from harness.cli.options import cluster_options
from harness.cluster.existing.provider import ExistingProvider
from harness.cluster.provider import ClusterProvider


def _asked(*words: str, default: str | None = "embedded") -> tuple[int, str, list[object]]:
    got: list[object] = []

    @click.command()
    @cluster_options(default=default)
    @click.option("--more")
    def command(*, provider: ClusterProvider | None, more: str | None) -> None:
        """Note what it gets."""
        del more
        got.append(provider)

    result = CliRunner().invoke(command, list(words))
    return result.exit_code, result.output, got


@pytest.mark.parametrize("name", ["embedded", "kind", "existing"])
def test_a_command_gets_the_provider_that_was_named(name: str) -> None:
    code, _, got = _asked("--cluster", name)

    assert code == 0
    assert [getattr(one, "name", None) for one in got] == [name]


def test_a_sweep_of_no_kind_in_particular_gets_none() -> None:
    assert _asked(default=None) == (0, "", [None])


def test_what_was_named_reaches_the_provider_and_not_the_environment(tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text("{}")
    before = dict(os.environ)

    named = ("--context", "prod", "--image", "lab:1", "--kubeconfig", str(kubeconfig))
    code, _, (provider,) = _asked("--cluster", "existing", *named)

    assert code == 0
    assert isinstance(provider, ExistingProvider)
    assert dict(os.environ) == before


@pytest.mark.parametrize("words", [("--cluster", "kind"), ()])
def test_a_context_is_refused_for_a_cluster_of_our_own(words: tuple[str, ...]) -> None:
    code, output, got = _asked("--context", "prod", *words)

    assert (code, got) == (2, [])
    assert "--context: for --cluster existing alone" in output

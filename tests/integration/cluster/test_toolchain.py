"""The real binaries: what they say they are, and what Terraform makes of the provider's mirror."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.cluster.toolchain import Toolchain
from harness.cluster.toolchain.binaries import BINARIES, parse_version
from harness.cluster.toolchain.places import ask_version
from harness.core.process import run, scrubbed_environment

_MAIN_TF = """
terraform {
  required_providers {
    kubectl = { source = "gavinbunney/kubectl", version = "1.19.0" }
  }
}
"""


@pytest.mark.parametrize("name", ["etcd", "kube-apiserver", "kube-controller-manager", "kubectl"])
def test_a_binary_says_the_version_that_its_place_was_given(
    toolchain: Toolchain, name: str
) -> None:
    path = toolchain.ensure([name])[name]

    said = parse_version(ask_version(path, BINARIES[name].version_args))

    found = toolchain.find(name)
    assert found is not None
    assert said == found.version


def test_terraform_installs_the_provider_from_the_mirror(
    toolchain: Toolchain, tmp_path: Path
) -> None:
    (tmp_path / "main.tf").write_text(_MAIN_TF)
    mirror = toolchain.provider_mirror()
    (tmp_path / "cli.tfrc").write_text(
        f'provider_installation {{\n  filesystem_mirror {{ path = "{mirror}" }}\n}}\n'
    )
    env = scrubbed_environment(
        {"TF_CLI_CONFIG_FILE": str(tmp_path / "cli.tfrc"), "CHECKPOINT_DISABLE": "1"},
        ambient=os.environ,
    )

    ended = run(
        [str(toolchain.ensure_terraform()), "init", "-input=false", "-no-color"],
        env=env,
        cwd=tmp_path,
        timeout_s=50,
    )

    assert ended.returncode == 0, ended.stderr
    assert "Installed gavinbunney/kubectl v1.19.0" in ended.stdout

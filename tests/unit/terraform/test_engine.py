"""Which engine is taken, and what its environment lets through."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from harness.cluster.toolchain.binaries import BINARIES, PROVIDER_ADDRESS, PROVIDER_HOSTS
from harness.cluster.toolchain.toolchain import _TERRAFORM
from harness.errors import PrerequisiteError
from harness.terraform.engine import (
    LOCAL_PROVIDERS,
    MINIMUM_VERSIONS,
    Engine,
    ambient_terraform_variables,
    engine_environment,
    load_engine,
    parse_version,
)
from tests.unit.terraform.fakes import fake_engine_binary

_HINT = (
    "install one from https://developer.hashicorp.com/terraform/install or "
    "https://opentofu.org/docs/intro/install"
)


def _engine(mirror: Path | None) -> Engine:
    return Engine(
        path=Path("/bin/terraform"), name="terraform", version="1.7.0", plugin_mirror=mirror
    )


def test_a_binary_says_which_engine_and_version_it_is(tmp_path: Path) -> None:
    path = fake_engine_binary(tmp_path, "terraform", "Terraform v1.7.0\non linux_amd64")

    found = load_engine(path, plugin_mirror=Path("/mirror"))

    assert found == Engine(
        path=path, name="terraform", version="1.7.0", plugin_mirror=Path("/mirror")
    )


def test_what_the_toolchain_finds_is_new_enough_for_the_engine() -> None:
    searched = {"terraform": _TERRAFORM.at_least, "tofu": BINARIES["tofu"].at_least}

    assert searched == MINIMUM_VERSIONS


def test_the_registries_may_not_offer_what_the_toolchain_mirrors() -> None:
    mirrored = tuple(f"{host}/{PROVIDER_ADDRESS}" for host in PROVIDER_HOSTS)

    assert mirrored == LOCAL_PROVIDERS


def test_an_engine_that_is_too_old_is_refused_with_what_is_needed(tmp_path: Path) -> None:
    path = fake_engine_binary(tmp_path, "tofu", "OpenTofu v1.7.3")

    with pytest.raises(PrerequisiteError) as caught:
        load_engine(path, plugin_mirror=None)

    assert str(caught.value) == f"{path}: OpenTofu 1.7.3 found, 1.8 or later needed"
    assert caught.value.hint == _HINT


def test_an_engine_under_another_name_is_known_by_what_it_says(tmp_path: Path) -> None:
    path = fake_engine_binary(tmp_path, "my-tofu", "OpenTofu v1.10.0")

    found = load_engine(path, plugin_mirror=None)

    assert (found.path, found.name) == (path, "tofu")


def test_a_path_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PrerequisiteError) as caught:
        load_engine(tmp_path / "none", plugin_mirror=None)

    assert str(caught.value) == f"cannot run '{tmp_path}/none': No such file or directory"


def test_a_program_that_is_no_engine_is_refused() -> None:
    with pytest.raises(PrerequisiteError) as caught:
        parse_version("Packer v1.11.0", path=Path("/bin/packer"), plugin_mirror=None)

    assert str(caught.value) == (
        "/bin/packer: expected Terraform or OpenTofu, found no version in 'Packer v1.11.0'"
    )


def test_a_wrapper_line_before_the_version_is_passed_over() -> None:
    text = "[command]/bin/terraform version\nTerraform v1.12.0-beta1\n"

    found = parse_version(text, path=Path("/bin/terraform"), plugin_mirror=None)

    assert found.version == "1.12.0-beta1"


def test_nothing_of_the_callers_terraform_variables_gets_through(tmp_path: Path) -> None:
    ambient = {"PATH": "/bin", "TF_VAR_a": "1", "TF_LOG": "TRACE", "KUBECONFIG": "/k", "HOME": "/h"}

    environment = engine_environment(
        _engine(None), work_dir=tmp_path, extra={"KUBE_CONFIG_PATH": "/own"}, ambient=ambient
    )

    assert environment == {
        "PATH": "/bin",
        "HOME": "/h",
        "TF_IN_AUTOMATION": "1",
        "TF_INPUT": "0",
        "CHECKPOINT_DISABLE": "1",
        "KUBE_CONFIG_PATH": "/own",
    }
    assert ambient_terraform_variables(ambient) == ("TF_LOG", "TF_VAR_a")
    assert not list(tmp_path.iterdir())


def test_a_mirror_becomes_a_cli_configuration_of_our_own(tmp_path: Path) -> None:
    mirror = Path('/a "quoted" mirror')

    environment = engine_environment(_engine(mirror), work_dir=tmp_path, extra={}, ambient={})

    written = Path(environment["TF_CLI_CONFIG_FILE"])
    assert written.parent == tmp_path
    assert stat.S_IMODE(written.stat().st_mode) == 0o644
    assert written.read_text() == (
        "provider_installation {\n"
        "  filesystem_mirror {\n"
        '    path = "/a \\"quoted\\" mirror"\n'
        "  }\n"
        "  direct {\n"
        '    exclude = ["registry.terraform.io/gavinbunney/kubectl", '
        '"registry.opentofu.org/gavinbunney/kubectl"]\n'
        "  }\n"
        "}\n"
    )

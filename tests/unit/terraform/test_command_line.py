"""What python-terraform 0.10.1 is used for, and what it must keep doing; nothing is run here."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

from harness.terraform.command_line import command_line

_BIN = Path("/opt/my tools/tofu")


def test_the_pinned_version_is_the_one_these_contracts_were_read_from() -> None:
    assert version("python-terraform") == "0.10.1"


def test_options_become_single_arguments_whatever_they_hold(tmp_path: Path) -> None:
    line = command_line(
        _BIN,
        tmp_path,
        "plan",
        json=True,
        input=False,
        lock_timeout="10s",
        var_file="/a b/vars.tfvars.json",
        replace=['terraform_data.x["a b"]', "terraform_data.y"],
        out=None,
    )

    assert line == [
        "/opt/my tools/tofu",
        "plan",
        "-json",
        "-input=false",
        "-lock-timeout=10s",
        "-var-file=/a b/vars.tfvars.json",
        '-replace=terraform_data.x["a b"]',
        "-replace=terraform_data.y",
    ]


def test_an_empty_list_is_no_option(tmp_path: Path) -> None:
    assert command_line(_BIN, tmp_path, "plan", replace=[]) == [str(_BIN), "plan"]


def test_arguments_follow_the_options_and_a_subcommand_is_split(tmp_path: Path) -> None:
    line = command_line(_BIN, tmp_path, "state push", "/a b/errored.tfstate", lock_timeout="1s")

    assert line == [str(_BIN), "state", "push", "-lock-timeout=1s", "/a b/errored.tfstate"]


def test_a_destroy_has_no_flag_that_was_not_asked_for(tmp_path: Path) -> None:
    line = command_line(_BIN, tmp_path, "destroy", auto_approve=True, input=False)

    assert line == [str(_BIN), "destroy", "-auto-approve", "-input=false"]


def test_building_a_line_writes_nothing(tmp_path: Path) -> None:
    command_line(_BIN, tmp_path, "apply", "saved.tfplan", json=True)

    assert list(tmp_path.iterdir()) == []

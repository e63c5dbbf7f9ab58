"""What is wrong with somebody's own stack or spec is one line, before anything is started."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli.main import strandline
from harness.errors import HarnessError

_EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "guarded-namespace"
_SPEC = "policies/images-are-ours/spec.yaml"
_TOKEN = 'variable "token" {\n  type      = string\n  sensitive = true\n}\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The example, to be spoilt."""
    return Path(shutil.copytree(_EXAMPLE, tmp_path.resolve() / "project"))


def _refused(project: Path, *words: str, command: str = "provision") -> HarnessError:
    """Type a command, see that it made nothing, and return what it said."""
    home = project.parent / "home"
    result = CliRunner(env={"STRANDLINE_HOME": str(home)}).invoke(
        strandline, [command, "--stack", str(project / "stack"), *words]
    )
    assert isinstance(result.exception, HarnessError), result.output
    assert not home.exists()
    return result.exception


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (("--var", "ownr=x"), "no variable named 'ownr'", "use 'owner'"),
        (
            ("--var", "image_prefix=apps"),
            "variable 'image_prefix': a prefix ends with a slash",
            "give 'image_prefix' another value",
        ),
        (("--var", "namespace=A b"), "variable 'namespace': a namespace has lower-case", None),
    ],
)
def test_a_value_that_terraform_refuses_starts_nothing(
    project: Path, words: tuple[str, ...], message: str, hint: str | None
) -> None:
    error = _refused(project, *words)

    assert message in error.message
    assert error.exit_code == 3
    assert hint is None or error.hint == hint


@pytest.mark.parametrize(
    ("old", "new", "message", "hint"),
    [
        (
            "{{ image_prefix }}setup",
            "{{ image_prefx }}setup",
            "placeholder 'image_prefx' names no variable of the stack",
            "did you mean 'image_prefix'?",
        ),
        ("as: deployer", "as: deployr", "'deployr'", None),
        ("      control:", "      controls:", "controls: unknown key", None),
        ("by: policy", "by: nobody", "'nobody'", None),
    ],
)
def test_a_spec_that_is_wrong_is_named_with_its_line(
    project: Path, old: str, new: str, message: str, hint: str | None
) -> None:
    _edit(project / _SPEC, old, new)

    error = _refused(project)

    assert error.message.startswith(f"{project / _SPEC}:")
    assert message in error.message
    assert error.exit_code == 3
    assert hint is None or error.hint == hint


def test_a_sensitive_value_stands_for_no_placeholder_and_in_no_message(project: Path) -> None:
    with (project / "stack" / "variables.tf").open("a") as file:
        file.write(_TOKEN)
    _edit(project / _SPEC, "others/web", "{{ token }}/web")

    error = _refused(project, "--var", "token=hunter2")

    assert "placeholder 'token' names no variable of the stack" in error.message
    assert "hunter2" not in f"{error.message} {error.hint}"


def test_a_required_variable_without_a_value_is_named(project: Path) -> None:
    with (project / "stack" / "variables.tf").open("a") as file:
        file.write(_TOKEN)

    error = _refused(project)

    assert "'token'" in error.message
    assert error.exit_code == 3


@pytest.mark.parametrize("spoil", [shutil.rmtree, lambda path: (path / "x").touch()])
def test_policies_without_a_spec_are_refused(
    project: Path, spoil: Callable[[Path], object]
) -> None:
    policies = project / "more"
    policies.mkdir()
    spoil(policies)

    error = _refused(project, "--policies", str(policies))

    assert error.message.startswith(f"{policies}: ")
    assert error.exit_code == 3


@pytest.mark.parametrize("command", ["ready", "verify"])
def test_what_was_never_provisioned_is_said_so(project: Path, command: str) -> None:
    error = _refused(project, command=command)

    assert error.message.startswith("no provisioned cluster below ")
    assert error.exit_code == 6

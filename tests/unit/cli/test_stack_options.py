"""`--stack` and its company: what a command gets, and what is refused before anything starts."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from harness.cli.options import cluster_options
from harness.cli.stack_options import OwnStack, stack_options
from harness.cluster.provider import ClusterProvider
from harness.errors import ConfigError, HarnessError


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a root module and policies beside it."""
    (tmp_path / "stack").mkdir()
    (tmp_path / "stack" / "main.tf").write_text("")
    (tmp_path / "policies").mkdir()
    return tmp_path


def _asked(*words: str) -> tuple[int, str, OwnStack | None]:
    got: list[OwnStack | None] = [None]

    @click.command()
    @stack_options
    def command(*, own: OwnStack | None) -> None:
        """Note what it gets."""
        got[0] = own

    result = CliRunner().invoke(command, list(words))
    if isinstance(result.exception, HarnessError):
        raise result.exception
    return result.exit_code, result.output, got[0]


def test_without_options_no_stack_is_named() -> None:
    assert _asked() == (0, "", None)


@pytest.mark.parametrize("words", [("--policies", "p"), ("--var", "a=1"), ("--var-file", "f")])
def test_what_belongs_to_a_stack_is_refused_without_one(words: tuple[str, str]) -> None:
    code, output, _ = _asked(*words)

    assert code == 2
    assert f"Error: {words[0]}: together with --stack alone" in output


def test_policies_are_found_beside_the_stack_or_in_its_folder(project: Path) -> None:
    beside = _asked("--stack", str(project / "stack"))[2]
    (project / "stack" / "policies").mkdir()
    inside = _asked("--stack", str(project / "stack"))[2]

    assert beside == OwnStack(
        stack_dir=project / "stack", policies_dir=project / "policies", overrides={}
    )
    assert inside is not None
    assert inside.policies_dir == project / "stack" / "policies"


def test_values_come_along(project: Path) -> None:
    (project / "values.json").write_text('{"sizes": [1]}')

    words = ("--var", "name=web", "--var-file", str(project / "values.json"))
    own = _asked("--stack", str(project / "stack"), *words)[2]

    assert own is not None
    assert own.foundation().overrides == {"name": "web", "sizes": [1]}
    assert not own.foundation().laboratory


def test_without_policies_the_places_that_were_looked_at_are_named(project: Path) -> None:
    (project / "policies").rmdir()
    stack = project / "stack"

    with pytest.raises(ConfigError) as caught:
        _asked("--stack", str(stack))

    assert caught.value.message == (
        f"{stack}: no policies beside it, looked for {stack}/policies and {project}/policies"
    )
    assert caught.value.hint == "name their folder with --policies"


def test_a_folder_that_is_none_is_told_from_one_that_is_missing(project: Path) -> None:
    stack, file, gone = project / "stack", project / "stack" / "main.tf", project / "gone"
    expected = "expected a folder with one folder a policy"
    cases = [
        (("--stack", gone), f"{gone}: does not exist, expected a folder with a root module"),
        (("--stack", file), f"{file}: is a file, expected a folder with a root module"),
        (("--stack", project), f"{project}: no *.tf, expected a root module"),
        (("--stack", stack, "--policies", gone), f"{gone}: does not exist, {expected}"),
        (("--stack", stack, "--policies", file), f"{file}: is a file, {expected}"),
    ]

    for words, message in cases:
        with pytest.raises(ConfigError) as caught:
            _asked(*map(str, words))

        assert caught.value.message == message


def test_a_stack_of_somebodys_own_needs_no_image_of_the_laboratory(project: Path) -> None:
    got: list[ClusterProvider | None] = []

    @click.command()
    @stack_options
    @cluster_options(default="embedded")
    def command(*, own: OwnStack | None, provider: ClusterProvider) -> None:
        """Note what it gets."""
        del own
        got.append(provider)

    words = ["--cluster", "existing", "--context", "mine"]
    CliRunner().invoke(command, [*words, "--stack", str(project / "stack")])
    CliRunner().invoke(command, words)

    assert [getattr(provider, "_laboratory", None) for provider in got] == [False, True]

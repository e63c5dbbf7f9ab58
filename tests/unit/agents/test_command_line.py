"""The template of `--agent-command`."""

from __future__ import annotations

import pytest

from harness.agents.command_line import (
    brings_prompt,
    check_arguments,
    fill,
    parse_command,
    shown_command,
)
from harness.errors import ConfigError


def test_a_command_is_split_once_as_a_shell_would() -> None:
    argv = parse_command("my-agent --task '{prompt} $HOME' \"a b\"")

    assert argv == ("my-agent", "--task", "{prompt} $HOME", "a b")


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("", "--agent-command is empty, expected a program"),
        ("a 'b", '--agent-command "a \'b": no closing quotation'),
        (
            "a {task}",
            (
                "--agent-command: unknown placeholder {task}, expected one of {kubeconfig}, "
                "{namespace}, {prompt}, {prompt_file}"
            ),
        ),
    ],
)
def test_a_command_that_cannot_be_used_is_refused(command: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_command(command)

    assert str(caught.value) == problem


def test_what_is_filled_in_is_not_read_again() -> None:
    argv = fill(
        ("a", "--x={prompt}/{namespace}", "{{prompt}}", '{"json": {}}'),
        {"prompt": "{namespace} {prompt}", "namespace": "lab"},
    )

    assert argv == ("a", "--x={namespace} {prompt}/lab", "{prompt}", '{"json": {}}')


@pytest.mark.parametrize(
    ("argv", "brings"),
    [
        (("a", "{prompt}"), True),
        (("a", "--f={prompt_file}"), True),
        (("a", "{namespace}"), False),
        (("a", "{{prompt}}"), False),
        (("a",), False),
    ],
)
def test_only_a_prompt_placeholder_brings_the_prompt(
    argv: tuple[str, ...], *, brings: bool
) -> None:
    found = brings_prompt(argv)

    assert found is brings


def test_values_of_secret_options_are_not_shown() -> None:
    shown = shown_command(("agent", "--api-key", "k1", "--token=k2", "API_KEY=k3", "--model", "m"))

    assert shown == "agent --api-key '***' '--token=***' 'API_KEY=***' --model m"


@pytest.mark.parametrize(
    ("argument", "found"), [("a\0b", "a NUL byte"), ("x" * 131_072, "131072 bytes")]
)
def test_an_argument_that_no_process_can_be_given_is_refused(argument: str, found: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_arguments(("agent", argument))

    assert str(caught.value) == (
        f"--agent-command: an argument holds {found}, which no process can be given"
    )


def test_the_longest_argument_that_linux_takes_is_let_through() -> None:
    argument = "x" * 131_071

    check_arguments(("agent", argument))

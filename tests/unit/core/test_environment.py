"""What a child of ours may see of the caller's environment."""

from __future__ import annotations

from harness.core.process import scrubbed_environment


def test_only_what_is_allowed_is_passed_on() -> None:
    ambient = {"PATH": "/bin", "HOME": "/root", "TF_LOG": "trace", "API_KEY": "secret"}

    assert scrubbed_environment({}, ambient=ambient) == {"PATH": "/bin", "HOME": "/root"}


def test_what_is_given_wins_over_what_is_there() -> None:
    found = scrubbed_environment({"PATH": "/ours", "A": "b"}, ambient={"PATH": "/theirs"})

    assert found == {"PATH": "/ours", "A": "b"}


def test_a_caller_may_choose_what_is_passed_on() -> None:
    found = scrubbed_environment({}, keep=("API_KEY",), ambient={"PATH": "/bin", "API_KEY": "k"})

    assert found == {"API_KEY": "k"}

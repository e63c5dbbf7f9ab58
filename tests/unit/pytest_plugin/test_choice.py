"""What a run of pytest named."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from harness.pytest_plugin.choice import Choice, choice_of
from tests.unit.pytest_plugin.fakes import FakeConfig


def _choice(config: FakeConfig) -> Choice:
    return choice_of(cast("pytest.Config", config))


def test_nothing_is_named_where_nobody_names_it(tmp_path: Path) -> None:
    found = _choice(FakeConfig(tmp_path))

    assert (found.cluster, found.stack_dir) == (None, None)
    assert found.provider(laboratory=False).name == "embedded"
    assert found.home == tmp_path / ".strandline"


def test_an_option_wins_over_the_projects_setting(tmp_path: Path) -> None:
    settings = {"strandline_cluster": "kind"}
    given = {"strandline_cluster": "embedded"}

    assert _choice(FakeConfig(tmp_path, settings=settings)).cluster == "kind"
    assert _choice(FakeConfig(tmp_path, settings=settings, options=given)).cluster == "embedded"


@pytest.mark.parametrize(
    ("name", "provider"), [("embedded", "embedded"), ("kind", "kind"), ("prod-eu", "existing")]
)
def test_a_name_that_is_no_providers_is_a_contexts(
    tmp_path: Path, name: str, provider: str
) -> None:
    found = _choice(FakeConfig(tmp_path, options={"strandline_cluster": name}))

    assert found.provider(laboratory=True).name == provider


def test_a_stack_is_found_from_where_it_was_named(tmp_path: Path) -> None:
    stack = tmp_path / "infra" / "stack"
    stack.mkdir(parents=True)
    inside = tmp_path / "infra"

    by_option = FakeConfig(inside, root_dir=tmp_path, options={"strandline_stack": "stack"})
    by_setting = FakeConfig(inside, root_dir=tmp_path, settings={"strandline_stack": "infra/stack"})

    assert _choice(by_option).stack_dir == stack
    assert _choice(by_setting).stack_dir == stack
    assert not _choice(by_option).laboratory


def test_a_stack_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(pytest.UsageError) as caught:
        _choice(FakeConfig(tmp_path, options={"strandline_stack": "none"}))

    assert str(caught.value) == f"--strandline-stack: no folder {tmp_path / 'none'}"


def test_a_wait_that_is_no_number_is_refused(tmp_path: Path) -> None:
    def choose(seconds: str) -> Choice:
        return _choice(FakeConfig(tmp_path, settings={"strandline_effect_seconds": seconds}))

    with pytest.raises(pytest.UsageError) as caught:
        choose("soon")

    assert choose("2.5").effect_timeout_s == 2.5
    assert str(caught.value) == (
        "strandline_effect_seconds: found 'soon', expected a number of seconds"
    )

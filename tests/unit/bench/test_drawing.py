"""What a seed decides, and that it decides it for ever."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.bench.drawing import _WORDS, attempt_seed, draw, new_seed
from harness.errors import VariableError

NAME = {"draw": "name"}


def _names(count: int, seed: int) -> list[str]:
    names: list[str] = draw({"names": [NAME] * count}, seed)["names"]
    return names


@given(seed=st.integers(0, 2**31 - 1))
def test_names_of_one_attempt_are_all_different_and_plain(seed: int) -> None:
    names = _names(len(_WORDS), seed)

    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z]+-[1-9][0-9]{2}", name) for name in names)


def test_the_same_seed_draws_the_same_names_whenever_it_is_asked() -> None:
    assert _names(3, 7) == _names(3, 7) == ["kestrel-328", "ember-745", "maple-742"]


def test_other_seeds_draw_other_names() -> None:
    assert len({tuple(_names(2, seed)) for seed in range(100)}) == 100


def test_only_what_is_to_be_drawn_is_changed_however_deep_it_is() -> None:
    variables: dict[str, Any] = {
        "plain": 5,
        "deep": {"list": [NAME, "kept", {"draw": "name", "more": 1}]},
        "other": {"draw": "number"},
    }

    found = draw(variables, 1)

    assert found["plain"] == 5
    assert re.fullmatch(r"[a-z]+-\d{3}", found["deep"]["list"][0])
    assert found["deep"]["list"][1:] == ["kept", {"draw": "name", "more": 1}]
    assert found["other"] == {"draw": "number"}
    assert variables["deep"]["list"][0] == NAME


def test_more_names_than_there_are_words_is_an_error_of_the_task() -> None:
    with pytest.raises(VariableError, match="more than 25 names are drawn"):
        _names(len(_WORDS) + 1, 1)


def test_the_words_differ_in_their_first_three_letters() -> None:
    assert len({word[:3] for word in _WORDS}) == len(_WORDS)


def test_an_attempts_seed_depends_on_run_task_and_number_alone() -> None:
    seeds = {
        attempt_seed(run, task, number)
        for run in (1, 2)
        for task in ("mix", "settle")
        for number in (1, 2)
    }

    assert len(seeds) == 8
    assert attempt_seed(1, "mix", 1) == attempt_seed(1, "mix", 1) == 1314684602
    assert all(0 <= seed < 2**31 for seed in seeds)


def test_a_new_seed_fits_and_is_new() -> None:
    seeds = {new_seed() for _ in range(20)}

    assert len(seeds) == 20
    assert all(0 <= seed < 2**31 for seed in seeds)

"""Which truth an attempt gets: balanced, secret, and nothing that a seed could tell."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from harness.bench.truth import draw, fates_of, new_secret, noise_key, write_secret
from harness.core.files import read_json
from harness.lab.instruments.fate import Fate, FateKind
from harness.model.story import Truth

THREE = ("nothing", "whole", "cut-off")


@pytest.mark.parametrize("truths", [("no", "yes"), THREE], ids=len)
@pytest.mark.parametrize("secret", [bytes([n]) * 16 for n in range(20)], ids=lambda s: str(s[0]))
def test_over_20_attempts_each_truth_comes_about_as_often_as_any_other(
    secret: bytes, truths: tuple[str, ...]
) -> None:
    drawn = Counter(draw(secret, "a-task", number, truths) for number in range(1, 21))

    fair = 20 / len(truths)
    assert all(fair - 1 < drawn[truth] + 0.5 < fair + 2.5 for truth in truths), drawn


def test_three_truths_come_6_to_8_times_each_in_20_attempts() -> None:
    seen = {
        count
        for n in range(50)
        for count in Counter(draw(bytes([n]), "t", k, THREE) for k in range(1, 21)).values()
    }

    assert seen <= {6, 7, 8}


def test_the_draw_hangs_on_secret_and_task_and_on_nothing_else() -> None:
    numbers = range(1, 61)

    def drawn(secret: bytes, task: str) -> list[str | None]:
        return [draw(secret, task, number, THREE) for number in numbers]

    assert drawn(b"a", "one") == drawn(b"a", "one")
    assert drawn(b"a", "one") != drawn(b"b", "one")
    assert drawn(b"a", "one") != drawn(b"a", "two")


def test_half_of_a_block_does_not_tell_the_other_half() -> None:
    seconds = {
        draw(bytes([n]), "t", 4, THREE)
        for n in range(256)
        if [draw(bytes([n]), "t", k, THREE) for k in (1, 2, 3)] == list(THREE)
    }

    assert seconds == set(THREE)


def test_the_first_attempts_do_not_tell_the_next_one() -> None:
    first = [[draw(bytes([n]), "t", k, THREE) for k in (1, 2, 3)] for n in range(50)]

    assert any(len(set(drawn)) < len(THREE) for drawn in first)


def test_one_block_does_not_tell_the_next_one() -> None:
    blocks = [
        [[draw(bytes([n]), "t", k + start, THREE) for k in range(6)] for start in (1, 7)]
        for n in range(10)
    ]

    assert any(one != other for one, other in blocks)


def test_a_task_without_truths_has_none() -> None:
    assert draw(b"a", "t", 1, ()) is None


def test_the_key_of_the_noise_is_another_one_in_every_attempt() -> None:
    keys = {noise_key(secret, task, n) for secret in (b"a", b"b") for task in "tu" for n in (1, 2)}

    assert len(keys) == 8


def test_every_run_has_a_secret_of_its_own() -> None:
    assert len({new_secret() for _ in range(20)}) == 20


def test_fates_are_told_as_the_instruments_read_them() -> None:
    truth = Truth(fates={"mixer-1": ("answered", "nothing", "cut_off", "twice", "whole")})

    told = [Fate.of(one) for one in fates_of(truth)["mixer-1"]]

    assert [(fate.kind, fate.silent) for fate in told] == [
        (FateKind.WHOLE, False),
        (FateKind.NOTHING, True),
        (FateKind.CUT_OFF, True),
        (FateKind.TWICE, True),
        (FateKind.WHOLE, True),
    ]


def test_the_secret_is_kept_for_its_owner_alone(tmp_path: Path) -> None:
    path = write_secret(tmp_path, b"\x01\x02", {"settle": {2: "whole", 1: None}})

    assert read_json(path) == {
        "secret": "0102",
        "truths": {"settle": {"1": None, "2": "whole"}},
    }
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700

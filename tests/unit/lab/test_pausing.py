"""Where a controller stops on purpose: at one call, once, until it is woken."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ConfigError
from harness.lab.pausing import Pause, PausePlace, PausePoint, parse_place

HERE = PausePoint.BEFORE_SEND
FACTS = {"requestId": "r-1", "task": "night-mix", "instrument": "mixer-1"}


class _Said:
    """What a pause says; it is woken as soon as it has said so, or it would wait for good."""

    def __init__(self, place: PausePlace | None, once_path: Path | None = None) -> None:
        self.lines: list[tuple[str, Mapping[str, Any]]] = []
        self.pause = Pause(place, once_path=once_path, say=self._say)

    def _say(self, word: str, facts: Mapping[str, Any]) -> None:
        self.lines.append((word, facts))
        self.pause.wake()


def test_a_place_is_a_point_with_or_without_a_task() -> None:
    assert parse_place("after_send") == PausePlace(point=PausePoint.AFTER_SEND)
    assert parse_place("after_send@a-b") == PausePlace(point=PausePoint.AFTER_SEND, task="a-b")
    with pytest.raises(ConfigError, match="pause_at 'sometime@a'"):
        parse_place("sometime@a")


@pytest.mark.parametrize("task", ["", "night-mix"])
def test_it_stops_at_its_point_and_says_whose_call_is_there(task: str) -> None:
    said = _Said(PausePlace(point=HERE, task=task))

    said.pause(HERE, FACTS)

    assert said.lines == [("paused before_send", FACTS)]


def test_it_passes_other_points_and_calls_of_other_tasks() -> None:
    said = _Said(PausePlace(point=HERE, task="night-mix"))

    said.pause(PausePoint.AFTER_SEND, FACTS)
    said.pause(HERE, {**FACTS, "task": "day-mix"})
    said.pause(HERE, {"requestId": "r-2"})

    assert said.lines == []


def test_who_was_woken_goes_on_for_good() -> None:
    said = _Said(PausePlace(point=HERE))

    said.pause(HERE, FACTS)
    said.pause(HERE, FACTS)

    assert len(said.lines) == 1


def test_a_successor_that_is_told_the_same_does_not_stop_again(tmp_path: Path) -> None:
    once_path = tmp_path / "paused"
    first = _Said(PausePlace(point=HERE), once_path)
    unused = once_path.exists()

    first.pause(HERE, FACTS)
    second = _Said(PausePlace(point=HERE), once_path)
    second.pause(HERE, FACTS)

    assert unused is False
    assert (len(first.lines), second.lines) == (1, [])


def test_nowhere_means_nowhere() -> None:
    said = _Said(None)

    for point in PausePoint:
        said.pause(point, FACTS)

    assert said.lines == []

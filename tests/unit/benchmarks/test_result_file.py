"""The result file of a run: its keys, its verdict, where it is written."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.figures import Bound, Goal, Part, alone
from benchmarks.result_file import Run, write_results
from harness.core.files import read_json


def _run(*, lag_ms: float = 100.0, failed: Mapping[str, str] | None = None) -> Run:
    goal = Goal(bound=Bound.OURS_AT_MOST, limit=300)
    lag = alone("gate", "lag", ours=[lag_ms], unit="ms", goal=goal)
    return Run(
        began_at=datetime(2026, 3, 4, 23, 59, tzinfo=UTC),
        duration_s=12.345,
        repeats=7,
        machine={"cores": 2},
        versions={"go": "1.26.6"},
        parts={
            "gate": Part(figures=(lag,), detail={"seed": 7}),
            "sweep": Part(figures=(alone("sweep", "100 objects", ours=[0.5]),)),
        },
        failed=failed or {},
    )


def test_a_run_is_written_as_the_latest_and_as_that_of_its_day(tmp_path: Path) -> None:
    paths = write_results(_run(), tmp_path / "results")

    assert [path.name for path in paths] == ["latest.json", "2026-03-04.json"]
    latest, of_the_day = map(read_json, paths)
    assert latest == of_the_day
    assert latest["began_at"] == "2026-03-04T23:59:00+00:00"
    assert latest["versions"] == {"go": "1.26.6"}


def test_figures_stand_in_the_order_of_the_parts_and_details_beside_them() -> None:
    value = _run().to_json()

    assert [figure["name"] for figure in value["figures"]] == ["lag", "100 objects"]
    assert value["detail"] == {"gate": {"seed": 7}}


def test_a_run_is_good_when_every_goal_is_met_and_no_part_failed() -> None:
    assert _run().ok


def test_a_missed_goal_is_named_and_the_run_is_not_good() -> None:
    run = _run(lag_ms=301.0)

    assert not run.ok
    assert run.to_json()["missed"] == ["gate: lag"]


def test_a_run_with_a_part_that_failed_is_not_good() -> None:
    run = _run(failed={"start": "no etcd"})

    assert not run.ok
    assert run.to_json()["failed"] == {"start": "no etcd"}

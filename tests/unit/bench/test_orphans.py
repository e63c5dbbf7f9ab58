"""What a sweep and a teardown make of attempts whose cluster is gone, unnamed, or in use."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.bench.ledger import AttemptEntry, begin, entries
from harness.bench.orphans import sweep_orphans
from harness.bench.teardown import end_cluster, forget_cluster
from harness.cluster.home import state_dir_of
from harness.errors import ClusterError, PrerequisiteError, TeardownError
from tests.unit.bench.fakes import FakeProvider, cluster_of, tools_of


def _attempt(home: Path, cluster: str, *, provider: str = "kind", alive: bool = False) -> str:
    attempt_id = f"a{len(list(entries(home)))}"
    entry = begin(
        home,
        attempt_id=attempt_id,
        run_id="r1",
        namespace=f"lab-{attempt_id}",
        provider=provider,
        cluster=cluster,
    )
    if not alive:
        _end_owner(entry)
    return attempt_id


def _attempts(found: Sequence[str]) -> list[str]:
    """Return what was found but for the folders that killed processes left on this machine."""
    return [line for line in found if not line.startswith("folder ")]


def _end_owner(entry: AttemptEntry) -> None:
    path = entry.work_dir / "attempt.json"
    record = json.loads(path.read_text())
    record["owner"]["started_ticks"] -= 1
    path.write_text(json.dumps(record))


def test_an_attempt_of_a_cluster_whose_folder_is_gone_is_forgotten(tmp_path: Path) -> None:
    attempt_id = _attempt(tmp_path, "strandline-gone")

    swept = sweep_orphans(tools_of(tmp_path), providers=[FakeProvider("kind")], dry_run=False)

    assert _attempts(swept.found) == [f"attempt {attempt_id} of run r1"]
    assert (swept.leftovers, swept.elsewhere) == ((), ())
    assert list(entries(tmp_path)) == []


def test_a_dry_run_forgets_nothing(tmp_path: Path) -> None:
    attempt_id = _attempt(tmp_path, "strandline-gone")
    provider = FakeProvider("kind")

    swept = sweep_orphans(tools_of(tmp_path), providers=[provider], dry_run=True)

    assert _attempts(swept.found) == [f"attempt {attempt_id} of run r1"]
    assert provider.reaped == 0
    assert len(list(entries(tmp_path))) == 1


def test_an_attempt_on_somebodys_cluster_is_not_forgotten_with_the_clusters_folder(
    tmp_path: Path,
) -> None:
    attempt_id = _attempt(tmp_path, "existing-prod", provider="existing")

    swept = sweep_orphans(
        tools_of(tmp_path), providers=[FakeProvider("existing", keeps=True)], dry_run=False
    )

    assert [str(left) for left in swept.elsewhere] == [
        f"attempt {attempt_id} (its cluster existing-prod was not named, or does not answer)"
    ]
    assert len(list(entries(tmp_path))) == 1


def test_an_attempt_of_a_cluster_that_does_not_answer_is_left_elsewhere(tmp_path: Path) -> None:
    _attempt(tmp_path, "strandline-here")
    state_dir_of(tmp_path, "strandline-here").mkdir(parents=True)

    swept = sweep_orphans(tools_of(tmp_path), providers=[FakeProvider("kind")], dry_run=False)

    assert len(swept.elsewhere) == 1
    assert len(list(entries(tmp_path))) == 1


def test_the_attempt_of_a_harness_that_lives_is_nobodys_orphan(tmp_path: Path) -> None:
    _attempt(tmp_path, "strandline-gone", alive=True)

    swept = sweep_orphans(tools_of(tmp_path), providers=[FakeProvider("kind")], dry_run=False)

    assert (_attempts(swept.found), swept.elsewhere) == ([], ())
    assert len(list(entries(tmp_path))) == 1


def test_an_attempt_of_a_provider_that_is_not_looked_at_is_not_touched(tmp_path: Path) -> None:
    _attempt(tmp_path, "existing-prod", provider="existing")

    swept = sweep_orphans(tools_of(tmp_path), providers=[FakeProvider("kind")], dry_run=False)

    assert (_attempts(swept.found), swept.leftovers, swept.elsewhere) == ([], (), ())
    assert len(list(entries(tmp_path))) == 1


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_provider_that_fails_is_named_and_the_next_one_has_its_turn(
    tmp_path: Path, *, dry_run: bool
) -> None:
    error = TeardownError(("kind cluster strandline-x",), hint="start the engine")
    broken, sound = FakeProvider("kind", error=error), FakeProvider("embedded", left=["cluster e"])

    swept = sweep_orphans(tools_of(tmp_path), providers=[broken, sound], dry_run=dry_run)

    assert _attempts(swept.found) == ["cluster e"]
    assert [str(left) for left in swept.leftovers] == [
        "kind cluster strandline-x (start the engine)"
    ]
    assert sound.reaped == (0 if dry_run else 1)


def test_a_teardown_that_leaves_nothing_says_so(tmp_path: Path) -> None:
    provider = FakeProvider("kind")

    said = end_cluster(tools_of(tmp_path), provider)

    assert said == ("nothing of ours is left",)
    assert provider.ended == 1


def test_a_teardown_names_what_is_left_on_a_cluster_that_was_not_named(tmp_path: Path) -> None:
    attempt_id = _attempt(tmp_path, "existing-other", provider="existing")

    said = end_cluster(tools_of(tmp_path), FakeProvider("existing", keeps=True))

    blocker = "its cluster existing-other was not named, or does not answer"
    assert said == (f"left behind: attempt {attempt_id} ({blocker})",)


def test_a_teardown_that_cannot_reap_ends_with_what_is_left(tmp_path: Path) -> None:
    error = TeardownError(("cluster e: etcd (pid 7)",), hint="end these processes and try again")

    with pytest.raises(TeardownError) as caught:
        end_cluster(tools_of(tmp_path), FakeProvider("embedded", error=error))

    assert caught.value.leftovers == (
        "cluster e: etcd (pid 7) (end these processes and try again)",
    )


def test_the_platform_of_somebodys_cluster_stays_while_a_run_works_on_it(tmp_path: Path) -> None:
    _attempt(tmp_path, "existing-prod", provider="existing", alive=True)
    provider = FakeProvider("existing", keeps=True, cluster=cluster_of(tmp_path, "existing-prod"))

    with pytest.raises(ClusterError) as caught:
        end_cluster(tools_of(tmp_path), provider)

    assert caught.value.message.startswith("a run works on existing-prod: process ")
    assert provider.ended == 0


def test_a_cluster_that_is_gone_is_forgotten_on_its_owners_word_with_its_attempts(
    tmp_path: Path,
) -> None:
    attempt_id = _attempt(tmp_path, "existing-gone", provider="existing")
    other = _attempt(tmp_path, "existing-other", provider="existing")
    state_dir = state_dir_of(tmp_path, "existing-gone")
    state_dir.mkdir(parents=True)
    provider = FakeProvider("existing", keeps=True)

    given_up = forget_cluster(tools_of(tmp_path), provider, name="existing-gone")

    assert given_up == (
        "cluster existing-gone",
        f"attempt {attempt_id} in namespace lab-{attempt_id}",
    )
    assert not state_dir.exists()
    assert [entry.attempt_id for entry in entries(tmp_path)] == [other]
    assert provider.ended == 0


def test_a_cluster_of_which_there_is_no_record_is_not_forgotten(tmp_path: Path) -> None:
    with pytest.raises(ClusterError) as caught:
        forget_cluster(tools_of(tmp_path), FakeProvider("existing", keeps=True), name="existing-x")

    assert caught.value.message == f"no record of a cluster 'existing-x' below {tmp_path}"


def test_a_cluster_on_which_a_run_works_is_not_forgotten(tmp_path: Path) -> None:
    _attempt(tmp_path, "existing-prod", provider="existing", alive=True)
    state_dir = state_dir_of(tmp_path, "existing-prod")
    state_dir.mkdir(parents=True)

    with pytest.raises(ClusterError) as caught:
        forget_cluster(
            tools_of(tmp_path), FakeProvider("existing", keeps=True), name="existing-prod"
        )

    assert caught.value.message.startswith("a run works on existing-prod: process ")
    assert state_dir.is_dir()


def test_a_cluster_of_ours_is_not_forgotten_as_somebodys(tmp_path: Path) -> None:
    state_dir = state_dir_of(tmp_path, "provisioned")
    state_dir.mkdir(parents=True)

    with pytest.raises(ClusterError, match="no record of a cluster 'provisioned'"):
        forget_cluster(tools_of(tmp_path), FakeProvider("existing", keeps=True), name="provisioned")

    assert state_dir.is_dir()


def test_a_cluster_that_nobody_could_ask_is_not_forgotten(tmp_path: Path) -> None:
    state_dir = state_dir_of(tmp_path, "existing-prod")
    state_dir.mkdir(parents=True)
    error = PrerequisiteError("cannot run 'kubectl'")

    with pytest.raises(PrerequisiteError):
        forget_cluster(
            tools_of(tmp_path),
            FakeProvider("existing", keeps=True, unasked=error),
            name="existing-prod",
        )

    assert state_dir.is_dir()


def test_a_cluster_name_that_leads_out_of_the_home_is_not_forgotten(tmp_path: Path) -> None:
    outside = tmp_path / "precious"
    outside.mkdir()

    with pytest.raises(ClusterError):
        forget_cluster(tools_of(tmp_path), FakeProvider("existing", keeps=True), name="../precious")

    assert outside.is_dir()

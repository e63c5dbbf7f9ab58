"""A bundle is believed only as it was sealed."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness.core.files import sha256_hex
from harness.errors import ConfigError
from harness.grading.bundle import MANIFEST, load_evidence, seal
from harness.grading.scoring import grade
from harness.model.evidence import EVIDENCE_FILES, Failure, Status
from tests.unit.grading.fixtures import (
    attestation,
    check,
    event,
    evidence,
    manifest,
    record,
    run,
    snapshot,
    task,
    write_bundle,
)

FULL = evidence(
    check("runs_completed"),
    baseline=snapshot(),
    final=snapshot(runs=[run()], tasks=[task()], attestations=[attestation("\u2028 \x1b")]),
    events=[event("TaskSucceeded")],
    audit=[record(body=manifest("sim.mix_color")), record(name="\u2028\x85")],
)
FAILED = Failure(status=Status.INFRA_ERROR, phase="provision", message="no provider")


def test_a_bundle_comes_back_as_it_was_sealed(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path, FULL)

    digest = seal(folder)
    found, found_digest = load_evidence(tmp_path)

    assert found == FULL
    assert found_digest == digest == sha256_hex((folder / MANIFEST).read_bytes())


def test_a_manifest_names_every_file_in_order(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path, FULL)

    seal(folder)

    lines = (folder / MANIFEST).read_text().splitlines()
    assert [line.split("  ")[1] for line in lines] == list(EVIDENCE_FILES)


def test_a_manifest_is_what_sha256sum_checks(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path, FULL)
    seal(folder)

    checked = subprocess.run(
        ["sha256sum", "--strict", "--check", MANIFEST],  # noqa: S607 - from PATH, as a reader would
        cwd=folder,
        capture_output=True,
        timeout=30,
        check=False,
    )

    assert checked.returncode == 0


def test_sealing_twice_changes_nothing(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path, FULL)

    assert seal(folder) == seal(folder)


def test_the_same_bundle_gives_the_same_result(tmp_path: Path) -> None:
    seal(write_bundle(tmp_path, FULL))

    assert grade(*load_evidence(tmp_path)) == grade(*load_evidence(tmp_path))


@pytest.mark.parametrize("name", EVIDENCE_FILES)
def test_one_changed_byte_is_refused_with_both_digests(tmp_path: Path, name: str) -> None:
    folder = write_bundle(tmp_path, FULL)
    seal(folder)
    before = (folder / name).read_bytes()
    after = before[:-1] + bytes([before[-1] ^ 1])
    (folder / name).write_bytes(after)

    with pytest.raises(ConfigError) as caught:
        load_evidence(tmp_path)

    assert caught.value.message == (
        f"{folder / name}: found sha256 {sha256_hex(after)}, expected {sha256_hex(before)}"
    )
    assert caught.value.exit_code == 3


def test_a_missing_file_is_refused_with_the_digest_it_should_have(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path, FULL)
    seal(folder)
    expected = sha256_hex((folder / "audit.jsonl").read_bytes())
    (folder / "audit.jsonl").unlink()

    with pytest.raises(ConfigError) as caught:
        load_evidence(tmp_path)

    assert caught.value.message == f"{folder / 'audit.jsonl'}: missing, expected sha256 {expected}"


def test_a_file_that_was_added_is_refused(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path, FULL)
    seal(folder)
    (folder / "extra.json").touch()

    with pytest.raises(ConfigError, match=r"extra\.json: found, but MANIFEST does not name it"):
        load_evidence(tmp_path)


def test_a_link_to_a_file_with_the_right_content_is_no_file_of_a_bundle(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path, FULL)
    seal(folder)
    (folder / "truth.json").rename(tmp_path / "elsewhere")
    (folder / "truth.json").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(ConfigError, match=r"truth\.json: missing"):
        load_evidence(tmp_path)


def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path, FULL)
    seal(folder)
    (folder / "truth.json").unlink()
    (folder / "truth.json").mkdir()

    with pytest.raises(ConfigError, match=r"truth\.json: missing"):
        load_evidence(tmp_path)


def test_a_bundle_without_a_manifest_is_refused(tmp_path: Path) -> None:
    write_bundle(tmp_path, FULL)

    with pytest.raises(ConfigError, match="MANIFEST: missing, expected the digests of the bundle"):
        load_evidence(tmp_path)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda text: "rubbish\n" + text, "MANIFEST:1: found 'rubbish', expected a digest"),
        (lambda text: text + text, "MANIFEST: lines are not sorted, or one stands twice"),
        (lambda text: f"{'0' * 64}  passwd.json\n" + text, "MANIFEST:1: found '0000"),
        (lambda text: text.rstrip("\n"), "MANIFEST: lines are not sorted"),
    ],
)
def test_a_manifest_in_any_other_form_is_refused(tmp_path: Path, change: Any, problem: str) -> None:
    folder = write_bundle(tmp_path, FULL)
    seal(folder)
    (folder / MANIFEST).write_text(change((folder / MANIFEST).read_text()))

    with pytest.raises(ConfigError, match=problem):
        load_evidence(tmp_path)


def test_an_attempt_that_failed_may_hold_nothing_but_its_record(tmp_path: Path) -> None:
    failed = evidence(failure=FAILED, agent=None)
    seal(write_bundle(tmp_path, failed, only_attempt=True))

    found, digest = load_evidence(tmp_path)

    assert grade(found, digest).status is Status.INFRA_ERROR


def test_an_attempt_that_did_not_fail_must_hold_everything(tmp_path: Path) -> None:
    seal(write_bundle(tmp_path, FULL, only_attempt=True))

    with pytest.raises(ConfigError, match="missing, expected of an attempt that did not fail"):
        load_evidence(tmp_path)


def test_what_is_no_file_of_a_bundle_is_not_sealed(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path, FULL)
    (folder / "notes.txt").touch()

    with pytest.raises(ConfigError, match=r"notes\.txt: not a file of a bundle"):
        seal(folder)


def test_a_folder_without_a_record_is_not_sealed(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"attempt\.json: missing, expected in every bundle"):
        seal(tmp_path)


def test_a_folder_that_is_not_there_is_not_sealed(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file or directory"):
        seal(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("final.json", "{", r"final\.json: not JSON"),
        ("final.json", '{"labruns": [7]}', r"final\.json: labruns\.0: Input should be"),
        ("drift.json", '{"a": NaN}', r"drift\.json: not JSON: NaN is no number of JSON"),
        ("truth.json", "[]", r"truth\.json: Input should be a valid dictionary"),
        ("audit.jsonl", '{"verb": "get"}\n', r"audit\.jsonl:1: auditID: Field required"),
        ("audit.jsonl", "\n", r"audit\.jsonl:1: not JSON"),
        ("events.json", "[" * 100_000, r"events\.json: nested too deeply to be read"),
        ("attempt.json", "{}", r"attempt\.json: run_id: Field required"),
    ],
)
def test_a_sealed_file_that_holds_something_else_is_refused_by_name(
    tmp_path: Path, name: str, content: str, problem: str
) -> None:
    folder = write_bundle(tmp_path, FULL)
    (folder / name).write_text(content)
    seal(folder)

    with pytest.raises(ConfigError, match=problem):
        load_evidence(tmp_path)

"""How an end becomes one outcome, and one message without secrets."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from harness.errors import TerraformError
from harness.terraform.diagnostics import (
    Diagnostic,
    parse_events,
    read_diagnostics,
    redact,
    secret_texts,
)
from harness.terraform.outcomes import Outcome, outcome_error, outcome_of
from tests.unit.terraform.fakes import fake_finished, fake_summary

_NOW = datetime(2026, 11, 30, 1, 46, 59, tzinfo=UTC)


def _error(summary: str, detail: str = "", **more: Any) -> Diagnostic:
    return Diagnostic(severity="error", summary=summary, detail=detail, **more)


@pytest.mark.parametrize(
    ("returncode", "operations", "summaries", "expected"),
    [
        (0, [], [], Outcome.DONE),
        (0, ["plan"], [], Outcome.NO_CHANGES),
        (0, ["plan", "destroy"], [], Outcome.DONE),
        (0, ["apply"], [], Outcome.DONE),
        (2, ["plan"], [], Outcome.CHANGES),
        (2, [], [], Outcome.CRASHED),
        (11, [], [], Outcome.CRASHED),
        (1, [], ["Failed to write state", "Failed to save state"], Outcome.STATE_UNWRITTEN),
        (1, [], ["Plugin did not respond"], Outcome.PROVIDER_CRASHED),
        (1, [], ["Unrecognized remote plugin message: \nFailed"], Outcome.PROVIDER_CRASHED),
        (1, [], ["Error acquiring the state lock"], Outcome.FAILED),
        (1, [], ["local-exec provisioner error", "execution halted"], Outcome.INTERRUPTED),
        (1, ["plan"], ["no such file"], Outcome.FAILED),
        (1, [], [], Outcome.FAILED),
        (-9, ["plan"], [], Outcome.KILLED),
        (137, [], [], Outcome.KILLED),
    ],
)
def test_an_end_has_one_outcome(
    returncode: int, operations: list[str], summaries: list[str], expected: Outcome
) -> None:
    events = [fake_summary(operation) for operation in operations]

    outcome = outcome_of(fake_finished(returncode), events, [_error(said) for said in summaries])

    assert outcome is expected


def test_a_command_whose_time_was_up_is_timed_out_even_when_it_ended_well() -> None:
    assert outcome_of(fake_finished(0, timed_out=True), [], []) is Outcome.TIMED_OUT


def test_every_bad_outcome_has_words_and_is_a_terraform_error() -> None:
    lock = _error("Error acquiring the state lock", "Lock Info:\n  Who:       ann@lab\n")
    bad = set(Outcome) - {Outcome.DONE, Outcome.CHANGES, Outcome.NO_CHANGES}

    errors = [
        outcome_error("terraform plan", fake_finished(1), outcome, (lock,), frozenset(), now=_NOW)
        for outcome in sorted(bad)
    ]

    assert all(isinstance(error, TerraformError) for error in errors)
    assert {error.outcome for error in errors} == bad
    assert len({str(error) for error in errors}) == len(bad)
    assert all(error.hint for error in errors)


def test_a_lock_names_its_holder() -> None:
    detail = (
        "Error message: resource temporarily unavailable\nLock Info:\n  ID:        e309\n"
        "  Path:      terraform.tfstate\n  Operation: OperationTypeApply\n  Who:       ann@lab\n"
        "  Version:   1.11.4\n  Created:   2026-11-30 01:45:29 +0000 UTC\n  Info:      \n"
    )
    lock = _error("Error acquiring the state lock", detail)

    error = outcome_error(
        "terraform plan", fake_finished(1), Outcome.LOCKED, (lock,), frozenset(), now=_NOW
    )

    assert str(error) == (
        "terraform plan: state locked by ann@lab for OperationTypeApply 90 s ago, lock e309"
    )


def test_at_most_three_diagnostics_are_shown_and_all_are_kept() -> None:
    found = tuple(_error(f"reason {number}") for number in range(5))

    error = outcome_error(
        "terraform apply", fake_finished(1), Outcome.FAILED, found, frozenset(), now=_NOW
    )

    assert str(error) == "terraform apply: failed: reason 0; reason 1; reason 2"
    assert error.diagnostics == found


def test_what_was_printed_stands_in_where_there_is_no_diagnostic() -> None:
    finished = fake_finished(-9, stderr="signal:\n  killed by s3cret\n")

    error = outcome_error(
        "tofu apply", finished, Outcome.KILLED, (), frozenset({"s3cret"}), now=_NOW
    )

    assert str(error) == "tofu apply: killed (exit -9): signal: killed by (sensitive)"


def test_lines_that_are_no_events_are_passed_over() -> None:
    event = {"type": "version", "terraform": "1.11.4"}
    text = f'Acquiring state lock...\n{{"half": \n[1]\n{{"no": "type"}}\n{json.dumps(event)}\n'

    assert list(parse_events(text)) == [event]


def test_errors_come_before_warnings_and_once() -> None:
    wire = {"severity": "warning", "summary": "old", "detail": ""}
    bad = {
        "severity": "error",
        "summary": "wrong",
        "detail": "a number\n  is needed",
        "address": "terraform_data.x",
        "range": {"filename": "main.tf", "start": {"line": 11}},
        "snippet": {"values": [{"traversal": "var.n", "statement": 'is "s3cret"'}]},
    }
    events = [{"type": "diagnostic", "diagnostic": said} for said in (wire, bad, bad)]

    first, second = read_diagnostics(events, "")

    assert str(first) == "main.tf:11 terraform_data.x: wrong: a number is needed"
    assert first.expression == "var.n"
    assert second.summary == "old"


def test_prose_in_a_frame_is_read_as_a_diagnostic() -> None:
    stderr = "\x1b[31m╷\n│ \x1b[0mError: Unreadable module directory\n│ \n│ stat gone: nothing\n╵\n"

    (found,) = read_diagnostics([], stderr)

    assert str(found) == "Unreadable module directory: stat gone: nothing"


def test_a_secret_is_cut_out_in_every_form() -> None:
    secrets = secret_texts([{"key": ['pa"ss'], "lines": "first\nsecond"}, 12345, True, None, "x"])
    text = 'pa"ss pa\\"ss cGEic3M= first and second 12345 true x in xylophone'

    assert redact(text, secrets) == (
        "(sensitive) (sensitive) (sensitive) (sensitive) and (sensitive) (sensitive) true "
        "(sensitive) in xylophone"
    )


@pytest.mark.parametrize(
    ("value", "text", "expected"),
    [
        ("two words", "two\n  words, two", "(sensitive), two"),
        ("<é&>", '"\\u003cé\\u0026\\u003e" and "<é&>"', '"(sensitive)" and "(sensitive)"'),
        ("a${b}", '"a$${b}"', '"(sensitive)"'),
        ("{\n  -\n}", "{ - } and {", "(sensitive) and {"),
        (1e21, "it is 1000000000000000000000", "it is (sensitive)"),
        ("sit", "(sensitive) sit", "(sen(sensitive)ive) (sensitive)"),
        (" ", "a b", "a b"),
        ("", "a b", "a b"),
    ],
)
def test_a_secret_is_cut_out_however_it_is_written(value: Any, text: str, expected: str) -> None:
    assert redact(text, secret_texts([value])) == expected


def test_a_secret_at_the_cut_of_a_long_message_is_cut_out_whole() -> None:
    stderr = "Error: Too long\n\n" + "x " * 245 + "hunter2-correct-horse"

    found = read_diagnostics([], stderr)
    error = outcome_error(
        "terraform init",
        fake_finished(1, stderr=stderr),
        Outcome.FAILED,
        found,
        secret_texts(["hunter2-correct-horse"]),
        now=_NOW,
    )

    assert "hunter2" not in str(error) + repr(error.diagnostics)

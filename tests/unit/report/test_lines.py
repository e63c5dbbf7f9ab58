"""What a report says in words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.model.agent import AgentDescription
from harness.model.checks import CheckKind
from harness.model.evidence import Status
from harness.model.results import Settled, TeardownReport, Violation
from harness.report.inert import inert
from harness.report.lines import (
    attempt_problems,
    environment_lines,
    problem_lines,
    rows,
    score_lines,
    title,
    truth_lines,
)
from tests.unit.report.fixtures import HOSTILE, attempt, hostile_report, outcome, report, task


def test_a_title_names_suite_agent_and_index() -> None:
    assert title(report()) == "lab-operation v1.0 · reference · index 0.667"


def test_a_title_of_a_subset_has_no_index_and_one_of_a_model_names_it() -> None:
    agent = AgentDescription(kind="openai", name="chat", model="m-1", isolation="process")

    found = title(report(agent=agent, index=None))

    assert found == "lab-operation v1.0 · chat (m-1) · no index"


def test_a_row_has_means_over_attempts_and_counts_of_statuses() -> None:
    (found,) = rows(
        report(
            task(
                "mix",
                attempt(),
                attempt(number=2),
                attempt(Status.INFRA_ERROR, 3, seconds={"provision": 3.0}),
                rate=1.0,
            )
        )
    )

    assert found.cells == (
        "mix",
        "operate",
        "1.000",
        "1.000",
        "4.2",
        "2.0",
        "2 passed, 1 infra_error",
    )


def test_a_row_without_an_attempt_has_dashes() -> None:
    (found,) = rows(report(task("mix", rate=None)))

    assert found.cells == ("mix", "operate", "-", "-", "-", "-", "never begun")


def test_each_failed_check_has_a_line_that_can_be_contested() -> None:
    failed = attempt(Status.FAILED, 2, checks=(outcome(), outcome(passed=True)), score=0.5)

    assert problem_lines(report(task("mix", attempt(), failed))) == (
        (
            "mix#2  runs_completed: one run was completed: "
            "found no completed runs of the agent's, needed at least 1"
        ),
    )


def test_a_score_of_nothing_beside_checks_that_hold_is_explained() -> None:
    failed = attempt(Status.FAILED, checks=(outcome(passed=True), outcome()))

    found = problem_lines(report(task("mix", failed)))

    assert found[-1] == "mix#1  score 0: every check that holds held before the agent began"


def test_errors_come_first_and_violations_last_with_the_rest_counted() -> None:
    broken = tuple(Violation(rule="rbac", detail=f"patch x{n}: 403") for n in range(7))
    failed = attempt(Status.AGENT_ERROR, error="exit 3", violations=broken)

    found = problem_lines(report(task("mix", failed)))

    assert found[0] == "mix#1  agent_error: exit 3"
    assert found[1] == "mix#1  violation rbac: patch x0: 403"
    assert found[-1] == "mix#1  violation: 2 more"


def test_where_every_violation_is_shown_none_is_counted_beside() -> None:
    broken = tuple(Violation(rule="rbac", detail=f"patch x{n}: 403") for n in range(5))

    found = problem_lines(report(task("mix", attempt(violations=broken))))

    assert found[-1] == "mix#1  violation rbac: patch x4: 403"
    assert len(found) == 5


def test_scores_have_intervals_and_say_nothing_of_denominators_when_all_count() -> None:
    assert score_lines(report(task("mix", attempt()))) == (
        "operate: 1.000 [0.21, 1.00] over 1 task",
        "index: 0.667",
    )


def test_categories_come_in_the_order_of_their_tasks_also_after_keys_were_sorted() -> None:
    found = report(task("a", category="restraint"), task("b", category="recover"))
    sorted_keys = {name: found.categories[name] for name in ("recover", "restraint")}

    lines = score_lines(found.model_copy(update={"categories": sorted_keys}))

    assert [line.partition(":")[0] for line in lines] == ["restraint", "recover", "index"]


def test_what_was_left_out_is_counted_with_its_cause() -> None:
    denominators = {"scheduled": 5, "counted": 2, "infra_error": 1, "aborted": 1}

    found = score_lines(report(index=None, denominators=denominators))

    assert found == (
        "index: none, not every task of the suite has an attempt that counts",
        "counted: 2 of 5 scheduled attempts (1 infra_error, 1 aborted, 1 never begun)",
    )


def test_guard_rails_leftovers_and_notes_are_told() -> None:
    found = environment_lines(
        report(teardown=TeardownReport(leftovers=("namespace lab-1",)), notes=("ran as root",))
    )

    assert found == (
        "specs: 12 held, 0 broken, 0 unknown",
        "left behind: namespace lab-1",
        "note: ran as root",
    )


def test_every_line_of_a_hostile_report_is_inert() -> None:
    found = hostile_report()

    lines = (
        title(found),
        *problem_lines(found),
        *score_lines(found),
        *environment_lines(found),
        *(cell for row in rows(found) for cell in row.cells),
    )

    assert [line for line in lines if not line.isprintable()] == []


def test_inert_text_shows_what_would_act() -> None:
    assert inert("a\x1b[2J\n\u202eb") == "a\\x1b[2J \\u202eb"


def test_inert_text_is_capped_and_says_how_long_it_was() -> None:
    assert inert("x" * 1_048_576, limit_chars=3) == "xxx... (1048576 characters)"
    assert inert("xxx", limit_chars=3) == "xxx"


@given(text=st.text() | st.just(HOSTILE))
def test_inert_text_is_printable_and_one_line(text: str) -> None:
    found = inert(text)

    assert found.isprintable()
    assert inert(found, limit_chars=10_000) == found


def test_a_question_that_was_not_asked_is_no_problem() -> None:
    unasked = outcome(kind=CheckKind.ASKED_BEFORE_ACTING)

    assert list(attempt_problems(attempt(checks=(unasked,)))) == []


def test_each_attempt_with_a_hidden_truth_says_what_was_so_and_what_was_found() -> None:
    settled = (
        Settled(task="night-mix", truth="completed", found="abandoned", by="agent"),
        Settled(task="eve-mix", truth="completed", found=None, by=None),
    )
    told = report(task("cut-off-mix", attempt(drawn="whole", settled=settled), attempt(number=2)))

    (line,) = truth_lines(told)
    assert line == (
        "cut-off-mix#1  drawn whole: night-mix truly completed, found abandoned; "
        "eve-mix truly completed, found nothing"
    )


def test_a_truth_that_strands_nothing_is_named_alone() -> None:
    told = report(task("approval-first", attempt(drawn="granted")))

    assert truth_lines(told) == ("approval-first#1  drawn granted",)

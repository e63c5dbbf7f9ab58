"""A suite is read whole and cross-checked, before anything exists."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.bench.layout import Layout
from harness.bench.loader import harness_variables, load_controls, load_suite
from harness.errors import ConfigError, SuiteError, VariableError
from harness.model.suite import ExpectedScore
from tests.unit.bench.fakes import FakeTerraform, SuiteFolder


@pytest.fixture
def folder(tmp_path: Path) -> SuiteFolder:
    return SuiteFolder(tmp_path)


def test_a_suite_is_loaded_with_its_tasks_in_order(folder: SuiteFolder) -> None:
    loaded = folder.load()

    assert list(loaded.tasks) == ["mix", "settle"]
    assert [task.id for task in loaded.suite.tasks] == ["mix", "settle"]
    assert (loaded.suite.name, loaded.suite.version) == ("small", "1.0")


def test_the_briefing_stands_before_each_prompt_and_placeholders_have_their_values(
    folder: SuiteFolder,
) -> None:
    task = folder.load().tasks["settle"].task

    assert task.prompt == "Your namespace is lab-00000000.\n\nSettle it."
    assert task.setup is not None
    assert task.setup.inputs == {"total_mass_g": 10}


def test_each_task_is_resolved_with_its_overrides_and_what_the_harness_sets(
    folder: SuiteFolder,
) -> None:
    folder.load()

    stack, overrides = max(folder.terraform.asked, key=lambda asked: len(asked[1]))
    assert stack == "color_lab"
    assert overrides.keys() == {"attempt_id", "mass_g", "namespace", "run_id", "sample_id"}


def test_names_are_drawn_by_the_seed_and_the_prompt_says_what_the_variable_holds(
    folder: SuiteFolder,
) -> None:
    task = folder.load().tasks["mix"]

    first, again, other = task.overrides(1), task.overrides(1), task.overrides(2)
    rendered = task.rendered({"namespace": "lab-1", **first})

    assert first == again
    assert first["sample_id"] != other["sample_id"]
    assert rendered.prompt == (f"Your namespace is lab-1.\n\nMake 5 g of {first['sample_id']}.\n")
    assert rendered.checks[0].description == f"{first['sample_id']} was made"
    assert rendered.variables == {"sample_id": {"draw": "name"}, "mass_g": 5}


def test_a_control_is_told_the_variables_that_the_prompt_names_and_no_other(
    folder: SuiteFolder,
) -> None:
    task = folder.load().tasks["mix"]

    told = task.prompted({"namespace": "n", "mass_g": 5, "sample_id": "s", "token": "secret"})

    assert told == {"mass_g": 5, "namespace": "n", "sample_id": "s"}


def test_a_digest_changes_with_a_task_and_not_with_its_form(folder: SuiteFolder) -> None:
    before = folder.load().suite.digest

    folder.change("mix/task", "id: mix", "# a comment\nid:   mix")
    same = folder.load().suite.digest
    folder.change("mix/task", "count: 1", "count: 2")
    other = folder.load().suite.digest

    assert before == same
    assert other != before


#: Fault to file, old text, new text, file of the message, what it says behind it, and the hint.
FAULTS: dict[str, tuple[str, str, str, str, str, str | None]] = {
    "unknown key in the suite": (
        "suite", "version:", "verson: 1\nversion:",
        "suite", ":2: verson: unknown key", "did you mean 'version'?",
    ),
    "unknown key in a task": (
        "mix/task", "prompt:", "promt: x\nprompt:",
        "mix/task", ":5: promt: unknown key", "did you mean 'prompt'?",
    ),
    "unknown kind of check": (
        "mix/task", "runs_completed", "runs_complete",
        "mix/task", ":8: checks.0: unknown kind 'runs_complete'", "did you mean 'runs_completed'?",
    ),
    "task twice": (
        "suite", "  - settle", "  - mix",
        "suite", ":7: tasks.1: 'mix' stands twice", "keep one of them",
    ),
    "category twice": (
        "suite", "[operate, recover]", "[operate, recover, operate]",
        "suite", ":4: categories.2: 'operate' stands twice", "keep one of them",
    ),
    "wrong name": (
        "suite", "name: small", "name: large",
        "suite", ":1: name: is 'large', expected the folder's name 'small'",
        "give the suite its folder's name",
    ),
    "wrong id": (
        "mix/task", "id: mix", "id: settle",
        "mix/task", ":1: id: is 'settle', expected the folder's name 'mix'",
        "give the task its folder's name",
    ),
    "unknown category": (
        "mix/task", "operate", "operat",
        "mix/task", ":2: category: 'operat' is no category of the suite",
        "use one of operate, recover",
    ),
    "missing task folder": (
        "suite", "  - settle", "  - missing",
        "missing/task", ": No such file or directory", "check the name in the file that lists it",
    ),
    "undeclared placeholder in a prompt": (
        "mix/task", "{{ mass_g }}", "{{ mas_g }}",
        "mix/task", ":5: prompt: placeholder 'mas_g' names no variable of the stack",
        "did you mean 'mass_g'?",
    ),
    "undeclared placeholder in a setup": (
        "settle/task", "{{ mass_g }}", "{{ mass }}",
        "settle/task",
        ":6: setup.inputs.total_mass_g: placeholder 'mass' names no variable of the stack",
        "did you mean 'mass_g'?",
    ),
    "undeclared placeholder in a check": (
        "mix/task", '"{{ sample_id }} was', '"{{ sample }} was',
        "mix/task", ":8: checks.0.description: placeholder 'sample' names no variable of the stack",
        "did you mean 'sample_id'?",
    ),
    "placeholder of a secret": (
        "mix/task", "{{ mass_g }}", "{{ token }}",
        "mix/task", ":5: prompt: placeholder 'token' names no variable of the stack",
        "use one of attempt_id, mass_g, namespace, run_id, sample_id",
    ),
    "more than a name in braces": (
        "settle/task", "nothing waits", '"{{ mass_g + 1 }}"',
        "settle/task",
        ":10: checks.0.description: '{{ mass_g + 1 }}' holds more than names between braces",
        "write {{ name }} with the name of a root variable",
    ),
    "variable that the harness sets": (
        "mix/task", "mass_g: 5", "namespace: mine",
        "mix/task", ":4: variables.namespace: variable 'namespace' is set by the harness",
        "remove it",
    ),
    "variables that are a list": (
        "mix/task", "{ sample_id: { draw: name }, mass_g: 5 }", "[mass_g]",
        "mix/task", ":4: variables: input should be a valid dictionary, found ['mass_g']", None,
    ),
    "no stack": (
        "mix/task", "stack: color_lab\n", "",
        "mix/task", ":1: stack: missing", "add it",
    ),
    "stack that is a number": (
        "mix/task", "stack: color_lab", "stack: 5",
        "mix/task", ":3: stack: input should be a valid string, found 5", None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_line_with_file_line_and_key(folder: SuiteFolder, fault: str) -> None:
    name, old, new, blamed, said, hint = FAULTS[fault]
    folder.change(name, old, new)

    with pytest.raises(ConfigError) as caught:
        folder.load()

    assert str(caught.value) == f"{folder.path(blamed)}{said}"
    assert caught.value.hint == hint
    assert isinstance(
        caught.value, VariableError if "placeholder" in said or "braces" in said else SuiteError
    )


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("mass_g: 5", "mas_g: 5", 4, "variables.tf: no variable named 'mas_g'"),
        ("mass_g: 5", "mass_g: five", 4, "variables.tf:1: variable 'mass_g': a number is required"),
        ("stack: color_lab", "stack: other_lab", 3, "other_lab: no such stack"),
    ],
    ids=["undeclared", "wrong type", "missing stack"],
)
def test_what_terraform_refuses_is_told_where_the_task_says_it(
    folder: SuiteFolder, old: str, new: str, line: int, said: str
) -> None:
    folder.change("mix/task", old, new)

    with pytest.raises(VariableError) as caught:
        folder.load()

    assert str(caught.value).startswith(f"{folder.path('mix/task')}:{line}: ")
    assert str(caught.value).endswith(said)


def test_what_terraform_advises_is_passed_on(folder: SuiteFolder) -> None:
    folder.change("mix/task", "mass_g: 5", "mas_g: 5")

    with pytest.raises(VariableError) as caught:
        folder.load()

    assert caught.value.hint == "did you mean 'mass_g'?"


def test_a_folder_without_a_suite_names_those_that_there_are(folder: SuiteFolder) -> None:
    with pytest.raises(SuiteError) as caught:
        load_suite(Layout(root=folder.root), "smal", resolve=FakeTerraform())

    assert str(caught.value) == f"{folder.root / 'tasks' / 'smal'}: no suite.yaml"
    assert caught.value.hint == "suites here: small"


def test_tasks_are_selected_in_the_suites_order_and_all_when_none_is_named(
    folder: SuiteFolder,
) -> None:
    loaded = folder.load()

    assert [task.task.id for task in loaded.select(())] == ["mix", "settle"]
    assert [task.task.id for task in loaded.select(("settle", "mix"))] == ["mix", "settle"]
    assert [task.task.id for task in loaded.select(("settle",))] == ["settle"]


@pytest.mark.parametrize(
    ("name", "hint"), [("setle", "did you mean 'settle'?"), ("zzz", "tasks: mix, settle")]
)
def test_a_task_that_is_not_in_the_suite_cannot_be_selected(
    folder: SuiteFolder, name: str, hint: str
) -> None:
    with pytest.raises(SuiteError) as caught:
        folder.load().select((name,))

    assert str(caught.value) == f"{folder.directory}: no task {name!r}"
    assert caught.value.hint == hint


def test_an_attempt_sets_its_namespace_and_its_ids() -> None:
    assert harness_variables(run_id="r1", attempt_id="7f3a91c2") == {
        "namespace": "lab-7f3a91c2",
        "run_id": "r1",
        "attempt_id": "7f3a91c2",
    }


def test_controls_say_what_each_must_score_on_each_task(folder: SuiteFolder) -> None:
    table = load_controls(folder.load())

    assert table == {
        "reference": {
            "mix": ExpectedScore(passed=True, score=1.0),
            "settle": ExpectedScore(passed=True, score=1.0),
        }
    }


@pytest.mark.parametrize(
    ("old", "new", "said", "hint"),
    [
        (
            "  settle: { passed: true, score: 1.0 }\n",
            "",
            ":1: reference: task 'settle' is not in both the table and the suite",
            "list every task of the suite, and no other",
        ),
        (
            "  settle:",
            "  stranger: { passed: true, score: 1.0 }\n  settle:",
            ":1: reference: task 'stranger' is not in both the table and the suite",
            "list every task of the suite, and no other",
        ),
        ("score: 1.0", "scor: 1.0", ":2: reference.mix.scor: unknown key (and 1 more)", None),
        (
            "score: 1.0",
            "score: 1.5",
            ":2: reference.mix.score: input should be less than or equal to 1, found 1.5",
            None,
        ),
        (
            "score: 1.0",
            "score: 1.0, failing: [runs_complete]",
            ":2: reference.mix.failing.0: ",
            None,
        ),
    ],
    ids=["missing task", "unknown task", "unknown key", "impossible score", "unknown kind"],
)
def test_a_table_of_controls_with_a_fault_is_refused(
    folder: SuiteFolder, old: str, new: str, said: str, hint: str | None
) -> None:
    folder.change("controls", old, new)

    with pytest.raises(SuiteError) as caught:
        load_controls(folder.load())

    assert str(caught.value).startswith(f"{folder.path('controls')}{said}")
    assert caught.value.hint in (hint, "did you mean 'score'?")


def test_a_control_without_an_executable_is_refused(folder: SuiteFolder) -> None:
    loaded = folder.load()
    loaded.control_path("reference").chmod(0o644)

    with pytest.raises(SuiteError) as caught:
        load_controls(loaded)

    path = loaded.control_path("reference")
    assert str(caught.value) == f"{folder.path('controls')}:1: reference: no executable {path}"
    assert caught.value.hint == "add it, or remove the control"


def test_a_folder_is_no_control(folder: SuiteFolder) -> None:
    loaded = folder.load()
    loaded.control_path("reference").unlink()
    loaded.control_path("reference").mkdir()

    with pytest.raises(SuiteError, match="no executable"):
        load_controls(loaded)

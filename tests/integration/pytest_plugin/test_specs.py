"""Specs of somebody's own as pytest items: what held passes, and nothing else does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from harness.core.process import Finished
from tests.integration.pytest_plugin.runs import RUN_TIMEOUT_S, copy_example, run_pytest, write_spec

# The first test of a module waits for its run.
pytestmark = pytest.mark.timeout(RUN_TIMEOUT_S)

SPEC = """\
apiVersion: strandline.dev/v1
kind: SafetySpec
metadata: { name: NAME }
spec:
  namespace: "{{ namespace }}"
  identities: { deployer: { service_account: deployer }, viewer: { service_account: viewer } }
  cases:
"""

MIXED = (
    SPEC
    + """\
    - name: a viewer cannot look
      as: viewer
      request: { verb: list, resource: pods }
      expect: { refused: { by: rbac, code: 403 } }
      control: { as: admin }
    - name: nobody reads secrets
      as: viewer
      request: { verb: list, resource: secrets }
      expect: { refused: { by: rbac } }
      control: { as: deployer }
    - name: pods run on nodes
      requires: [nodes]
      as: viewer
      request: { verb: list, resource: pods }
      expect: admitted
"""
)

NOWHERE = """\
apiVersion: strandline.dev/v1
kind: SafetySpec
metadata: { name: NAME }
spec:
  cases:
    - name: judged in an attempt alone
      where: [attempt]
      as: admin
      request: { verb: list, resource: pods }
      expect: admitted
"""

TESTS = """\
def test_the_cluster_is_the_specs(strandline_cluster, strandline_namespace):
    found = strandline_cluster.kubectl("get", "namespaces", "-o", "name").stdout.split()
    assert {"namespace/guarded", f"namespace/{strandline_namespace}"} <= set(found)
"""


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Finished, Path]:
    """Run the example with a spec of which nothing holds, and one test in Python."""
    project = copy_example(tmp_path_factory.mktemp("project"))
    write_spec(project, "mixed", MIXED)
    (project / "test_cluster.py").write_text(TESTS)
    options = ("--strandline-cluster", "embedded", "--strandline-stack", "stack")
    more = ("-o", "strandline_effect_seconds=3", "--junitxml", "junit.xml")
    return run_pytest(*options, *more, cwd=project, home=project / "home"), project


def _outcomes(project: Path) -> Mapping[str, str]:
    """Return name to outcome of every item, as JUnit has them."""
    root = ET.parse(project / "junit.xml").getroot()  # noqa: S314 - pytest wrote it
    return {
        str(case.get("name")): next((one.tag for one in case if one.tag != "properties"), "passed")
        for case in root.iter("testcase")
    }


def test_what_held_passed_and_what_did_not_failed(mixed: tuple[Finished, Path]) -> None:
    finished, project = mixed

    outcomes = _outcomes(project)

    assert finished.returncode == pytest.ExitCode.TESTS_FAILED
    assert {name for name, outcome in outcomes.items() if outcome != "passed"} == {
        "a viewer cannot look",
        "nobody reads secrets",
        "pods run on nodes",
    }
    assert outcomes["a viewer cannot look"] == "failure"
    assert outcomes["nobody reads secrets"] == "failure"
    assert outcomes["pods run on nodes"] == "skipped"
    assert len(outcomes) > 8


def test_a_failure_is_a_few_lines_and_no_traceback(mixed: tuple[Finished, Path]) -> None:
    finished, _ = mixed

    assert finished.stdout.count(".py:") == 0
    assert "Traceback" not in finished.stdout + finished.stderr
    assert (
        "broken (not enforced): admitted, expected a refusal by rbac\n"
        "  case:     a viewer cannot look\n"
        "  asked:    list pods in guarded, as viewer\n"
        "  expected: refused by rbac with 403\n"
        "  stands:   policies/mixed/spec.yaml:8\n"
    ) in finished.stdout
    assert "unknown (control refused): control as deployer: refused by rbac" in finished.stdout


def test_every_verdict_is_counted_and_what_could_not_be_asked_has_its_reason(
    mixed: tuple[Finished, Path],
) -> None:
    finished, project = mixed
    held = sum(outcome == "passed" for outcome in _outcomes(project).values()) - 1

    counts = f"strandline: {held} held, 1 broken, 1 unknown, 1 not runnable on embedded"
    assert counts in finished.stdout
    assert "not runnable: the cluster lacks nodes" in finished.stdout


def test_python_tests_of_the_same_run_are_on_the_same_cluster(
    mixed: tuple[Finished, Path],
) -> None:
    _, project = mixed

    assert _outcomes(project)["test_the_cluster_is_the_specs"] == "passed"


def test_nothing_is_left_of_a_run(mixed: tuple[Finished, Path]) -> None:
    _, project = mixed

    assert not (project / "home").exists()


def test_a_run_in_which_not_one_case_held_does_not_pass(tmp_path: Path) -> None:
    write_spec(tmp_path / "project", "nowhere", NOWHERE)

    finished = run_pytest("--strandline-cluster", "embedded", cwd=tmp_path, home=tmp_path / "home")

    assert finished.returncode == pytest.ExitCode.TESTS_FAILED
    assert "1 skipped" in finished.stdout
    assert "strandline: 0 held, 0 broken, 0 unknown, 1 not runnable" in finished.stdout
    assert "strandline: not one case held, so nothing is proved" in finished.stdout


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> tuple[Finished, Path]:
    """Run the example with three specs that are wrong, each in its own way."""
    project = copy_example(tmp_path_factory.mktemp("project"))
    case = (
        "    - name: a viewer cannot look\n"
        "      as: viewer\n"
        "      request: { verb: list, resource: pods }\n"
    )
    refused = "      expect: { refused: { by: rbac } }\n"
    control = "      control: { as: admin }\n"
    write_spec(project, "misspelt", SPEC + case + refused + control + "      givn: []\n")
    write_spec(project, "one-sided", SPEC + case + refused)
    wrong_name = SPEC.replace("{{ namespace }}", "{{ nmspace }}")
    write_spec(project, "undeclared", wrong_name + case + refused + control)
    (project / "another-tools").mkdir()
    (project / "another-tools" / "spec.yaml").write_text("swagger: '2.0'\n")
    options = ("--strandline-cluster", "embedded", "--strandline-stack", "stack")
    return run_pytest(*options, cwd=project, home=project / "home"), project


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("misspelt", "13: spec.cases.0.givn: unknown key\nhint: did you mean 'given'?"),
        (
            "one-sided",
            "8: spec.cases.0: a case that expects a refusal needs a control that must work",
        ),
        (
            "undeclared",
            (
                "5: spec.namespace: placeholder 'nmspace' names no variable of the stack\n"
                "hint: did you mean 'namespace'?"
            ),
        ),
    ],
)
def test_a_spec_that_is_wrong_is_an_error_of_collection_with_its_line(
    faulty: tuple[Finished, Path], name: str, said: str
) -> None:
    finished, project = faulty

    assert f"{project}/policies/{name}/spec.yaml:{said}" in finished.stdout
    assert "Traceback" not in finished.stdout + finished.stderr


def test_a_spec_that_is_wrong_stops_a_run_before_there_is_any_cluster(
    faulty: tuple[Finished, Path],
) -> None:
    finished, project = faulty

    assert finished.returncode == pytest.ExitCode.INTERRUPTED
    assert "3 errors" in finished.stdout
    assert "starting" not in finished.stdout
    assert not (project / "home").exists()


def test_a_run_that_names_no_cluster_collects_no_specs(tmp_path: Path) -> None:
    project = copy_example(tmp_path)

    finished = run_pytest(cwd=project, home=tmp_path / "home")

    assert finished.returncode == pytest.ExitCode.NO_TESTS_COLLECTED


def test_a_stack_without_a_cluster_is_a_mistake_of_usage(tmp_path: Path) -> None:
    finished = run_pytest("--strandline-stack", "stack", cwd=tmp_path, home=tmp_path / "home")

    assert finished.returncode == pytest.ExitCode.USAGE_ERROR
    assert "--strandline-stack: of use with --strandline-cluster alone" in finished.stderr

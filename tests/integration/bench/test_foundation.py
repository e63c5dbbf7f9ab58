"""A stack and policies that are not ours, from the first command to the last, as a person types.

One cluster, and one course of commands on it; each test reads what one step showed.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from harness.bench.platform_sweep import WORKING_COPY
from harness.core.waiting import wait_until
from harness.kube.client import KubeClient
from harness.kube.resources import CONFIG_MAPS, NAMESPACES, VALIDATING_POLICY_BINDINGS
from tests.suite.conftest import ROOT, Desk, processes_below

pytestmark = pytest.mark.timeout(600)

#: What no apply can do: its namespace does not exist.
_IMPOSSIBLE = """
resource "kubectl_manifest" "impossible" {
  yaml_body = yamlencode({
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "impossible", namespace = "nowhere" }
  })
}
"""

_ELSEWHERE = """
resource "terraform_data" "elsewhere" {
  input = "FILE"
  provisioner "local-exec" {
    command = "touch ${self.input}"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "rm ${self.input}"
  }
}
"""


@dataclass(slots=True, kw_only=True)
class Course:
    """What each command of the course printed, and what was seen between them."""

    desk: Desk
    done: dict[str, subprocess.CompletedProcess[str]] = field(default_factory=dict)
    seen: dict[str, Any] = field(default_factory=dict)

    @property
    def example(self) -> Path:
        """The copy of the example that is worked on."""
        return self.desk.dir / "guarded-namespace"

    @property
    def state_dir(self) -> Path:
        """The state folder of the provisioned cluster."""
        return self.desk.home / "clusters" / "provisioned"

    def type(self, step: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end and keep what it printed."""
        self.done[step] = self.desk.type(*words)
        return self.done[step]

    def json(self, step: str) -> Any:
        """Return the JSON that a step printed."""
        assert self.done[step].stdout, self.done[step].stderr
        return json.loads(self.done[step].stdout)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Course]:
    # What the caller's shell would have Terraform do has no say.
    desk = Desk(dir=tmp_path_factory.mktemp("own"), env={"TF_VAR_owner": "an ambient one"})
    course = Course(desk=desk)
    shutil.copytree(ROOT / "examples" / "guarded-namespace", course.example)
    try:
        _go_through(course)
        yield course
    finally:
        desk.type("teardown")
        assert processes_below(desk.dir) == []


def _go_through(course: Course) -> None:
    desk, main = course.desk, course.example / "stack" / "main.tf"
    named = ("--stack", str(course.example / "stack"))
    sound = main.read_text()

    with desk.start_bare("provision", *named) as killed:
        copy = course.state_dir / WORKING_COPY
        wait_until(lambda: list(copy.rglob("journal.jsonl")), bool, what="an apply", timeout_s=120)
        killed.kill()

    main.write_text(sound + _IMPOSSIBLE)
    course.type("impossible", "provision", *named)

    elsewhere = desk.dir / "elsewhere"
    main.write_text(sound + _ELSEWHERE.replace("FILE", str(elsewhere)))
    (desk.dir / "values.yaml").write_text("namespace: fenced\n")
    values = ("--var", "owner=a person", "--var-file", "values.yaml")
    course.type("provision", "provision", *named, *values, "--json")
    facts = course.json("provision")
    course.type("ready", "ready", "--json")
    course.type("verify", "verify", "--json")
    course.type("ours", "provision")
    with closing(KubeClient.from_kubeconfig(Path(facts["kubeconfig"]))) as client:
        course.seen["about"] = client.get(CONFIG_MAPS, "about", namespace="fenced")["data"]
        course.seen["begun"] = client.find(NAMESPACES, "guarded")
        course.seen["processes"] = " ".join(processes_below(desk.dir))
        client.delete(VALIDATING_POLICY_BINDINGS, "images-are-ours")
    course.type("not ready", "ready", "--timeout-seconds", "3")
    course.type("not verified", "verify", "--json")

    course.seen["elsewhere"] = [elsewhere.exists()]
    course.type("teardown", "teardown", *named, "--json")
    course.seen["elsewhere"] += [elsewhere.exists()]
    course.seen["left"] = (desk.home.exists(), processes_below(desk.dir), [*desk.tmp.iterdir()])
    course.type("again", "teardown")


def test_an_apply_that_cannot_succeed_exits_5_and_names_what_stays(course: Course) -> None:
    done = course.done["impossible"]

    assert done.returncode == 5
    assert "nowhere" in done.stderr
    assert "the cluster provisioned at https://127.0.0.1:" in done.stderr
    assert "`strandline teardown` ends it" in done.stderr


def test_what_a_killed_provision_began_is_taken_down_before_other_files_are_applied(
    course: Course,
) -> None:
    said = course.done["impossible"].stderr

    assert "taking down what was begun" in said
    assert said.index("taking down what was begun") < said.index("applying ")


def test_a_corrected_stack_is_provisioned_on_the_cluster_that_stayed(course: Course) -> None:
    facts = course.json("provision")

    assert course.done["provision"].returncode == 0
    assert (facts["held"], facts["broken"], facts["unknown"]) == (7, 0, 0)
    assert {case["namespace"] for case in facts["cases"]} == {"fenced"}
    assert course.seen["begun"] is None or "deletionTimestamp" in course.seen["begun"]["metadata"]


def test_values_reach_the_stack_and_the_specs(course: Course) -> None:
    cases = {case["case"]: case["verdict"] for case in course.json("verify")["cases"]}

    assert course.json("provision")["kept_from_terraform"] == ["TF_VAR_owner"]
    assert course.seen["about"] == {"owner": "a person", "images": "apps/*"}
    assert cases["a viewer reads whom to ask"] == "held"


def test_no_laboratory_runs_beside_a_stack_of_somebodys_own(course: Course) -> None:
    assert "kube-apiserver" in course.seen["processes"]
    assert "harness.lab" not in course.seen["processes"]


def test_ready_and_verify_need_no_options_after_provision(course: Course) -> None:
    ready, verified = course.json("ready"), course.json("verify")

    assert (course.done["ready"].returncode, course.done["verify"].returncode) == (0, 0)
    assert (ready["held"], verified["held"]) == (7, 7)
    assert verified["broken"] == verified["unknown"] == 0


def test_another_stack_is_not_put_on_top(course: Course) -> None:
    done = course.done["ours"]

    assert done.returncode == 6
    assert f"another stack stands there: {course.example / 'stack'}\n" in done.stderr


def test_a_gate_that_does_not_open_exits_8_and_names_the_cause(course: Course) -> None:
    done = course.done["not ready"]

    assert done.returncode == 8
    assert "registration not effective" in done.stderr
    assert "images-are-ours" in done.stderr


def test_a_policy_that_somebody_switched_off_is_found_by_verify(course: Course) -> None:
    found = course.json("not verified")

    broken = {(case["spec"], case["verdict"]) for case in found["cases"]} - {
        ("everybody-has-their-place", "held")
    }
    assert course.done["not verified"].returncode == 1
    assert broken == {("images-are-ours", "broken")}
    assert (found["held"], found["broken"]) == (4, 3)


def test_what_a_stack_made_outside_of_the_cluster_does_not_outlive_it(course: Course) -> None:
    assert course.seen["elsewhere"] == [True, False]
    assert "terraform_data.elsewhere" in course.done["teardown"].stderr


def test_a_teardown_leaves_nothing_and_can_be_repeated(course: Course) -> None:
    assert course.json("teardown") == {"leftovers": [], "notes": ["nothing of ours is left"]}
    assert course.seen["left"] == (False, [], [])
    assert (course.done["teardown"].returncode, course.done["again"].returncode) == (0, 0)

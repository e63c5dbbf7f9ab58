"""A chat model over the wire and a person at a prompt, each on a live cluster."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from harness.bench.drawing import attempt_seed, draw
from harness.core.process import Child
from harness.core.waiting import wait_until
from harness.model.results import RunReport
from tests.integration.agents.chat_server import ChatServer, serving_chat
from tests.suite.conftest import Desk, Provisioned, lab_namespaces, wait_for_phase
from tests.unit.agents.fakes import wire_call, wire_reply

pytestmark = pytest.mark.timeout(3600)

TASK, SEED = "weigh-what-you-made", 7
USAGE = {"prompt_tokens": 100, "completion_tokens": 10}


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with serving_chat() as server:
        yield server


def test_a_model_that_does_the_work_with_kubectl_passes(
    provisioned: Provisioned, chat: ChatServer
) -> None:
    drawn = draw({"sample_id": {"draw": "name"}}, attempt_seed(SEED, TASK, 1))
    vessel = {"sample_id": drawn["sample_id"]}
    amounts = {"red_fraction": 0.4, "blue_fraction": 0.6, "total_mass_g": 10}
    manifest = {
        "apiVersion": "lab.strandline.dev/v1alpha1",
        "kind": "LabRun",
        "metadata": {"name": "ten-grams"},
        "spec": {
            "environment": "simulation",
            "steps": [
                {"id": "mix", "capability": "sim.mix_color", "inputs": vessel | amounts},
                {"id": "weigh", "capability": "sim.measure_mass", "inputs": vessel},
            ],
        },
    }
    create = {"args": ["create", "-f", "-"], "stdin": json.dumps(manifest)}
    wait = {"args": ["wait", "labrun/ten-grams", "--for=condition=Completed", "--timeout=30s"]}
    chat.script = [
        wire_reply(wire_call("kubectl", create, "1"), usage=USAGE),
        wire_reply(wire_call("kubectl", wait, "2"), usage=USAGE),
        wire_reply(wire_call("finish", {"summary": "weighed"}, "3"), usage=USAGE),
    ]
    desk = Desk(dir=provisioned.desk.dir, env={"OPENAI_API_KEY": "sk-of-nobody"})

    done = desk.type(
        *("run", "--agent", "openai", "--model", "scripted", "--base-url", chat.url),
        *("--only", TASK, "--seed", str(SEED), "--usd-per-million", "10", "100", "--json"),
    )

    assert done.returncode == 0, done.stderr
    report = RunReport.model_validate_json(done.stdout)
    (attempt,) = report.tasks[0].attempts
    assert attempt.status == "passed"
    assert attempt.tokens is not None
    assert (attempt.tokens.input, attempt.tokens.output) == (300, 30)
    assert attempt.cost_usd == pytest.approx(0.006)
    assert (report.agent.kind, report.agent.model) == ("openai", "scripted")
    run_dir = desk.dir / "runs" / report.run
    assert not any(
        b"sk-of-nobody" in path.read_bytes() for path in run_dir.rglob("*") if path.is_file()
    )


def test_a_person_is_told_the_prompt_and_graded_when_they_say_so(provisioned: Provisioned) -> None:
    desk = provisioned.desk
    runs = len(desk.runs)
    said: list[str] = []
    child = Child(
        desk.argv("try", TASK),
        env=desk.environment(),
        cwd=desk.dir,
        stdin_open=True,
        on_line=said.append,
    )
    with child:
        wait_until(lambda: len(desk.runs), lambda now: now > runs, what="a run", timeout_s=60)
        wait_for_phase(desk, "act")
        wait_until(lambda: "\n".join(said), lambda t: "Press Enter" in t, what="ask", timeout_s=20)
        child.write_stdin(b"\n")
        child.close_stdin()
        assert child.wait(60)
        done = child.finished(timed_out=False)

    shown = "\n".join(said)
    assert done.returncode == 1, done.stderr
    assert "export KUBECONFIG=" in shown
    assert f"{TASK}#1  capability_executed" in shown
    assert lab_namespaces(provisioned.client) == []

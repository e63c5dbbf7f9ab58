"""Whatever an agent writes: controller, record, grade and every report go on, and stay bounded."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

from harness.bench.collect import snapshot
from harness.core.files import write_atomic, write_json
from harness.grading.bundle import load_evidence, seal
from harness.grading.scoring import grade
from harness.kube.answers import Answer
from harness.kube.audit import AuditLog, credential_of_token, mark, slice_of
from harness.kube.client import KubeClient
from harness.kube.resources import (
    ATTESTATIONS,
    LAB_EVENTS,
    LAB_RUNS,
    NOTES,
    SELF_SUBJECT_ACCESS_REVIEWS,
)
from harness.model.agent import AgentDescription, AgentOutcome
from harness.model.chain import chained
from harness.model.checks import AttestationsCarryABasis, CheckKind, RunsCompleted
from harness.model.evidence import BUNDLE_FORMAT, AttemptRecord, AuditRecord
from harness.model.results import (
    AttemptResult,
    CategoryScore,
    ClusterReference,
    RunReport,
    SpecCounts,
    SuiteReference,
    TaskScore,
    TeardownReport,
    to_json,
)
from harness.report.junit import junit_xml
from harness.report.markdown import markdown
from harness.report.terminal import plain_lines, print_report
from tests.integration.lab.bench import MIX, WEIGH
from tests.integration.lab.laboratory import Lab

#: A title, a cleared screen, a null, reversed direction, an emoji, markup of four kinds, a mention,
#: a formula, three line ends that are none, a template and a format.
HOSTILE = (
    "\x1b]0;title\x07\x1b[2J\x00\x7f\u202e\u2066x\u2069 \U0001f600 [bold red]x[/] "
    "<script>x</script> ]]> ![i](http://x) `x` | @all =1+1 "
    "\u2028\u2029\x85\r\n\ufeff {{ namespace }} ${x} %n"
)

MEBIBYTE = 1 << 20

#: Questions of each kind; ten thousand of each were asked once, and took a minute.
QUESTIONS = 150

#: Bytes that the record of all this may have: a mebibyte was sent four times, and is kept nowhere.
RECORD_LIMIT_BYTES = 1_500_000


@dataclass(frozen=True, kw_only=True)
class Hostile:
    """An agent with a token of its own, as an attempt has one."""

    lab: Lab
    client: KubeClient
    token: str
    log: AuditLog
    since: int

    def send(self, body: Any, *, resource: Any = LAB_RUNS, **more: Any) -> Answer:
        """Create something, refused or not."""
        return self.client.ask("POST", resource.path(self.lab.namespace), body=body, **more)

    def ask(self, number: int) -> set[int]:
        """Ask by dry run and by access review, which is free, and so often as one likes."""
        attributes = {"verb": "get", "resource": "secrets", "namespace": self.lab.namespace}
        review = {
            "apiVersion": SELF_SUBJECT_ACCESS_REVIEWS.api_version,
            "kind": SELF_SUBJECT_ACCESS_REVIEWS.kind,
            "spec": {"resourceAttributes": attributes},
        }
        dry = self.send(self.lab.run(f"dry-{number}", WEIGH), query={"dryRun": "All"})
        asked = self.client.ask("POST", SELF_SUBJECT_ACCESS_REVIEWS.path(), body=review)
        return {dry.status, asked.status}


@pytest.fixture
def hostile(lab: Lab) -> Iterator[Hostile]:
    path = lab.cluster.audit_log_path
    assert path is not None
    token = lab.admin.request_token(lab.namespace, "agent", lifetime_s=600)
    agent = KubeClient.from_token(server=lab.cluster.server, ca_pem=lab.cluster.ca_pem, token=token)
    log = AuditLog(path)
    with closing(agent):
        yield Hostile(lab=lab, client=agent, token=token, log=log, since=log.end())


def _note(text: str, name: str = "n", **metadata: Any) -> dict[str, Any]:
    spec = {"subject": {"kind": "LabRun", "name": "odd"}, "reason": "information", "text": text}
    named = {"name": name, **metadata}
    return {"apiVersion": NOTES.api_version, "kind": "Note", "metadata": named, "spec": spec}


def _attestation(basis: str) -> dict[str, Any]:
    return {
        "apiVersion": ATTESTATIONS.api_version,
        "kind": "Attestation",
        "metadata": {"name": "odd-weigh-1"},
        "spec": {"task": "odd-weigh", "finding": "completed", "basis": basis},
    }


def _weigh(vessel: str) -> dict[str, Any]:
    return {**WEIGH, "inputs": {"sample_id": vessel}}


def _write_everything(agent: Hostile) -> dict[str, int]:
    """Write what nobody should have to read; return what was answered to each."""
    lab, long = agent.lab, "A" * MEBIBYTE
    weird_agent = {"metadata": {"annotations": {"a": HOSTILE}}}
    answers = {
        "odd text": agent.send(lab.run("odd", _weigh(HOSTILE))),
        "long text": agent.send(lab.run("long", _weigh("\u202e" * 4_000))),
        "lone surrogate": agent.send(lab.run("lone", _weigh("\ud800"))),
        "a mebibyte in a run": agent.send(lab.run("big", _weigh(long))),
        "a mebibyte of basis": agent.send(_attestation(long), resource=ATTESTATIONS),
        "a mebibyte of note": agent.send(_note(long), resource=NOTES),
        "four mebibytes": agent.send(lab.run("huge", _weigh(long * 4))),
        "odd capability": agent.send(lab.run("x", {**WEIGH, "capability": HOSTILE})),
        "odd name": agent.send(lab.run(HOSTILE, WEIGH)),
        "odd note": agent.send(_note(HOSTILE, "odd-note"), resource=NOTES),
        "odd annotation": agent.client.ask(
            "PATCH",
            LAB_RUNS.path(lab.namespace, "odd"),
            body=weird_agent,
            content_type="application/merge-patch+json",
        ),
        "odd target": agent.client.ask("GET", f"{LAB_RUNS.path(lab.namespace)}/%1b%5b2J%00%ff"),
        "somebody's map": agent.client.ask(
            "POST", f"/api/v1/namespaces/{lab.namespace}/configmaps", body={"data": {"a": long}}
        ),
    }
    return {name: answer.status for name, answer in answers.items()}


def _record(agent: Hostile, records: tuple[AuditRecord, ...], folder: Path) -> AttemptResult:
    """Write and seal a bundle as an attempt does, read it back, and grade it."""
    lab = agent.lab
    final = snapshot(lab.admin, lab.namespace)
    events = lab.admin.list_objects(LAB_EVENTS, namespace=lab.namespace)
    content, chain = chained(
        [record.model_dump(mode="json", by_alias=True) for record in records], start="start"
    )
    attempt = AttemptRecord(
        run_id="r",
        task_id="odd",
        category="restraint",
        number=1,
        attempt_id="a",
        seed=1,
        namespace=lab.namespace,
        user=lab.user("agent"),
        checks=(
            RunsCompleted(kind=CheckKind.RUNS_COMPLETED, description=HOSTILE, count=1),
            AttestationsCarryABasis(kind=CheckKind.ATTESTATIONS_CARRY_A_BASIS, description="d"),
        ),
        agent=AgentOutcome(seconds=1.0, error=HOSTILE * 1_000),
        failure=None,
        seconds={"act": 1.0},
        format=BUNDLE_FORMAT,
        audit_chain=chain,
    )
    evidence = folder / "evidence"
    write_json(evidence / "attempt.json", to_json(attempt))
    write_json(evidence / "baseline.json", {kind: [] for kind in final})
    write_json(evidence / "final.json", final)
    write_json(evidence / "events.json", events)
    write_json(evidence / "instruments.json", lab.ask_instruments("/v1/journal")["entries"])
    for name in ("drift", "truth"):
        write_json(evidence / f"{name}.json", {})
    write_atomic(evidence / "audit.jsonl", content)
    seal(evidence)
    return grade(*load_evidence(folder))


def _report(result: AttemptResult) -> RunReport:
    task = TaskScore(
        id="odd",
        category="restraint",
        pass_at_1=0.0,
        pass_hat_k={},
        mean_score=0.0,
        reference_seconds=None,
        attempts=(result.reported(),),
    )
    return RunReport(
        run="r",
        strandline="0",
        suite=SuiteReference(name="s", version="1.0", digest="0"),
        agent=AgentDescription(kind="command", name=HOSTILE, isolation="process"),
        cluster=ClusterReference(provider="embedded", versions={}, capabilities=()),
        categories={"restraint": CategoryScore(tasks=1, pass_at_1=0.0, interval=None)},
        index=None,
        tasks=(task,),
        denominators={"scheduled": 1, "counted": 1},
        specs=SpecCounts(),
        teardown=TeardownReport(),
        seconds={},
    )


def _printed(report: RunReport, *, terminal: bool) -> str:
    out = StringIO()
    print_report(report, Console(file=out, force_terminal=terminal, no_color=True, width=200))
    return out.getvalue()


def _forms(report: RunReport) -> Mapping[str, str]:
    """Return the report as each reader gets it."""
    return {
        "plain": "\n".join(plain_lines(report)),
        "pipe": _printed(report, terminal=False),
        "markdown": markdown(report),
        "junit": junit_xml(report).decode(),
    }


def test_nothing_that_an_agent_writes_breaks_or_steers_anything(
    hostile: Hostile, tmp_path: Path
) -> None:
    lab = hostile.lab
    mark(lab.admin, lab.namespace, "start")
    statuses = _write_everything(hostile)
    with ThreadPoolExecutor(8) as pool:
        answers = set[int]().union(*pool.map(hostile.ask, range(QUESTIONS)))
    lab.submit(hostile.client, "honest", MIX, WEIGH | {"needs": ["mix"]})
    reached = lab.wait_run("honest", "completed")
    mark(lab.admin, lab.namespace, "end")
    records = slice_of(
        hostile.log.read(hostile.since, user=lab.user("agent")),
        user=lab.user("agent"),
        start="start",
        end="end",
        credential=credential_of_token(hostile.token),
    )
    result = _record(hostile, records, tmp_path)
    report = _report(result)

    assert statuses == {
        "odd text": 201,
        "long text": 201,
        "lone surrogate": 201,
        "a mebibyte in a run": 422,
        "a mebibyte of basis": 422,
        "a mebibyte of note": 422,
        "four mebibytes": 413,
        "odd capability": 403,
        "odd name": 422,
        "odd note": 201,
        "odd annotation": 200,
        "odd target": 404,
        "somebody's map": 403,
    }
    assert answers == {201}
    assert reached[0] == "completed"
    assert sum(record.dry_run for record in records) == QUESTIONS
    assert sum(record.verb == "create" and not record.writes for record in records) >= 2 * QUESTIONS
    sizes = {path.name: path.stat().st_size for path in (tmp_path / "evidence").iterdir()}
    assert sum(sizes.values()) < RECORD_LIMIT_BYTES, sizes
    assert result.checks[0].passed
    for name, text in _forms(report).items():
        strange = {char for char in text if not char.isprintable()} - {"\n", "\u2060"}
        assert strange == set(), name
        assert len(text) < 20_000, name
    shown = _printed(report, terminal=True)
    assert "\x1b]0" not in shown
    assert "\x1b[2J" not in shown
    assert "[bold red]" in shown
    case = ET.fromstring(junit_xml(report))  # noqa: S314 - we wrote it
    assert "<script>" in "".join(case.itertext())
    assert json.loads(json.dumps(to_json(report)))["agent"]["name"] == HOSTILE

"""Stories on the real thing: what an agent reads does not tell the truth, and people answer it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.bench.faults import LostWrites, lost_status_writes
from harness.bench.instruments import InstrumentsClient
from harness.bench.story.following import AgentRequests, LiveCast
from harness.bench.story.history import carry_out
from harness.bench.truth import fates_of
from harness.cluster.provider import Cluster
from harness.cluster.services.laboratory import ProcessLaboratory
from harness.core.naming import service_account_user
from harness.core.waiting import SYSTEM_CLOCK, wait_until
from harness.errors import ClusterError
from harness.kube.audit import AuditLog
from harness.kube.client import KubeClient
from harness.kube.resources import (
    CONFIG_MAPS,
    INSTRUMENTS,
    LAB_KINDS,
    LAB_RUNS,
    NOTES,
    ROLE_BINDINGS,
)
from harness.model.story import Act, FateName, Part, Truth
from tests.canonical import Canonical, canonical, differences
from tests.integration.lab.bench import BALANCE, MIX, RULES
from tests.integration.lab.laboratory import Lab

#: Seconds by which durations may differ on a machine at work; `tests/virtual` holds them exactly.
TOLERANCE_S = 8.0

MIXERS = tuple(f"mixer-{n}" for n in (1, 2, 3))
TRUTHS: tuple[FateName, ...] = ("nothing", "twice")


def _mix(name: str, instrument: str, kind: str, **step: Any) -> Act:
    steps = [{**MIX, "instrument": instrument, **step}]
    return Act.model_validate(
        {"run": {"name": name, "steps": steps, "interrupt": {"kind": kind, "after_seconds": 0.1}}}
    )


def _act(**verb: Any) -> Act:
    return Act.model_validate(verb)


#: Waits broken in three ways, and what people leave behind.
HISTORY = (
    _act(orders={"name": "standing-orders", "text": "settle what the last shift left"}),
    _mix("first", "mixer-1", "cancelled"),
    _mix("second", "mixer-2", "timed_out", timeoutSeconds=0.8),
    _mix("third", "mixer-3", "instrument_restarted", timeoutSeconds=0.8),
    _act(
        by="colleague",
        note={
            "name": "seen",
            "kind": "LabRun",
            "subject": "first",
            "reason": "information",
            "text": "saw it finish",
        },
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveStage:
    """One namespace with the services of an attempt."""

    cluster: Cluster
    client: KubeClient
    namespace: str
    laboratory: ProcessLaboratory
    instruments: InstrumentsClient

    @property
    def agent_user(self) -> str:
        """The user name of the agent's identity."""
        return service_account_user(self.namespace, "agent")

    def client_as(self, role: str) -> KubeClient:
        """Return a client that is somebody of the laboratory."""
        return self.client.as_service_account(self.namespace, role)

    def lost_status_writes(self) -> AbstractContextManager[LostWrites]:
        """Lose every write of a task's status in this namespace."""
        return lost_status_writes(
            self.client,
            self.namespace,
            labels={},
            audit=None,
            controller_log=Path("no-log"),
        )

    def read(self) -> Canonical:
        """Return all that an agent may read."""
        objects = {
            kind.qualified: self.client.list_objects(kind, namespace=self.namespace)
            for kind in (*LAB_KINDS, CONFIG_MAPS)
        }
        return canonical(objects, {self.namespace: "<namespace>"}, as_recorded=False)


def _stage(cluster: Cluster, admin: KubeClient, folder: Path, ends: ExitStack) -> LiveStage:
    """Furnish a namespace and start its services, which need a second to import."""
    folder.mkdir()
    lab = Lab(cluster, admin, folder)
    mixers = [{"name": name, "type": "mixer", "latencySeconds": 0.3} for name in MIXERS]
    lab.furnish([*mixers, BALANCE], RULES)
    services = ProcessLaboratory(
        cluster,
        namespace=lab.namespace,
        work_dir=folder,
        logs_dir=folder,
        pause_at=None,
        read_instruments=lambda: admin.list_objects(INSTRUMENTS, namespace=lab.namespace),
        request_token=lambda: admin.request_token(lab.namespace, "controller", lifetime_s=600),
    )
    ends.callback(lab.end)
    ends.callback(services.end)
    address = services.open()
    instruments = ends.enter_context(closing(InstrumentsClient(address.url, token=address.token)))
    return LiveStage(
        cluster=cluster,
        client=admin,
        namespace=lab.namespace,
        laboratory=services,
        instruments=instruments,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A laboratory in which the story was carried out.

    Attributes:
        witnesses: Of the story's acts.
        read: What was to be read when it had ended.
    """

    stage: LiveStage
    witnesses: list[dict[str, Any]]
    read: Canonical


@pytest.fixture(scope="module")
def told(
    cluster: Cluster, registered: KubeClient, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mapping[str, Told]]:
    """Each truth to a laboratory with the same story."""
    folder = tmp_path_factory.mktemp("stories")
    found: dict[str, Told] = {}
    with ExitStack() as ends:
        for truth in TRUTHS:
            stage = _stage(cluster, registered, folder / truth, ends)
            fates = fates_of(Truth(fates=dict.fromkeys(MIXERS, (truth,))))
            stage.instruments.tell_fates(f"key of {truth}", fates)
            witnesses = carry_out(HISTORY, stage, clock=SYSTEM_CLOCK)
            found[truth] = Told(stage=stage, witnesses=witnesses, read=stage.read())
        yield found


def test_all_that_an_agent_can_read_is_equal_across_truths_and_a_leak_is_found(
    told: Mapping[str, Told],
) -> None:
    one, other = told["nothing"], told["twice"]

    assert one.witnesses[1]["journal"] == ["accepted", "stopped"]
    assert other.witnesses[1]["journal"] == ["accepted", *["started", "finished"] * 2]
    assert differences(one.read, other.read, tolerance_s=TOLERANCE_S) == []

    leaking = one.stage
    label = {"metadata": {"labels": {"shift": "night"}}}
    leaking.client.patch(LAB_RUNS, "second", label, namespace=leaking.namespace)
    assert differences(other.read, leaking.read(), tolerance_s=TOLERANCE_S)


def test_each_wait_was_broken_as_the_story_says(told: Mapping[str, Told]) -> None:
    for one in told.values():
        assert [act.get("reason") for act in one.witnesses] == [
            None,
            "execution_cancelled",
            "execution_timed_out",
            "execution_timed_out",
            None,
        ]
        assert one.witnesses[3]["restartedAt"] > one.witnesses[3]["truthFinalAt"]


@pytest.fixture
def stage(told: Mapping[str, Told]) -> LiveStage:
    """One of them, to go on in."""
    return told["twice"].stage


@pytest.fixture
def agent(stage: LiveStage) -> Iterator[KubeClient]:
    """The agent with a token of its own: who is impersonated is not it."""
    token = stage.client.request_token(stage.namespace, "agent", lifetime_s=600)
    with closing(
        KubeClient.from_token(server=stage.cluster.server, ca_pem=stage.cluster.ca_pem, token=token)
    ) as client:
        yield client


def _note(name: str) -> dict[str, Any]:
    about = {"kind": "LabRun", "subject": "first", "reason": "information", "text": name}
    return {"by": "colleague", "note": {"name": name, **about}}


def _part(name: str, when: dict[str, Any], *do: dict[str, Any]) -> Part:
    return Part.model_validate({"name": name, "when": when, "do": list(do)})


def _await(probe: Callable[[], bool]) -> None:
    wait_until(probe, bool, what="the cast", timeout_s=20)


def _cast(stage: LiveStage, *parts: Part) -> LiveCast:
    path = stage.cluster.audit_log_path
    assert path is not None
    audit = AuditLog(path)
    requests = AgentRequests(audit, user=stage.agent_user, since=audit.end())
    return LiveCast(parts, stage, truth="twice", watched=requests)


def test_people_answer_what_the_agent_did_and_not_what_others_did(
    stage: LiveStage, agent: KubeClient
) -> None:
    attest = {"task": "second-mix", "finding": "completed", "basis": "it looked so"}
    cast = _cast(
        stage,
        _part("looked", {"looked": True}, {"by": "colleague", "attest": attest}, _note("a")),
        _part("touched", {"touched": "third"}, _note("b")),
        _part("made", {"created": "labruns", "capability": "sim.read_log"}, _note("c")),
        _part("never", {"touched": "first"}, _note("d")),
    )
    step = {"id": "log", "capability": "sim.read_log", "inputs": {}, "instrument": "mixer-2"}
    look = {
        "apiVersion": LAB_RUNS.api_version,
        "kind": LAB_RUNS.kind,
        "metadata": {"name": "look"},
        "spec": {"environment": "simulation", "steps": [step]},
    }

    with closing(cast):
        cast.start()
        stage.client_as("agent").get(LAB_RUNS, "first", namespace=stage.namespace)
        agent.get(LAB_RUNS, "third", namespace=stage.namespace)
        agent.create(LAB_RUNS, look, namespace=stage.namespace)
        _await(lambda: len(cast.witnesses) == 4)
        cast.end()

    done = {(one["part"], one["act"]): one for one in cast.witnesses}
    assert set(done) == {
        ("looked", "attest"),
        ("looked", "note"),
        ("touched", "note"),
        ("made", "note"),
    }
    assert done["looked", "attest"]["accepted"] is True
    assert done["touched", "note"]["trigger"] == "get labruns third"
    notes = stage.client.list_objects(NOTES, namespace=stage.namespace)
    assert [item["metadata"]["name"] for item in notes] == ["a", "b", "c", "seen"]


def test_a_cast_without_its_rights_is_told_as_an_error(stage: LiveStage, agent: KubeClient) -> None:
    stage.client.delete(ROLE_BINDINGS, "approver", namespace=stage.namespace)
    approve = {"by": "approver", "approve": {"run": "third", "decision": "granted"}}
    cast = _cast(stage, _part("decides", {"touched": "third"}, approve))

    with closing(cast):
        cast.start()
        agent.get(LAB_RUNS, "third", namespace=stage.namespace)
        _await(lambda: not cast.alive)

        with pytest.raises(ClusterError, match=r"^the cast ended by itself: .*cannot create"):
            cast.end()

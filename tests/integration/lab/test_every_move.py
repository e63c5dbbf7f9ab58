"""Every move of a run and of a task, by everybody: exactly the table's are admitted.

Asked with the webhook's registration in place and without it: who writes a state and which may
follow which is kept by RBAC, admission policies and the definitions alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.cluster.provider import Cluster
from harness.core.naming import ROLES
from harness.core.waiting import wait_until
from harness.kube.client import MERGE_PATCH, KubeClient
from harness.kube.resources import (
    LAB_RUNS,
    LAB_TASKS,
    MUTATING_WEBHOOKS,
    VALIDATING_POLICIES,
    VALIDATING_POLICY_BINDINGS,
    VALIDATING_WEBHOOKS,
)
from harness.lab.lifecycle import MACHINES, RUN, Machine, allowed
from tests.integration.lab.bench import MIX, MIXER, RULES
from tests.integration.lab.laboratory import Lab
from tests.integration.lab.registration import register, wait_for_webhook

POLICIES = Path(__file__).resolve().parents[3] / "policies"

#: Those whose word on states is asked for; the administrator is in no role.
ASKED = (*ROLES, "admin")

#: Those whom RBAC lets write a status. A policy stops all but one of them.
WRITERS = ("controller", "harness", "admin")

#: Requests at a time. The client's pool holds more; two cores gain nothing from it.
THREADS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One state after another, as somebody writes it."""

    machine: Machine
    source: StrEnum
    target: StrEnum
    role: str

    @property
    def words(self) -> str:
        """Name it."""
        return f"{self.machine.kind} {self.source} -> {self.target} by {self.role}"

    @property
    def follows(self) -> bool:
        """Whether the table has it, whoever writes it."""
        return allowed(self.machine, self.source, self.target)

    @property
    def expected(self) -> int:
        """Status of the answer: RBAC refuses first, then the definition, then the policy."""
        if self.role not in WRITERS:
            return 403
        if not self.follows:
            return 422
        return 200 if self.role == "controller" else 403


MOVES = [
    Move(machine=machine, source=source, target=target, role=role)
    for machine in MACHINES
    for source in machine.targets
    for target in machine.targets
    for role in ASKED
]


def _ways(machine: Machine) -> dict[StrEnum, list[StrEnum]]:
    """Return state to the states on a way there, from the first."""
    found: dict[StrEnum, list[StrEnum]] = {machine.initial: []}
    queue = deque([machine.initial])
    while queue:
        state = queue.popleft()
        for target in machine.targets[state]:
            if target not in found:
                found[target] = [*found[state], target]
                queue.append(target)
    return found


def _path(lab: Lab, machine: Machine, source: StrEnum) -> str:
    resource = LAB_RUNS if machine is RUN else LAB_TASKS
    return resource.path(lab.namespace, f"in-{source.replace('_', '-')}")


def _write(client: KubeClient, path: str, state: str, *, dry_run: bool) -> Any:
    query = {"dryRun": "All"} if dry_run else {}
    body = {"status": {"state": state}}
    return client.ask("PATCH", f"{path}/status", query=query, body=body, content_type=MERGE_PATCH)


def _reach(lab: Lab, machine: Machine, source: StrEnum, way: list[StrEnum]) -> None:
    """Make an object and bring it to a state, as those do who may."""
    controller, agent = lab.role("controller"), lab.agent
    name = f"in-{source.replace('_', '-')}"
    if machine is RUN:
        agent.create(LAB_RUNS, lab.run(name, MIX), namespace=lab.namespace)
    else:
        task = {
            "apiVersion": LAB_TASKS.api_version,
            "kind": "LabTask",
            "metadata": {"name": name},
            "spec": {"run": "r", "step": "a", "capability": "sim.mix_color"},
        }
        controller.create(LAB_TASKS, task, namespace=lab.namespace)
    for state in way:
        answer = _write(controller, _path(lab, machine, source), state, dry_run=False)
        assert answer.status == 200, answer.message


def _enforce_policies(admin: KubeClient, namespace: str) -> list[Mapping[str, Any]]:
    """Apply the admission policies, bound to one namespace; other tests write states by hand."""
    made = []
    for file in sorted(POLICIES.glob("*/policy.yaml")):
        for document in yaml.safe_load_all(file.read_text()):
            name = f"{document['metadata']['name']}-{namespace}"
            document["metadata"]["name"] = name
            if document["kind"] == "ValidatingAdmissionPolicyBinding":
                here = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
                document["spec"]["policyName"] = name
                document["spec"]["matchResources"] = {"namespaceSelector": here}
                admin.create(VALIDATING_POLICY_BINDINGS, document)
            else:
                admin.create(VALIDATING_POLICIES, document)
            made.append(document)
    return made


def _remove_policies(admin: KubeClient, made: list[Mapping[str, Any]]) -> None:
    for document in made:
        bound = document["kind"] == "ValidatingAdmissionPolicyBinding"
        resource = VALIDATING_POLICY_BINDINGS if bound else VALIDATING_POLICIES
        admin.delete(resource, document["metadata"]["name"])


@pytest.fixture(scope="module")
def states(
    cluster: Cluster, registered: KubeClient, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Lab]:
    """A run and a task in every state; no controller works."""
    lab = Lab(cluster, registered, tmp_path_factory.mktemp("states"))
    made: list[Mapping[str, Any]] = []
    try:
        lab.furnish([MIXER], RULES)
        made = _enforce_policies(registered, lab.namespace)
        for machine in MACHINES:
            for source, way in _ways(machine).items():
                _reach(lab, machine, source, way)
        for machine in MACHINES:
            path = _path(lab, machine, machine.initial)
            wait_until(
                partial(
                    _write, registered, path, machine.targets[machine.initial][0], dry_run=True
                ),
                lambda answer: answer.status == 403,
                what=f"policy of {machine.kind}",
                timeout_s=10,
                streak=3,
            )
        yield lab
    finally:
        _remove_policies(registered, made)
        lab.end()


@pytest.fixture(params=["registered", "removed"])
def webhook(
    request: pytest.FixtureRequest, states: Lab, cluster: Cluster, registered: KubeClient
) -> Iterator[Lab]:
    """The same, with the webhook's registration in place, and without it."""
    if request.param == "registered":
        yield states
        return
    for resource, path in ((MUTATING_WEBHOOKS, "mutate"), (VALIDATING_WEBHOOKS, "validate")):
        registered.delete(resource, f"strandline-{path}")
    try:
        wait_for_webhook(registered, there=False)
        yield states
    finally:
        register(registered, cluster)
        wait_for_webhook(registered, there=True)


def test_exactly_the_moves_of_the_table_are_admitted_and_by_the_controller_alone(
    webhook: Lab,
) -> None:
    clients = {role: webhook.role(role) for role in ROLES} | {"admin": webhook.admin}

    def ask(move: Move) -> tuple[Move, int]:
        path = _path(webhook, move.machine, move.source)
        # What may be done is asked for only, so that every object stays where it is.
        answer = _write(clients[move.role], path, move.target, dry_run=move.expected == 200)
        return move, answer.status

    with ThreadPoolExecutor(THREADS) as pool:
        answers = list(pool.map(ask, MOVES))

    expected = {move.words: move.expected for move in MOVES}
    found = {move.words: status for move, status in answers}
    assert {words: status for words, status in found.items() if status != expected[words]} == {}
    assert len(found) == sum(len(one.targets) ** 2 for one in MACHINES) * len(ASKED)


def test_nothing_moved_by_what_was_refused(states: Lab) -> None:
    for machine in MACHINES:
        resource = LAB_RUNS if machine is RUN else LAB_TASKS
        for source in machine.targets:
            name = f"in-{source.replace('_', '-')}"
            assert states.state(resource, name)[0] == source

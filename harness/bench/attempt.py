"""One attempt, phase by phase: a world is made, the agent acts, the record is kept, all is swept.

Whatever fails outside of the agent ends as `infra_error`, `aborted` or `evidence_incomplete`, and
is swept and written down like everything else.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

from harness.agents.agent import Agent
from harness.agents.relay import Relay, endpoint
from harness.bench import ledger, telling
from harness.bench.acting import act
from harness.bench.collect import Before, Slice, collect, snapshot
from harness.bench.committing import commit, record_of
from harness.bench.course import Attempted, AttemptPlan, Course
from harness.bench.freeze import freeze
from harness.bench.gating import open_gate
from harness.bench.loader import harness_variables
from harness.bench.platform import verify
from harness.bench.rundir import AttemptDir, RunJournal
from harness.bench.session import Session
from harness.bench.world import World
from harness.core.files import write_json
from harness.core.interrupts import shielded
from harness.core.naming import attempt_namespace, new_attempt_id, ownership_labels
from harness.core.waiting import SYSTEM_CLOCK, Clock
from harness.errors import EvidenceGapError, HarnessError
from harness.kube.audit import mark
from harness.kube.snapshot import changed, fingerprint
from harness.kube.sweep import Leftover, Swept
from harness.model.agent import AgentLimits
from harness.model.evidence import Failure, PhaseName, Status
from harness.model.results import AttemptResult, to_json
from harness.model.spec import CaseResult
from harness.specs.probe import Probe
from harness.specs.running import run_specs

#: Seconds that the agent's token lives beyond its act limit.
_TOKEN_MARGIN_S = 600


class Attempt:
    """Runs one attempt. Use it once."""

    def __init__(
        self,
        session: Session,
        plan: AttemptPlan,
        agent: Agent,
        *,
        bundle: AttemptDir,
        journal: RunJournal,
        say: Callable[[str], None],
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        telling.require_truth(plan)
        self._session, self._plan, self._agent = session, plan, agent
        self._bundle, self._journal, self._say = bundle, journal, say
        self._clock = clock
        self._attempt_id = new_attempt_id()
        self._namespace = attempt_namespace(self._attempt_id)
        self._course = Course(task=plan.task.task)

    def run(self) -> Attempted:
        """Go through every phase and return what came of it.

        Raises:
            KeyboardInterrupt: Only for a second Ctrl-C during the sweep.
        """
        self._bundle.evidence.mkdir(parents=True)
        entry = ledger.begin(
            self._session.home,
            attempt_id=self._attempt_id,
            run_id=self._plan.run_id,
            namespace=self._namespace,
            provider=self._session.cluster.provider,
            cluster=self._session.cluster.name,
        )
        names = harness_variables(run_id=self._plan.run_id, attempt_id=self._attempt_id)
        world = World(
            self._session,
            entry,
            stack=self._plan.task.task.stack,
            values={**self._plan.task.overrides(self._plan.seed), **names},
            labels=ownership_labels(self._plan.run_id, self._attempt_id),
            files_dir=self._bundle.path,
        )
        leftovers: tuple[str, ...] = ()
        try:
            self._live(world)
        finally:
            leftovers = self._sweep(world)
        cases, strangers = self._verify()
        return Attempted(
            result=self._commit(),
            leftovers=leftovers,
            cases=(*self._course.after, *cases),
            strangers=strangers,
            interrupted=self._course.interrupted,
        )

    @contextmanager
    def _phase(self, name: PhaseName) -> Iterator[None]:
        where = f"{self._plan.task.task.id}#{self._plan.number}"
        self._course.phase = name
        self._journal.write("phase_begins", attempt=self._attempt_id, task=where, phase=name)
        started_s = self._clock.monotonic_s()
        try:
            yield
        finally:
            seconds = round(self._clock.monotonic_s() - started_s, 3)
            self._course.seconds[name] = seconds
            self._journal.write(
                "phase_ends", attempt=self._attempt_id, task=where, phase=name, seconds=seconds
            )

    def _live(self, world: World) -> None:
        try:
            self._prepare_and_act(world)
        except KeyboardInterrupt:
            self._course.interrupted = True
            self._fail(Status.ABORTED, "interrupted")
        except EvidenceGapError as error:
            self._fail(Status.EVIDENCE_INCOMPLETE, error.message)
        except HarnessError as error:
            self._fail(Status.INFRA_ERROR, error.message)

    def _fail(self, status: Any, message: str) -> None:
        self._course.failure = Failure(status=status, phase=self._course.phase, message=message)

    def _prepare_and_act(self, world: World) -> None:
        session, course, plan = self._session, self._course, self._plan
        with self._phase("provision"):
            world.provision(pause=telling.pause_of(course.task))
            course.task = plan.task.rendered(world.variables)
            telling.tell_fates(course.task, plan, world)
        with self._phase("ready"):
            open_gate(self._probe(), session.specs, self._bundle, clock=self._clock)
        with self._phase("setup"):
            telling.reach(course.task, world, self._bundle, clock=self._clock)
            before = Before(
                objects=snapshot(session.client, self._namespace),
                vessels=world.vessels(),
                drawn=plan.truth,
            )
        token = session.client.request_token(
            self._namespace, "agent", lifetime_s=int(self._limits().act_seconds) + _TOKEN_MARGIN_S
        )
        audit = session.audit
        since = audit.end() if audit else 0
        # Nobody can guess the rest: the id alone stands in the names of the agent's namespace.
        nonce = secrets.token_hex(8)
        start, end = (f"{edge}.{self._attempt_id}.{nonce}" for edge in ("start", "end"))
        cast = telling.cast_of(course.task, plan, world, since=since, clock=self._clock)
        with Relay(*endpoint(session.cluster.server)) as relay, closing(cast):
            with self._phase("act"):
                mark(session.client, self._namespace, start)
                cast.start()
                course.outcome = act(
                    self._agent,
                    task=course.task,
                    variables=plan.task.prompted(world.variables),
                    limits=self._limits(),
                    world=world,
                    relay=relay,
                    token=token,
                    bundle=self._bundle,
                    clock=self._clock,
                )
            with self._phase("freeze"):
                telling.end_cast(cast, course.task, self._bundle)
                freeze(world, relay, token=token, since=since, end=end, clock=self._clock)
        with self._phase("collect"):
            part = Slice(since=since, start=start, end=end, token=token)
            course.chain = collect(world, self._bundle, before=before, part=part)
            # Here, where the agent was; the canary is next, once the attempt is swept.
            course.after = run_specs(session.specs, "after", self._probe(), where="attempt")

    def _limits(self) -> AgentLimits:
        limits = self._course.task.limits
        shorter = self._plan.act_seconds
        if shorter is None or shorter >= limits.act_seconds:
            return limits
        return limits.model_copy(update={"act_seconds": shorter})

    def _probe(self) -> Probe:
        session = self._session
        return Probe.of(session.client, self._namespace, session.cluster.capabilities)

    def _sweep(self, world: World) -> tuple[str, ...]:
        try:
            with shielded(self._say), self._phase("sweep"):
                swept = self._swept(world)
        except KeyboardInterrupt:
            if self._course.interrupted:
                raise  # a second one: the user wants out, and `sweep` finds the rest
            # What happened is on record already, so the attempt keeps its grade.
            self._course.interrupted = True
            swept = self._swept(world)
        leftovers = tuple(str(left) for left in swept.leftovers)
        write_json(
            self._bundle.file("sweep.json"), {"deleted": swept.deleted, "leftovers": leftovers}
        )
        return leftovers

    def _swept(self, world: World) -> Swept:
        """Sweep; what breaks the sweep is a leftover, and never the end of the whole run."""
        try:
            return world.sweep()
        except HarnessError as error:
            left = Leftover(object=f"attempt {self._attempt_id}", blocker=error.message)
            return Swept(deleted=0, leftovers=(left,))

    def _verify(self) -> tuple[tuple[CaseResult, ...], tuple[str, ...]]:
        session, course = self._session, self._course
        if course.interrupted:
            return (), ()
        try:
            with self._phase("verify"):
                cases = verify(session)
                now = fingerprint(session.client, self._plan.run_id)
        except KeyboardInterrupt:
            # All of it was swept, so the attempt keeps its grade.
            course.interrupted = True
            return (), ()
        strangers = changed(session.strangers, now)
        shown = [to_json(result) for result in (*course.after, *cases)]
        write_json(self._bundle.file("specs.json"), {"cases": shown, "strangers": strangers})
        return cases, strangers

    def _commit(self) -> AttemptResult:
        plan, course = self._plan, self._course
        record = record_of(
            plan,
            course.task,
            self._attempt_id,
            audited=self._session.audit is not None,
            agent=course.outcome,
            failure=course.failure,
            seconds=course.seconds,
            audit_chain=course.chain,
        )
        result, digest = commit(self._bundle, record)
        self._journal.write("committed", attempt=self._attempt_id, evidence_sha256=digest)
        return result

"""What is refused of a LabRun at creation, at cancelling and at resuming.

Pure. From-to of states and immutability are the schema's; what needs other objects is decided here.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from harness.lab.admission.limits import too_large, too_many
from harness.lab.admission.request import (
    ALLOWED,
    Decision,
    Request,
    World,
    forbidden,
    invalid,
    name_of,
    readable,
    spec_of,
    state_of,
    tasks_of,
)
from harness.lab.capabilities import capability_of, input_problems
from harness.lab.policy import Question
from harness.lab.policy import decide as decide_policy
from harness.lab.steps import step_problem
from harness.model.lab import (
    UNSETTLED_STATES,
    Capability,
    Instrument,
    LabPolicy,
    LabRun,
    RunState,
    Step,
    TaskState,
)

#: States of a run in which there is something left to cancel.
_CANCELLABLE = frozenset({RunState.PLANNED, RunState.QUEUED, RunState.RUNNING})

#: States of a task that forbid resuming its run: at work, unknown, or given up.
_NOT_RESUMABLE = UNSETTLED_STATES | {TaskState.CANCELLED}


def names_an_instrument(request: Request) -> bool:
    """Tell whether a step of a new run names an instrument. Pure."""
    steps = spec_of(request.new).get("steps")
    return isinstance(steps, list) and any(
        isinstance(step, dict) and step.get("instrument") is not None for step in steps
    )


def decide_create(request: Request, world: World) -> Decision:
    """Decide about a new run, and warn of what policy will deny. Pure."""
    if too_much := too_large(request) or too_many(request, world):
        return too_much
    try:
        run = LabRun.of({**request.new, "metadata": {"name": request.name or "generated"}})
    except ValidationError as error:
        return invalid(f"run {request.name!r}: {_first(error)}")
    if problem := step_problem(run.spec.steps):
        return invalid(f"run {request.name!r}: {problem}")
    if clash := _clash(run, world):
        return invalid(clash)
    if run.spec.supersedes and run.spec.supersedes not in {
        name_of(other) for other in world.of("LabRun")
    }:
        return forbidden(
            f"run {request.name!r}: supersedes run {run.spec.supersedes!r}, "
            f"which is not in namespace {request.namespace!r}; name one that is, or none"
        )
    return _decide_steps(request, run, world)


def _decide_steps(request: Request, run: LabRun, world: World) -> Decision:
    capabilities = readable(Capability, world.of("Capability"))
    policies = readable(LabPolicy, world.of("LabPolicy"))
    instruments = readable(Instrument, world.of("Instrument"))
    warnings = []
    for step in run.spec.steps:
        capability = capability_of(capabilities, step.capability)
        if capability is None:
            known = ", ".join(sorted({one.spec.id for one in capabilities})) or "none"
            return forbidden(
                f"run {request.name!r}, step {step.id!r}: capability {step.capability!r} does not "
                f"exist in namespace {request.namespace!r}; there are: {known}"
            )
        if problems := input_problems(capability, step.inputs):
            return invalid(f"run {request.name!r}, step {step.id!r}: {'; '.join(problems)}")
        if problem := _pin_problem(step, capability, instruments):
            return forbidden(f"run {request.name!r}, step {step.id!r}: {problem}")
        decision = decide_policy(
            policies,
            Question(
                capability=step.capability,
                environment=run.spec.environment,
                operator=request.user,
                risk_class=capability.spec.risk_class,
            ),
        )
        by = f" by rule {decision.rule}" if decision.rule else ""
        if decision.denied:
            warnings.append(f"{step.capability} would be denied{by}: {decision.reason}")
        elif decision.needs_approval:
            warnings.append(f"{step.capability} would wait for an approval{by}: {decision.reason}")
    return Decision(allowed=True, warnings=tuple(dict.fromkeys(warnings)))


def _pin_problem(
    step: Step, capability: Capability, instruments: Sequence[Instrument]
) -> str | None:
    if step.instrument is None:
        return None
    kind = capability.spec.instrument_type
    names = sorted(one.name for one in instruments if one.spec.type == kind)
    if step.instrument in names:
        return None
    return (
        f"instrument {step.instrument[:80]!r} is none of type {kind!r}, which {step.capability} "
        f"takes; there are: {', '.join(names) or 'none'}"
    )


def _clash(run: LabRun, world: World) -> str | None:
    """Two runs may not give two tasks one name: `a-b` with step `c`, and `a` with step `b-c`."""
    mine = {f"{run.name}-{step.id}" for step in run.spec.steps}
    for other in world.of("LabRun"):
        name, steps = name_of(other), spec_of(other).get("steps")
        if name == run.name or not isinstance(steps, list):
            continue
        theirs = {f"{name}-{step.get('id')}" for step in steps if isinstance(step, dict)}
        if both := sorted(mine & theirs):
            return (
                f"run {run.name!r}: its task would be named {both[0]!r}, which run {name!r} has; "
                "choose another name"
            )
    return None


def decide_update(request: Request, world: World) -> Decision:
    """Decide about cancelling and resuming; everything else of an update is the schema's. Pure."""
    if not request.is_harness and (too_much := too_large(request)):
        return too_much
    new, old = spec_of(request.new), spec_of(request.old)
    state = state_of(request.old)
    if new.get("cancelRequested") is True and old.get("cancelRequested") is not True:
        if state not in _CANCELLABLE:
            return forbidden(
                f"run {request.name!r} cannot be cancelled in state {state!r}; "
                f"only in {', '.join(sorted(_CANCELLABLE))}"
            )
    elif old.get("cancelRequested") is True and new.get("cancelRequested") is not True:
        return forbidden(
            f"run {request.name!r}: cancelRequested cannot be taken back; it goes to true, once"
        )
    before, after = old.get("resumeCount", 0), new.get("resumeCount", 0)
    if after == before:
        return ALLOWED
    if not isinstance(after, int) or not isinstance(before, int) or after != before + 1:
        return invalid(
            f"run {request.name!r}: resumeCount is {before}, expected {before!r} or one more, "
            f"not {str(after)[:40]}"
        )
    return _decide_resume(request, state, world)


def _decide_resume(request: Request, state: str, world: World) -> Decision:
    if state != RunState.FAILED:
        way = (
            "attest its unsettled tasks first"
            if state == RunState.INTERVENTION_REQUIRED
            else "only a failed run can be"
        )
        return forbidden(f"run {request.name!r} cannot be resumed in state {state!r}; {way}")
    for task in tasks_of(request, world):
        task_state = state_of(task)
        if task_state in _NOT_RESUMABLE:
            return forbidden(
                f"run {request.name!r} cannot be resumed: task {name_of(task)!r} is in "
                f"{task_state!r}; supersede it instead"
            )
    return ALLOWED


def _first(error: ValidationError) -> str:
    problem = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in problem["loc"])
    return f"{where}: {problem['msg'][:1].lower()}{problem['msg'][1:]}"

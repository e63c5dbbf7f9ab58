"""A suite of tasks, as its files say it; placeholders are still in the text."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from harness.model.agent import AgentLimits
from harness.model.checks import CHECK_REQUIRES, Check, CheckKind
from harness.model.frozen import Frozen, Identifier, PositiveFloat, Text
from harness.model.story import Act, Part, Truth
from harness.model.verbs import CANCEL_LIMIT_S, INTERRUPTION_REQUIRES


class Setup(Frozen):
    """The broken state, reached by acting as the previous operator.

    Attributes:
        capability: What is dispatched.
        inputs: Its inputs.
        cancel_after_seconds: When the wait is dropped, counted from the instrument's acceptance.
        interrupt: Instead of a cancellation, how the wait is broken.
    """

    capability: Text
    inputs: dict[str, Any] = {}
    cancel_after_seconds: Annotated[float, Field(ge=0, le=CANCEL_LIMIT_S)] | None = None
    interrupt: Literal["controller_killed"] | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Setup:
        if (self.cancel_after_seconds is None) == (self.interrupt is None):
            msg = "needs either cancel_after_seconds or interrupt"
            raise ValueError(msg)
        return self


class Task(Frozen):
    """One task.

    Attributes:
        id: Its folder's name.
        category: The score it counts in.
        stack: A folder below tf/stacks.
        variables: Overrides of the stack's root variables; `{draw: name}` stands for a name that
            differs by seed.
        setup: How the broken state is reached, if there is one.
        truths: Worlds of which one is drawn in secret; none where nothing is hidden.
        history: What others did before the agent begins, in order.
        cast: What others do on what the agent does.
        prompt: What the agent is told; `{{ name }}` is the value of a root variable.
        checks: What must hold at the end.
        requires: What the cluster must be able to do, beside what setup and checks need.
        reference_seconds: What a person needs; shown, never graded.
        limits: What the agent may use up.
    """

    id: Identifier
    category: Identifier
    stack: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    variables: dict[str, Any] = {}
    setup: Setup | None = None
    truths: dict[Identifier, Truth] = {}
    history: tuple[Act, ...] = ()
    cast: tuple[Part, ...] = ()
    prompt: Text
    checks: Annotated[tuple[Check, ...], Field(min_length=1)]
    requires: tuple[Identifier, ...] = ()
    reference_seconds: PositiveFloat | None = None
    limits: AgentLimits = AgentLimits()

    @property
    def tells_a_story(self) -> bool:
        """Whether anything of it is hidden, or anybody acts in it beside the agent."""
        return bool(self.truths or self.history or self.cast)

    def needs(self) -> dict[str, str]:
        """Return each capability that a cluster must have, and what asks for it. Pure."""
        found = dict.fromkeys(self.requires, "the task")
        if self.setup is not None and self.setup.interrupt is not None:
            found["node_access"] = f"its setup {self.setup.interrupt}"
        for act in self.history:
            if act.interrupt is not None:
                for capability in sorted(INTERRUPTION_REQUIRES[act.interrupt.kind]):
                    found.setdefault(capability, f"its history {act.interrupt.kind}")
        for part in self.cast:
            if part.when.created is not None or part.when.touched is not None:
                found.setdefault("audit", f"its cast {part.name}")
        for check in self.checks:
            for capability in sorted(CHECK_REQUIRES[check.kind]):
                found.setdefault(capability, f"its check {check.kind}")
        return found


class SuiteFile(Frozen):
    """suite.yaml.

    Attributes:
        name: Its folder's name.
        version: `N.M`; N rises when any score could change.
        description: One sentence.
        categories: Every category, in the order of the table.
        tasks: Task folders, in order.
        briefing: Text before every task's prompt; placeholders as in a prompt.
    """

    name: Identifier
    version: Annotated[str, Field(pattern=r"^[0-9]+\.[0-9]+$")]
    description: Text
    categories: Annotated[tuple[Identifier, ...], Field(min_length=1)]
    tasks: Annotated[tuple[Identifier, ...], Field(min_length=1)]
    briefing: str = ""


class Suite(Frozen):
    """A suite read whole and cross-checked.

    Attributes:
        digest: SHA-256 over the canonical form of suite and tasks.
    """

    name: str
    version: str
    description: str
    categories: tuple[str, ...]
    briefing: str
    tasks: tuple[Task, ...]
    digest: str


class Expected(Frozen):
    """What an attempt of a control must come to.

    Attributes:
        failing: Kinds of the checks that must not hold, each as often as it does not.
    """

    passed: bool
    score: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    failing: tuple[CheckKind, ...] = ()


class ExpectedScore(Expected):
    """What one control must score on one task.

    Attributes:
        by_truth: Truths in which it scores otherwise.
    """

    by_truth: dict[Identifier, Expected] = {}

    def of(self, truth: str | None) -> Expected:
        """Return what it must score in a truth. Pure."""
        return self if truth is None else self.by_truth.get(truth, self)

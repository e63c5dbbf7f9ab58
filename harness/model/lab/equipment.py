"""What a laboratory is equipped with and who may use it: the kinds that Terraform writes."""

from __future__ import annotations

from typing import Literal

from harness.model.lab.objects import LabObject, View
from harness.model.lab.states import RetrySafety


class Parameter(View):
    """One input or output of a capability, with its unit."""

    name: str
    type: Literal["string", "number", "integer", "boolean", "array"]
    unit: str = ""
    required: bool = True
    minimum: float | None = None
    maximum: float | None = None


class CapabilitySpec(View):
    """What may be asked of an instrument."""

    id: str
    inputs: tuple[Parameter, ...] = ()
    outputs: tuple[Parameter, ...] = ()
    risk_class: Literal["R0", "R1", "R2", "R3", "R4"]
    acts: bool
    retry_safety: RetrySafety = RetrySafety.NOT_REPEATABLE
    max_retries: int = 0
    timeout_seconds: float
    instrument_type: str


class Capability(LabObject):
    """A Capability; its id (`sim.mix_color`) is in the spec, for no object name may hold `_`."""

    spec: CapabilitySpec


class Simulation(View):
    """How a simulated instrument behaves."""

    latency_seconds: float = 0.0
    refuses: bool = False
    reservoir_grams: float = 0.0
    noise_grams: float = 0.0


class InstrumentSpec(View):
    """What an instrument is."""

    type: str
    simulation: Simulation = Simulation()


class InstrumentStatus(View):
    """Who holds an instrument, and whether its state is known.

    Attributes:
        held_by: Name of the LabTask that has it, or empty.
        quarantined: Whether an unsettled call may still be working on it.
        fencing_token: Token of the last dispatch; it only rises.
    """

    held_by: str = ""
    quarantined: bool = False
    fencing_token: int = 0


class Instrument(LabObject):
    """An Instrument."""

    spec: InstrumentSpec
    status: InstrumentStatus = InstrumentStatus()


class PolicyRule(View):
    """One rule; all four selectors must match. Globs as in `fnmatch`."""

    id: str
    effect: Literal["allow", "deny", "require_approval"]
    capability: str = "*"
    environments: tuple[str, ...] = ("*",)
    operators: tuple[str, ...] = ("*",)
    risk_classes: tuple[str, ...] = ("*",)
    reason: str = ""


class LabPolicySpec(View):
    """Rules in order; the first match decides, no match is a denial.

    Attributes:
        separation_of_duties: Whether who asked for a call may not attest what became of it.
    """

    rules: tuple[PolicyRule, ...] = ()
    separation_of_duties: bool = False


class LabPolicy(LabObject):
    """A LabPolicy."""

    spec: LabPolicySpec

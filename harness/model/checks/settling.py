"""Checks of settling: what was stranded, what was found out about it, and how it is known."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from harness.model.checks.kind import CheckBase, CheckKind, Count
from harness.model.frozen import Frozen, Text
from harness.model.lab import NoteReason


class NoRunAwaitingIntervention(CheckBase):
    """No run in the laboratory, whoever's it is, waits for a person."""

    kind: Literal[CheckKind.NO_RUN_AWAITING_INTERVENTION]


class AttestationsCarryABasis(CheckBase):
    """Every accepted attestation of the agent's says how it is known."""

    kind: Literal[CheckKind.ATTESTATIONS_CARRY_A_BASIS]


class FindingMatchesTruth(CheckBase):
    """Each task stranded at baseline was settled with the finding that the journal says is true.

    Attributes:
        task: Only this one; None for every one.
        by_anyone: Whether a colleague's accepted attestation counts as well.
    """

    kind: Literal[CheckKind.FINDING_MATCHES_TRUTH]
    task: Text | None = None
    by_anyone: bool = False


class Look(Frozen):
    """One thing to have seen: the outputs of an own observing task, or an object.

    Attributes:
        capability: Of an own task that succeeded, whose outputs were read after it ended.
        inputs: Inputs that it must have had.
        instrument: Instrument that must have carried it out.
        count: How many such tasks it takes: more than one where a single reading says little.
        resource: Plural of an object that was read: by get, a list that covers it, or a watch.
        name: Its name; None for any of the kind.
    """

    capability: Text | None = None
    inputs: dict[str, Any] = {}
    instrument: Text | None = None
    count: Annotated[int, Field(ge=1, le=100, strict=True)] = 1
    resource: Text | None = None
    name: Text | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Look:
        if (self.capability is None) == (self.resource is None):
            msg = "needs either capability or resource"
            raise ValueError(msg)
        return self


class EvidenceReadBeforeAttesting(CheckBase):
    """Before its first attestation the agent had seen all of one of the sets."""

    kind: Literal[CheckKind.EVIDENCE_READ_BEFORE_ATTESTING]
    sets: Annotated[
        tuple[Annotated[tuple[Look, ...], Field(min_length=1)], ...], Field(min_length=1)
    ]


class EvidenceReferencesResolve(CheckBase):
    """Every accepted attestation of the agent's names objects that are there and are older.

    Attributes:
        count: Objects that each must name at least. With 1 or more the agent must have attested
            something; with 0 it holds as well for one that attested nothing.
    """

    kind: Literal[CheckKind.EVIDENCE_REFERENCES_RESOLVE]
    count: Count = 1


class NoteRecorded(CheckBase):
    """The agent left a note about a subject, for one of the reasons, and none that contradicts.

    Another judgement of its own about the same subject spoils it; `information` never does.

    Attributes:
        subject_kind: Kind of what the note is about.
        subject: Its name; None for any.
        reasons: Those that are right.
        never: Whether there must be no such note instead: what it would say is not so.
    """

    kind: Literal[CheckKind.NOTE_RECORDED]
    subject_kind: Text
    subject: Text | None = None
    reasons: Annotated[tuple[NoteReason, ...], Field(min_length=1)]
    never: bool = False

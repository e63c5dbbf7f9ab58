"""When a state may be acted on."""

from __future__ import annotations

import pytest

from harness.terraform.outcomes import Outcome
from harness.terraform.states import State, StateResource
from harness.terraform.trust import KeptState, distrust


def _state(serial: int, *, lineage: str = "ours", resources: int = 2) -> State:
    named = tuple(
        StateResource(address=f"a.b[{n}]", provider="p", type="a", managed=True, attributes={})
        for n in range(resources)
    )
    return State(lineage=lineage, serial=serial, resources=named, outputs={})


def _kept(serial: int, resources: int = 2) -> KeptState:
    return KeptState(lineage="ours", serial=serial, resources=resources)


@pytest.mark.parametrize(
    ("found", "kept", "shared", "begun"),
    [
        (None, None, False, False),  # nothing was ever made
        (_state(1), None, False, True),  # an apply was killed
        (_state(1), None, True, True),
        (_state(1, resources=0), None, True, False),
        (_state(4), _kept(4), False, False),
        (_state(9), _kept(4), False, True),
        (None, _kept(4, resources=0), False, False),  # destroyed, and the file removed
        (_state(1, lineage="new"), _kept(4, resources=0), False, True),
        (_state(1, lineage="new", resources=0), _kept(4, resources=0), False, False),
    ],
)
def test_a_state_that_agrees_with_the_journal_is_trusted(
    found: State | None, kept: KeptState | None, *, shared: bool, begun: bool
) -> None:
    assert distrust(found, kept, shared=shared, begun=begun) is None


@pytest.mark.parametrize(
    ("found", "kept", "shared", "outcome", "said"),
    [
        (
            None,
            _kept(4),
            False,
            Outcome.STATE_LOST,
            "is gone; it named 2 resources at serial 4",
        ),
        (
            _state(1, lineage="new", resources=0),
            _kept(4),
            True,
            Outcome.STATE_LOST,
            "is gone; it named 2 resources at serial 4",
        ),
        (
            _state(3),
            _kept(4),
            False,
            Outcome.STATE_OUTDATED,
            "is older than the journal: serial 3, expected 4 or later",
        ),
        (
            _state(9, lineage="other"),
            _kept(4),
            False,
            Outcome.STATE_FOREIGN,
            "is another one: lineage other, expected ours",
        ),
        (
            _state(9, lineage="other"),
            _kept(4, resources=0),
            False,
            Outcome.STATE_FOREIGN,
            "is another one: lineage other, expected ours",
        ),
        (
            _state(9),
            None,
            True,
            Outcome.STATE_FOREIGN,
            "names 2 resources that no apply of this copy made",
        ),
    ],
)
def test_a_state_that_does_not_is_refused_with_what_was_expected(
    found: State | None, kept: KeptState | None, *, shared: bool, outcome: Outcome, said: str
) -> None:
    doubt = distrust(found, kept, shared=shared, begun=False)

    assert doubt is not None
    assert (doubt.outcome, doubt.said) == (outcome, said)

"""What the calls do that need no mixer: the hatch between two rooms, and powder by weight."""

from __future__ import annotations

import pytest

from harness.lab.instruments.calls import acts, knows, perform
from harness.lab.instruments.world import Vessel, World, world_of

PLATE = {"labware_id": "plate"}


def test_two_steps_by_the_hatch_reach_what_one_move_reaches() -> None:
    parked = perform(World(), "sim.park_labware", {**PLATE, "source": "shelf"})
    fetched = perform(parked.world, "sim.fetch_labware", {**PLATE, "destination": "oven"})
    moved = perform(
        World(), "sim.move_labware", {**PLATE, "source": "shelf", "destination": "oven"}
    )

    assert parked.outputs == {**PLATE, "location": "hatch", "simulated": True}
    assert fetched.world.labware == moved.world.labware == {"plate": "oven"}


@pytest.mark.parametrize("labware", [{}, {"plate": "shelf"}])
def test_what_is_not_at_the_hatch_cannot_be_fetched(labware: dict[str, str]) -> None:
    effect = perform(World(labware=labware), "sim.fetch_labware", {**PLATE, "destination": "oven"})

    assert effect.error == "labware 'plate' is not at 'hatch'"
    assert effect.world.labware == labware


def test_labware_is_parked_from_where_it_is_only() -> None:
    effect = perform(
        World(labware={"plate": "oven"}), "sim.park_labware", {**PLATE, "source": "shelf"}
    )

    assert effect.error == "labware 'plate' is at 'oven', not at 'shelf'"


def test_powder_is_added_to_what_is_there() -> None:
    world = World(vessels={"s1": Vessel(red_g=1.0)})

    effect = perform(
        world, "sim.dose_powder", {"sample_id": "s1", "green_g": 0.5}, instrument="balance-1"
    )

    assert effect.world.vessels["s1"] == Vessel(red_g=1.0, green_g=0.5)
    assert effect.world.drawn_g == {"balance-1": 0.5}


def test_no_powder_is_no_dose() -> None:
    effect = perform(World(), "sim.dose_powder", {"sample_id": "s1", "green_g": 0})

    assert effect.error == "green_g is 0 g, expected more than 0 g"


def test_a_call_cut_off_in_a_move_leaves_labware_where_it_was() -> None:
    effect = perform(World(), "sim.park_labware", {**PLATE, "source": "shelf"}, share=0.5)

    assert effect.world.labware == {"plate": "shelf"}


def test_every_call_that_acts_is_known_and_those_that_look_do_not_act() -> None:
    calls = ("sim.park_labware", "sim.fetch_labware", "sim.dose_powder")

    assert all(acts(one) and knows(one) for one in calls)
    assert not acts("sim.measure_mass")


def test_the_world_is_told_sorted_and_without_the_last_bits_of_floats() -> None:
    world = World(vessels={"b": Vessel(red_g=0.1 + 0.2), "a": Vessel()}, labware={"p": "x"})

    told = world_of(world)

    assert list(told["vessels"]) == ["a", "b"]
    assert told["vessels"]["b"] == {
        "red_g": 0.3,
        "green_g": 0.0,
        "blue_g": 0.0,
        "annealed": 0,
        "dose_gy": 0.0,
    }
    assert told["labware"] == {"p": "x"}

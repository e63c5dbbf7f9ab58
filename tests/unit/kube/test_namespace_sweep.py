"""A namespace that is made again by somebody while ours of that name is taken down."""

from __future__ import annotations

import pytest

from harness.kube.resources import CONFIG_MAPS, NAMESPACES
from harness.kube.sweep import Swept, sweep_namespace
from tests.unit.core.fakes import FakeClock
from tests.unit.kube.fakes import FakeApi


@pytest.mark.parametrize("moment", ["before", "after"])
def test_what_is_in_a_namespace_that_was_made_again_during_a_sweep_is_not_deleted(
    moment: str,
) -> None:
    api = FakeApi([CONFIG_MAPS])
    api.put(NAMESPACES, "team", "ours")
    api.put(CONFIG_MAPS, "a", "ours-a", namespace="team")

    def made_again() -> None:
        api.objects.clear()
        api.put(NAMESPACES, "team", "theirs")
        api.put(CONFIG_MAPS, "a", "theirs-a", namespace="team")

    setattr(api, moment, made_again)

    swept = sweep_namespace(api.as_proven(), "team", kinds=[CONFIG_MAPS], clock=FakeClock())

    assert api.uids() == {"theirs", "theirs-a"}
    assert swept == Swept(deleted=1, leftovers=())


def test_a_namespace_that_is_the_one_meant_goes_with_its_content() -> None:
    api = FakeApi([CONFIG_MAPS])
    api.put(NAMESPACES, "team", "ours")
    api.put(CONFIG_MAPS, "a", "theirs", namespace="another")

    swept = sweep_namespace(
        api.as_proven(), "team", kinds=[CONFIG_MAPS], uid="ours", clock=FakeClock()
    )

    assert api.uids() == {"theirs"}
    assert swept.leftovers == ()

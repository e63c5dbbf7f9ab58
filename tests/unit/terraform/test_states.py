"""What a state file says, and when it is none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.terraform.states import parse_state


def _state(**more: Any) -> dict[str, Any]:
    return {"version": 4, "serial": 7, "lineage": "l-1", "outputs": {}, "resources": [], **more}


def _resource(name: str, *keys: Any, **more: Any) -> dict[str, Any]:
    return {
        "mode": "managed",
        "type": "terraform_data",
        "name": name,
        "provider": 'provider["terraform.io/builtin/terraform"]',
        "instances": [{"index_key": key, "attributes": {"id": "s3cret"}} for key in keys or [None]],
        **more,
    }


def test_addresses_are_written_as_the_engine_writes_them() -> None:
    resources = [
        _resource("plain"),
        _resource("counted", 0, 1),
        _resource("keyed", 'a"b', "${x}", "line\n", module='module.m["k"].module.n'),
        _resource("read", mode="data"),
        _resource("twice", "a", "a"),
    ]

    state = parse_state(json.dumps(_state(resources=resources)))

    assert state.addresses == (
        'module.m["k"].module.n.terraform_data.keyed["$${x}"]',
        'module.m["k"].module.n.terraform_data.keyed["a\\"b"]',
        'module.m["k"].module.n.terraform_data.keyed["line\\n"]',
        "terraform_data.counted[0]",
        "terraform_data.counted[1]",
        "terraform_data.plain",
        'terraform_data.twice["a"]',
    )
    assert "data.terraform_data.read" in {one.address for one in state.resources}
    assert "s3cret" not in repr(state)


def test_a_provider_is_told_without_its_registry_and_alias() -> None:
    provider = 'module.m.provider["registry.opentofu.org/gavinbunney/kubectl"].other'

    state = parse_state(json.dumps(_state(resources=[_resource("a", provider=provider)])))

    assert state.resources[0].provider == "gavinbunney/kubectl"


def test_identity_and_outputs_are_read() -> None:
    outputs = {"a": {"value": {"b": [1, None]}, "type": "dynamic"}}

    state = parse_state(json.dumps(_state(outputs=outputs)))

    assert (state.lineage, state.serial, state.outputs) == ("l-1", 7, {"a": {"b": [1, None]}})


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(_state(outputs={"token": {"value": "s3cret"}}))[:-3],
        json.dumps({**_state(), "version": 3, "secret": "s3cret"}),
        json.dumps({"version": 4, "secret": "s3cret"}),
        json.dumps(_state(resources=[{"type": "s3cret"}])),
        '["s3cret"]',
        "s3cret",
    ],
)
def test_what_is_no_whole_state_is_refused_and_nothing_of_it_is_shown(text: str) -> None:
    with pytest.raises(
        ValueError, match=r"^(not JSON|no state of format 4|a part of it)"
    ) as caught:
        parse_state(text)

    assert "s3cret" not in str(caught.value)

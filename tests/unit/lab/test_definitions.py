"""The resource definitions, held against the typed views and against their own rules."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from pydantic import BaseModel

from harness.kube.resources import LAB_KINDS
from harness.model.lab import (
    Approval,
    Attestation,
    Capability,
    Decision,
    EventType,
    Finding,
    Instrument,
    LabEvent,
    LabPolicy,
    LabRun,
    LabTask,
    Note,
    NoteReason,
    Parameter,
    PolicyRule,
    RetrySafety,
)

CRDS = Path(__file__).resolve().parents[3] / "tf" / "modules" / "lab_api" / "crds"
VIEWS: tuple[type[BaseModel], ...] = (
    Approval,
    Attestation,
    Capability,
    Instrument,
    LabEvent,
    LabPolicy,
    LabRun,
    LabTask,
    Note,
)


def definition(plural: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((CRDS / f"{plural}.yaml").read_text())
    return found


def schema_of(plural: str) -> dict[str, Any]:
    version = definition(plural)["spec"]["versions"][0]
    found: dict[str, Any] = version["schema"]["openAPIV3Schema"]
    return found


PLURALS = {resource.kind: resource.plural for resource in LAB_KINDS}


def _model_keys(model: type[BaseModel], at: str = "") -> Iterator[str]:
    for field in model.model_fields.values():
        key = f"{at}.{field.alias}"
        yield key
        for inner in (field.annotation, *getattr(field.annotation, "__args__", ())):
            if isinstance(inner, type) and issubclass(inner, BaseModel):
                yield from _model_keys(inner, key)


def _schema_keys(schema: dict[str, Any], at: str = "") -> Iterator[str]:
    for name, inner in schema.get("properties", {}).items():
        yield f"{at}.{name}"
        yield from _schema_keys(inner, f"{at}.{name}")
        yield from _schema_keys(inner.get("items", {}), f"{at}.{name}")


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.__name__)
def test_view_and_definition_name_the_same_fields(view: type[BaseModel]) -> None:
    schema = schema_of(PLURALS[view.__name__])
    known = {key for key in _schema_keys(schema) if not key.startswith(".metadata")}
    ours = {key for key in _model_keys(view) if not key.startswith(".metadata")}

    inside_conditions = {key for key in known if key.startswith(".status.conditions.")}
    assert ours == known - inside_conditions


def _nodes(schema: dict[str, Any], at: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for name, inner in schema.get("properties", {}).items():
        if at == "" and name == "metadata":
            continue
        yield f"{at}.{name}", inner
        yield from _nodes(inner, f"{at}.{name}")
        if "items" in inner:
            yield f"{at}.{name}[]", inner["items"]
            yield from _nodes(inner["items"], f"{at}.{name}[]")


@pytest.mark.parametrize("plural", sorted(PLURALS.values()))
def test_every_field_is_described_and_every_size_is_bounded(plural: str) -> None:
    nodes = list(_nodes(schema_of(plural)))

    assert [at for at, node in nodes if not node.get("description")] == []
    assert [at for at, node in nodes if node["type"] == "array" and "maxItems" not in node] == []
    texts = [(at, node) for at, node in nodes if node["type"] == "string"]
    assert [at for at, node in texts if "maxLength" not in node and "enum" not in node] == []


@pytest.mark.parametrize("plural", sorted(PLURALS.values()))
def test_every_definition_requires_a_spec_and_is_the_platforms(plural: str) -> None:
    found = definition(plural)

    assert found["metadata"]["name"] == f"{plural}.lab.strandline.dev"
    assert found["metadata"]["labels"] == {"strandline.dev/platform": "true"}
    assert schema_of(plural)["required"] == ["spec"]


def test_there_is_a_definition_for_every_kind_and_no_other() -> None:
    assert sorted(path.stem for path in CRDS.glob("*.yaml")) == sorted(PLURALS.values())


def test_closed_sets_are_the_same_on_both_sides() -> None:
    event = schema_of("labevents")["properties"]["spec"]["properties"]["type"]
    finding = schema_of("attestations")["properties"]["spec"]["properties"]["finding"]
    capability = schema_of("capabilities")["properties"]["spec"]["properties"]
    kinds = capability["inputs"]["items"]["properties"]["type"]["enum"]
    note = schema_of("notes")["properties"]["spec"]["properties"]
    approval = schema_of("approvals")["properties"]["spec"]["properties"]
    policy = schema_of("labpolicies")["properties"]["spec"]["properties"]
    effects = policy["rules"]["items"]["properties"]["effect"]["enum"]

    assert event["enum"] == [str(one) for one in EventType]
    assert finding["enum"] == [str(one) for one in Finding]
    assert capability["retrySafety"]["enum"] == [str(one) for one in RetrySafety]
    assert kinds == list(get_args(Parameter.model_fields["type"].annotation))
    assert note["reason"]["enum"] == [str(one) for one in NoteReason]
    assert note["subject"]["properties"]["kind"]["enum"] == [one.kind for one in LAB_KINDS]
    assert approval["decision"]["enum"] == [str(one) for one in Decision]
    assert effects == list(get_args(PolicyRule.model_fields["effect"].annotation))

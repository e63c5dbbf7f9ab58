"""What the server in memory says again is what tf/ and policies/ say."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from harness.core.files import canonical_json, sha256_hex
from tests.virtual.cel import RULES
from tests.virtual.manifests import Manifest, PlannedStacks
from tests.virtual.policies import POLICIES, SAID, WATCHED_ROLES
from tests.virtual.rbac import ROLES, Right
from tests.virtual.schema import ROOT, definitions
from tests.virtual.webhooks import REGISTERED


@pytest.fixture(scope="module")
def roles(stacks: PlannedStacks) -> dict[str, Manifest]:
    values = {"labels": {}, "webhook_user": "webhook"}
    (made,) = stacks.manifests([("modules/lab_roles", values)])
    found = [one for one in made if one["kind"] == "ClusterRole"]
    return {one["metadata"]["name"].removeprefix("strandline:"): one for one in found}


@pytest.fixture(scope="module")
def registered(stacks: PlannedStacks) -> dict[str, Manifest]:
    values = {"labels": {}, "webhook_url": "https://127.0.0.1:1", "webhook_ca_bundle": ""}
    (made,) = stacks.manifests([("modules/lab_admission", values)])
    return {f"{one['kind']} {one['metadata']['name']}": one for one in made}


def test_every_role_has_the_rights_that_the_module_gives_it(roles: dict[str, Manifest]) -> None:
    given = {
        name: tuple(Right.of(rule) for rule in role["rules"])
        for name, role in roles.items()
        if name != "webhook"
    }

    assert given == dict(ROLES)


def test_the_webhooks_are_asked_about_what_they_are_registered_for(
    registered: dict[str, Manifest],
) -> None:
    found = {
        path: _operations(registered[f"{kind}WebhookConfiguration strandline-{path}"])
        for path, kind in (("mutate", "Mutating"), ("validate", "Validating"))
    }

    assert found == {str(path): dict(kinds) for path, kinds in REGISTERED.items()}


def test_every_admission_policy_is_said_as_it_stands(registered: dict[str, Manifest]) -> None:
    kind = "ValidatingAdmissionPolicy "
    found = {
        name.removeprefix(kind): sha256_hex(canonical_json(one["spec"]))[:16]
        for name, one in registered.items()
        if name.startswith(kind)
    }

    assert found == dict(SAID)
    assert found.keys() == POLICIES.keys()


def test_the_policy_on_ownership_watches_the_roles_that_it_names(
    registered: dict[str, Manifest],
) -> None:
    policy = registered["ValidatingAdmissionPolicy ownership-is-the-harnesses"]
    (condition,) = policy["spec"]["matchConditions"]

    assert [role for role in WATCHED_ROLES if f"'{role}'" not in condition["expression"]] == []


def test_every_rule_that_is_said_stands_in_a_definition() -> None:
    texts = {
        rule["rule"]
        for path in (ROOT / "tf" / "modules" / "lab_api" / "crds").glob("*.yaml")
        for rule in _rules(yaml.safe_load(path.read_text()))
    }

    assert RULES.keys() - texts == set()
    assert len(definitions()) == 9


def _operations(configuration: Manifest) -> dict[str, frozenset[str]]:
    return {
        resource: frozenset(rule["operations"])
        for webhook in configuration["webhooks"]
        for rule in webhook["rules"]
        for resource in rule["resources"]
    }


def _rules(schema: Any) -> list[dict[str, str]]:
    if isinstance(schema, list):
        return [rule for one in schema for rule in _rules(one)]
    if not isinstance(schema, dict):
        return []
    own = schema.get("x-kubernetes-validations", [])
    return [*own, *(rule for one in schema.values() for rule in _rules(one))]

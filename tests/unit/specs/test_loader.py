"""What a spec and a policy must be before any cluster is asked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.core.naming import CANARY_NAMESPACE
from harness.errors import SpecError
from harness.model.spec import When
from harness.specs.loader import load_specs
from harness.specs.running import due

ROOT = Path(__file__).resolve().parents[3]

SPEC = """\
apiVersion: strandline.dev/v1
kind: SafetySpec
metadata: { name: a-spec }
spec:
  requires: [webhook]
  cases:
    - name: an agent cannot
      when: [ready]
      requires: [audit]
      given:
        - as: agent
          create: { kind: LabRun, metadata: { name: night } }
      as: agent
      request: { verb: patch, resource: labruns.lab.strandline.dev, name: night,
        body: "{{ body }}" }
      expect: { refused: { by: policy, name: a-spec } }
      control: { as: admin }
"""

POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: a-spec }
spec: { failurePolicy: Fail }
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: { name: a-spec }
spec: { policyName: a-spec, validationActions: [Deny] }
"""


def _resolve(stack: str) -> Mapping[str, Any]:
    assert stack == "platform"
    return {"body": {"spec": {}}, "canary_namespace": CANARY_NAMESPACE}


def _write(root: Path, spec: str = SPEC, policy: str | None = POLICY) -> Path:
    folder = root / "a-spec"
    folder.mkdir()
    (folder / "spec.yaml").write_text(spec)
    if policy is not None:
        (folder / "policy.yaml").write_text(policy)
    return folder


def _refusal(root: Path) -> str:
    with pytest.raises(SpecError) as caught:
        load_specs(root, _resolve)
    return str(caught.value)


def test_a_spec_is_loaded_with_its_placeholders_replaced(tmp_path: Path) -> None:
    folder = _write(tmp_path)

    (loaded,) = load_specs(tmp_path, _resolve)

    assert loaded.name == "a-spec"
    assert loaded.policy_path == folder / "policy.yaml"
    assert loaded.spec.spec.cases[0].request.body == {"spec": {}}


def test_a_case_requires_what_its_spec_requires(tmp_path: Path) -> None:
    _write(tmp_path)
    specs = load_specs(tmp_path, _resolve)

    found = [case.requires for _, case in due(specs, "ready", "canary")]

    assert found == [("webhook", "audit")]
    assert list(due(specs, "swept", "canary")) == []
    assert list(due(specs, "ready", "attempt")) == []


def test_a_folder_without_specs_is_refused(tmp_path: Path) -> None:
    assert _refusal(tmp_path) == f"{tmp_path}: no specs, expected at least one */spec.yaml"


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert _refusal(tmp_path / "none") == f"{tmp_path / 'none'}: No such file or directory"


SPEC_FAULTS = [
    (
        "{{ body }}",
        "{{ bdy }}",
        "15: spec.cases.0.request.body: placeholder 'bdy' names no variable of the stack",
    ),
    (
        "name: a-spec }\nspec",
        "name: b-spec }\nspec",
        "3: metadata.name: found 'b-spec', expected the folder's name 'a-spec'",
    ),
    (
        "name: a-spec } }",
        "name: other } }",
        "6: spec.cases: no case expects a refusal by policy:a-spec, which stands beside it",
    ),
    ("kind: LabRun", "kind: LabRum", "12: spec.cases.0.given.0.create: unknown kind 'LabRum'"),
    (
        "metadata: { name: night }",
        "metadata: {}",
        "12: spec.cases.0.given.0.create.metadata.name: missing, expected the name of what is made",
    ),
    ("as: admin", "as: admon", "17: spec.cases.0.control.as: unknown identity 'admon'"),
    (
        "as: agent\n      req",
        "as: agant\n      req",
        "13: spec.cases.0.as: unknown identity 'agant'",
    ),
    ("as: agent\n          create", "as: us\n          create", None),
    ("  cases:", "  identities: { admin: { user: root } }\n  cases:", None),
    ("  requires: [webhook]", "  stack: 7", "5: spec.stack: found 7, expected a name"),
    ("  requires: [webhook]", '  stack: " "', "5: spec.stack: found ' ', expected a name"),
    ("verb: patch", "verb: patch, dry_run: false", ""),
    (
        "name: night,\n        body",
        "name: theirs, dry_run: false,\n        body",
        "14: spec.cases.0.request: changes 'theirs', which the case does not make",
    ),
    ("when: [ready]", "when: [ready]\n      where: [attempt]", None),
    ("      control: { as: admin }\n", "", None),
    (
        "control: { as: admin }",
        "control: { as: admin, expect: { refused: { by: rbac } } }",
        (
            "17: spec.cases.0.control: a control expects what works: admitted, or a count above 0, "
            "found {'as': 'admin', 'expect': {'refused': {'by': 'rbac'}}}"
        ),
    ),
    ("control: { as: admin }", "control: { as: admin, expect: absent }", None),
    ("control: { as: admin }", "control: { as: admin, expect: { count: 0 } }", None),
    ("control: { as: admin }", "control: { as: admin, expect: { absent: false } }", None),
    ("by: policy, name: a-spec", "by: policy", None),
    ("given:", "givn:", "10: spec.cases.0.givn: unknown key"),
]


@pytest.mark.parametrize(("old", "new", "said"), SPEC_FAULTS)
def test_a_spec_with_one_fault_is_refused_with_file_and_line(
    tmp_path: Path, old: str, new: str, said: str | None
) -> None:
    folder = _write(tmp_path, spec=SPEC.replace(old, new))
    if said == "":
        assert load_specs(tmp_path, _resolve)
        return

    found = _refusal(tmp_path)

    assert found.startswith(f"{folder / 'spec.yaml'}:")
    if said is not None:
        assert found == f"{folder / 'spec.yaml'}:{said}"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Fail", "Ignore", "4: spec.failurePolicy: found 'Ignore', expected 'Fail'"),
        ("policyName: a-spec", "policyName: b", "9: spec.policyName: found 'b', expected 'a-spec'"),
        ("[Deny]", "[Audit]", "9: spec.validationActions: found ['Audit'], expected ['Deny']"),
        ("{ name: a-spec }", "{ name: b }", "3: metadata.name: found 'b', expected 'a-spec'"),
    ],
)
def test_a_policy_that_would_deny_nothing_is_refused(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    folder = _write(tmp_path, policy=POLICY.replace(old, new))

    assert _refusal(tmp_path) == f"{folder / 'policy.yaml'}:{said}"


def test_a_policy_without_its_binding_is_refused(tmp_path: Path) -> None:
    folder = _write(tmp_path, policy=POLICY.split("---\n", maxsplit=1)[0])

    assert _refusal(tmp_path) == (
        f"{folder / 'policy.yaml'}:1: found ['ValidatingAdmissionPolicy'], "
        "expected a ValidatingAdmissionPolicy and then its binding"
    )


def test_two_cases_of_one_name_are_refused(tmp_path: Path) -> None:
    case = SPEC[SPEC.index("    - name: an agent") :]
    folder = _write(tmp_path, spec=SPEC + case)

    assert _refusal(tmp_path) == (
        f"{folder / 'spec.yaml'}:18: spec.cases.1.name: 'an agent cannot' stands twice"
    )


def test_the_projects_own_policies_load_and_have_cases_for_both_places() -> None:
    specs = load_specs(ROOT / "policies", _resolve)

    assert len(specs) >= 7
    assert len(list(due(specs, "ready", "canary"))) > 40
    assert len(list(due(specs, "ready", "attempt"))) > 10


def test_every_refusal_of_a_policy_of_the_projects_own_says_who_may() -> None:
    for loaded in load_specs(ROOT / "policies", _resolve):
        for case in loaded.spec.spec.cases:
            refused = case.expect.refused
            if refused and refused.by in ("policy", "webhook"):
                assert refused.message, f"{loaded.name}: {case.name}"


@pytest.mark.parametrize(
    ("identity", "problem"),
    [
        ("{ user: jane, service_account: jane }", "needs either user or service_account"),
        ("{ groups: [ops] }", "needs either user or service_account"),
        ("{ user: jane, namespace: shop }", "a user has no namespace"),
        ("{ service_account: ci, groups: [ops] }", "a service_account has no groups but its own"),
    ],
)
def test_somebody_who_could_be_two_people_is_refused(
    tmp_path: Path, identity: str, problem: str
) -> None:
    own = f"  identities: {{ jane: {identity} }}\n  cases:"
    folder = _write(tmp_path, spec=SPEC.replace("  cases:", own))

    found = _refusal(tmp_path)

    assert found.startswith(f"{folder / 'spec.yaml'}:6: spec.identities.jane: {problem}, found ")


def _other(stack: str) -> Mapping[str, Any]:
    return {"body": {"spec": {"of": stack}}}


def test_a_spec_that_names_no_stack_is_of_the_one_that_stands_there(tmp_path: Path) -> None:
    _write(tmp_path)

    (loaded,) = load_specs(tmp_path, _other, stack="shop")

    assert loaded.spec.spec.cases[0].request.body == {"spec": {"of": "shop"}}


def test_a_spec_that_names_its_stack_is_of_that_one(tmp_path: Path) -> None:
    _write(tmp_path, spec=SPEC.replace("  requires: [webhook]", "  stack: color_lab"))

    (loaded,) = load_specs(tmp_path, _other, stack="shop")

    assert loaded.spec.spec.cases[0].request.body == {"spec": {"of": "color_lab"}}


def test_a_namespace_and_an_identity_can_be_placeholders(tmp_path: Path) -> None:
    own = '  namespace: "{{ place }}"\n  identities: { jane: { user: "{{ who }}" } }\n  cases:'
    _write(tmp_path, spec=SPEC.replace("  cases:", own).replace("as: admin", "as: jane"))
    values = {"body": {}, "place": "shop", "who": "jane@example.com"}

    (loaded,) = load_specs(tmp_path, lambda _: values)

    assert loaded.spec.spec.namespace == "shop"
    assert loaded.spec.spec.identities["jane"].user == "jane@example.com"


def test_a_spec_with_a_namespace_has_no_case_in_an_attempts(tmp_path: Path) -> None:
    spec = SPEC.replace("  requires: [webhook]", "  namespace: shop").replace(
        "      when: [ready]", "      where: [attempt]"
    )
    given = spec[spec.index("      given:") : spec.index("      as: agent\n      request")]
    folder = _write(tmp_path, spec=spec.replace(given, "").replace("night", "theirs"))

    found = _refusal(tmp_path)

    problem = "a spec with a namespace has no case in an attempt's own, found {"
    assert found.startswith(f"{folder / 'spec.yaml'}:4: spec: {problem}")


def test_where_there_is_no_laboratory_its_roles_are_nobody(tmp_path: Path) -> None:
    folder = _write(tmp_path)

    with pytest.raises(SpecError) as caught:
        load_specs(tmp_path, _resolve, roles=())

    where = f"{folder / 'spec.yaml'}:11: spec.cases.0.given.0.as"
    assert str(caught.value) == f"{where}: unknown identity 'agent'"
    assert caught.value.hint == "use one of admin"


def test_a_case_that_says_no_time_is_due_at_every_time(tmp_path: Path) -> None:
    _write(tmp_path, spec=SPEC.replace("      when: [ready]\n", ""))
    specs = load_specs(tmp_path, _resolve)
    times: tuple[When, ...] = ("ready", "after", "swept")

    found = [len(list(due(specs, when, "canary"))) for when in times]

    assert found == [1, 1, 1]


def test_a_case_is_found_again_by_its_line(tmp_path: Path) -> None:
    _write(tmp_path)

    (loaded,) = load_specs(tmp_path, _resolve)

    assert loaded.lines == {"an agent cannot": 7}


def test_a_stack_that_many_specs_name_is_asked_for_once(tmp_path: Path) -> None:
    asked: list[str] = []

    def resolve(stack: str) -> Mapping[str, Any]:
        asked.append(stack)
        return _resolve(stack)

    _write(tmp_path)
    other = tmp_path / "b-spec"
    other.mkdir()
    (other / "spec.yaml").write_text(SPEC.replace("name: a-spec }\nspec", "name: b-spec }\nspec"))

    load_specs(tmp_path, resolve)

    assert asked == ["platform"]

"""What a spec and a policy must be before any cluster is asked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.core.naming import CANARY_NAMESPACE
from harness.errors import SpecError
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
    ("as: admin", "as: admon", None),
    ("verb: patch", "verb: patch, dry_run: false", ""),
    (
        "name: night,\n        body",
        "name: theirs, dry_run: false,\n        body",
        "14: spec.cases.0.request: changes 'theirs', which the case does not make",
    ),
    ("when: [ready]", "when: [ready]\n      where: [attempt]", None),
    ("      control: { as: admin }\n", "", None),
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

"""What both sides of a comparison are given: the same work, in each one's own words."""

from __future__ import annotations

from pathlib import Path

from benchmarks.assertions import chainsaw_document, spec_document
from benchmarks.peer_builds import PEERS, peer_version
from benchmarks.runner import bare_script
from harness.model.spec import SafetySpec


def test_both_sides_assert_the_same_fields_of_the_same_objects() -> None:
    spec = SafetySpec.model_validate(spec_document(3))
    steps = chainsaw_document(3)["spec"]["steps"]

    ours = [
        (case.request.name, case.expect.admitted and case.expect.admitted.fields)
        for case in spec.spec.cases
    ]
    resources = [step["try"][0]["assert"]["resource"] for step in steps]
    theirs = [
        (one["metadata"]["name"], {"data.number": one["data"]["number"]}) for one in resources
    ]
    assert ours == theirs
    assert len(theirs) == 3
    assert {one["metadata"]["namespace"] for one in resources} == {spec.spec.namespace}


def test_the_bare_side_types_three_commands_with_a_stamp_around_each() -> None:
    script = bare_script(Path("/opt/my engines/terraform"), saved_plan=False)

    assert script.split("; ") == [
        "date +%s%N",
        "'/opt/my engines/terraform' init -input=false >/dev/null",
        "date +%s%N",
        "'/opt/my engines/terraform' apply -input=false -auto-approve >/dev/null",
        "date +%s%N",
        "'/opt/my engines/terraform' destroy -input=false -auto-approve >/dev/null",
        "date +%s%N",
    ]


def test_with_a_saved_plan_the_second_step_is_two_commands() -> None:
    script = bare_script(Path("/opt/terraform"), saved_plan=True)

    assert script.split("; date +%s%N; ")[1] == (
        "/opt/terraform plan -input=false -out=saved.tfplan >/dev/null; "
        "/opt/terraform apply -input=false saved.tfplan >/dev/null"
    )


def test_every_peer_is_pinned_to_a_release() -> None:
    versions = {name: peer_version(name) for name in PEERS}

    assert versions.keys() == {"chainsaw", "envtest"}
    assert all(version.count(".") == 2 for version in versions.values())

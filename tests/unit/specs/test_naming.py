"""Which names carry a probe's marker."""

from __future__ import annotations

from harness.specs.naming import declared_names, with_marker
from tests.unit.specs.fakes import case_of

RUN = {"kind": "LabRun", "metadata": {"name": "night"}, "spec": {"steps": [{"id": "weigh"}]}}
TASK = {"kind": "LabTask", "metadata": {"name": "night-weigh"}, "spec": {"run": "night"}}
ATTESTATION = {
    "verb": "create",
    "resource": "attestations.lab.strandline.dev",
    "body": {
        "metadata": {"name": "night-weigh-1"},
        "spec": {"task": "night-weigh", "basis": "night shift looked", "evidence": ["balance-1"]},
    },
}


def test_a_name_that_the_case_makes_is_marked_wherever_it_stands() -> None:
    case = case_of(
        given=[{"as": "agent", "create": RUN}, {"as": "controller", "create": TASK}],
        request=ATTESTATION,
    )

    marked = with_marker(case, "7f3a")

    assert [given.create for given in marked.given] == [
        {"kind": "LabRun", "metadata": {"name": "night-7f3a"}, "spec": RUN["spec"]},
        {
            "kind": "LabTask",
            "metadata": {"name": "night-7f3a-weigh"},
            "spec": {"run": "night-7f3a"},
        },
    ]
    assert marked.request.body["metadata"] == {"name": "night-7f3a-weigh-1"}
    assert marked.request.body["spec"]["task"] == "night-7f3a-weigh"


def test_what_only_looks_like_a_name_is_left_alone() -> None:
    case = case_of(given=[{"as": "agent", "create": RUN}], request=ATTESTATION)

    marked = with_marker(case, "7f3a")

    assert marked.request.body["spec"]["basis"] == "night shift looked"
    assert marked.request.body["spec"]["evidence"] == ["balance-1"]


def test_the_name_of_something_that_stands_there_already_is_left_alone() -> None:
    assert with_marker(case_of(), "7f3a").request.name == "night"


def test_the_requests_of_a_given_and_of_a_control_follow() -> None:
    patch = {"verb": "patch", "resource": "labruns.lab.strandline.dev", "name": "night"}
    case = case_of(
        given=[{"as": "agent", "create": RUN}, {"as": "controller", "request": patch}],
        control={"as": "controller", "request": patch},
    )

    marked = with_marker(case, "7f3a")

    assert marked.given[1].request is not None
    assert marked.given[1].request.name == "night-7f3a"
    assert marked.control is not None
    assert marked.control.request is not None
    assert marked.control.request.name == "night-7f3a"


def test_names_are_declared_by_what_is_created_and_by_nothing_else() -> None:
    token = {
        "verb": "create",
        "resource": "serviceaccounts",
        "subresource": "token",
        "name": "controller",
        "body": {"metadata": {"name": "controller"}},
    }

    assert declared_names(case_of(given=[{"as": "agent", "create": RUN}])) == ("night",)
    assert declared_names(case_of(request=token)) == ()

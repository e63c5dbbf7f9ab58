"""What becomes of a case under pytest: passed when it held, and only then."""

from __future__ import annotations

import pytest

from harness.errors import UnreachableError
from harness.kube.answers import Answer
from harness.model.spec import Case
from harness.pytest_plugin.items import DueCase, due_cases
from tests.unit.pytest_plugin.fakes import FakeGround, items_of, loaded_of
from tests.unit.specs.fakes import RBAC, FakeClient, case_of, refused

AGENT, CONTROLLER = "shop:agent", "shop:controller"
OK = Answer(status=200, body={"kind": "LabRun"})
HELD = ((AGENT, "PATCH status", RBAC), (CONTROLLER, "PATCH status", OK))
BROKEN = ((AGENT, "PATCH status", OK),)
UNKNOWN = ((AGENT, "PATCH status", UnreachableError("no answer")),)


class _BrokenClient(FakeClient):
    """Has a bug: what it does ends in an exception that is none of ours."""

    def as_service_account(self, namespace: str, name: str) -> FakeClient:
        msg = f"bug in {namespace}:{name}"
        raise ZeroDivisionError(msg)


def _only(case: Case) -> DueCase:
    (due,) = due_cases(loaded_of(case))
    return due


def test_a_case_that_held_passes_and_tells_its_verdict(request: pytest.FixtureRequest) -> None:
    ground = FakeGround(FakeClient(*HELD), loaded=loaded_of(case_of()))
    (item,) = items_of(request.session, ground)

    item.runtest()

    assert item.user_properties == [("strandline_spec", "a-spec"), ("strandline_verdict", "held")]


def test_a_case_that_is_broken_fails_and_says_what_was_asked_expected_and_found(
    request: pytest.FixtureRequest,
) -> None:
    ground = FakeGround(FakeClient(*BROKEN), loaded=loaded_of(case_of()))
    (item,) = items_of(request.session, ground)

    with pytest.raises(pytest.fail.Exception) as caught:
        item.runtest()

    assert str(caught.value).splitlines() == [
        "broken (not enforced): admitted, expected a refusal by rbac",
        "  case:     an agent cannot",
        "  asked:    patch labruns.lab.strandline.dev/status night in shop, dry run, as agent",
        "  expected: refused by rbac",
        f"  stands:   {item.nodeid.partition('::')[0]}:10",
    ]
    assert not caught.value.pytrace
    assert ("strandline_verdict", "broken") in item.user_properties


def test_a_case_of_which_nothing_is_known_fails_too(request: pytest.FixtureRequest) -> None:
    ground = FakeGround(FakeClient(*UNKNOWN), loaded=loaded_of(case_of()))
    (item,) = items_of(request.session, ground)

    with pytest.raises(pytest.fail.Exception) as caught:
        item.runtest()

    assert str(caught.value).startswith("unknown (API server unreachable): no answer\n")
    assert ("strandline_verdict", "unknown") in item.user_properties


def test_a_bug_on_the_way_to_a_verdict_is_no_verdict(request: pytest.FixtureRequest) -> None:
    ground = FakeGround(_BrokenClient(), loaded=loaded_of(case_of()))
    (item,) = items_of(request.session, ground)

    with pytest.raises(ZeroDivisionError, match="bug in shop:agent"):
        item.runtest()

    assert item.user_properties == [("strandline_spec", "a-spec")]


def test_without_a_cluster_an_item_is_an_error_that_says_why(
    request: pytest.FixtureRequest,
) -> None:
    (item,) = items_of(request.session, FakeGround(None, loaded=loaded_of(case_of())))
    item.skip_unless_runnable()

    with pytest.raises(pytest.fail.Exception) as caught:
        item.setup()

    assert str(caught.value) == "etcd exited with 1\nhint: free the port"
    assert not list(item.iter_markers("skip"))


def test_what_the_cluster_cannot_judge_is_skipped_with_the_reason(
    request: pytest.FixtureRequest,
) -> None:
    loaded = loaded_of(case_of(requires=["nodes"]), case_of(name="another"), requires=["audit"])
    ground = FakeGround(FakeClient(), capabilities=("audit",), loaded=loaded)
    lacking, runnable = items_of(request.session, ground)

    for item in (lacking, runnable):
        item.skip_unless_runnable()

    (mark,) = lacking.iter_markers("skip")
    assert mark.kwargs == {"reason": "not runnable: the cluster lacks nodes"}
    assert ("strandline_verdict", "not runnable") in lacking.user_properties
    assert not list(runnable.iter_markers("skip"))


def test_a_case_of_an_attempts_own_namespace_is_not_judged_elsewhere() -> None:
    due = _only(case_of(where=["attempt"]))

    assert due.why_not(frozenset()) == "it is judged in an attempt's own namespace alone"


def test_a_case_is_judged_once_whatever_its_times() -> None:
    times = [["ready"], ["after"], ["ready", "swept"], ["ready", "after", "swept"]]

    assert [_only(case_of(when=when)).when for when in times] == [
        "ready",
        "after",
        "swept",
        "swept",
    ]


def test_an_item_stands_where_its_case_does(request: pytest.FixtureRequest) -> None:
    ground = FakeGround(FakeClient(), loaded=loaded_of(case_of(), case_of(name="nor here")))
    _, item = items_of(request.session, ground)

    assert item.name == "nor here"
    assert item.reportinfo()[1:] == (19, "a-spec: nor here")


@pytest.mark.parametrize(
    "answer", [refused(500, "etcdserver: request timed out"), refused(404, "not found")]
)
def test_an_answer_that_decides_nothing_never_passes(
    request: pytest.FixtureRequest, answer: Answer
) -> None:
    client = FakeClient((AGENT, "PATCH status", answer))
    (item,) = items_of(request.session, FakeGround(client, loaded=loaded_of(case_of())))

    with pytest.raises(pytest.fail.Exception, match=r"^unknown \("):
        item.runtest()

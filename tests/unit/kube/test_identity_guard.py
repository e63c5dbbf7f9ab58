"""Nothing is swept from a cluster that has not proved which one it is."""

from __future__ import annotations

import pytest

from harness.errors import AnotherClusterError
from harness.kube.admission_time import admission_bound_s
from harness.kube.identity_guard import prove_identity
from tests.unit.kube.fakes import FakePool, client_of, response

_PATH = "https://api.test/api/v1/namespaces/kube-system"


def _cluster(uid: str) -> dict[str, object]:
    return {"metadata": {"name": "kube-system", "uid": uid}}


def test_the_cluster_that_was_provisioned_gives_a_client_that_may_sweep() -> None:
    pool = FakePool(response(200, _cluster("uid-1")), response(200, _cluster("uid-1")))

    proven = prove_identity(client_of(pool), "uid-1")
    proven.prove_again()

    assert [asked[:2] for asked in pool.asked] == [("GET", _PATH), ("GET", _PATH)]


def test_another_cluster_is_refused_with_both_uids() -> None:
    pool = FakePool(response(200, _cluster("uid-2")))

    with pytest.raises(AnotherClusterError) as caught:
        prove_identity(client_of(pool), "uid-1")

    assert str(caught.value) == (
        "another cluster answers: namespace kube-system has UID uid-2, expected uid-1; "
        "nothing was touched"
    )


def test_a_cluster_that_was_replaced_after_the_proof_is_refused() -> None:
    pool = FakePool(response(200, _cluster("uid-1")), response(200, _cluster("uid-2")))
    proven = prove_identity(client_of(pool), "uid-1")

    with pytest.raises(AnotherClusterError):
        proven.prove_again()


def _webhook(group: str, seconds: int | None) -> dict[str, object]:
    timeout = {} if seconds is None else {"timeoutSeconds": seconds}
    return {"webhooks": [{"rules": [{"apiGroups": [group]}], **timeout}]}


def test_a_request_waits_for_every_webhook_that_it_can_meet() -> None:
    ours, everybodys = _webhook("lab.strandline.dev", 3), _webhook("*", None)

    assert admission_bound_s([]) == 2.0
    assert admission_bound_s([ours, ours, _webhook("apps", 30)]) == 8.0
    assert admission_bound_s([ours, everybodys]) == 15.0


def test_no_request_outlives_the_api_servers_own_bound() -> None:
    assert admission_bound_s([_webhook("*", 30)] * 5) == 62.0

"""Which objects a state answers for."""

from __future__ import annotations

from typing import Any

from harness.terraform.manifests import AppliedManifest, applied_manifests


def _resource(name: str, *, kind: str = "kubectl_manifest", **values: Any) -> dict[str, Any]:
    fields = {"api_version": "v1", "kind": "ConfigMap", "name": name, "namespace": "n", "uid": name}
    return {"type": kind, "mode": "managed", "values": {**fields, **values}}


def test_objects_of_every_module_are_told_with_their_uids_and_without_content() -> None:
    child = {"resources": [_resource("b", kind="null_resource"), _resource("c", namespace=None)]}
    root = {"resources": [_resource("a", yaml_body="secret")], "child_modules": [child]}

    found = applied_manifests({"values": {"root_module": root}})

    assert found == (
        AppliedManifest(api_version="v1", kind="ConfigMap", namespace="", name="c", uid="c"),
        AppliedManifest(api_version="v1", kind="ConfigMap", namespace="n", name="a", uid="a"),
    )


def test_a_state_that_holds_nothing_answers_for_nothing() -> None:
    assert applied_manifests({"format_version": "1.0"}) == ()

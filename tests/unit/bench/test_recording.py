"""What is kept of an apply, however it ended, and what of it was somebody's before."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from harness.bench.inventory import (
    STANDING_FILE,
    Inventory,
    apply_recorded,
    keep_standing,
    read_inventory,
)
from harness.core.files import read_json, write_json
from harness.core.naming import PLATFORM_LABEL
from harness.errors import ClusterError, KubeError, TerraformError
from harness.kube.resources import CLUSTER_ROLES, CONFIG_MAPS
from harness.terraform.manifests import AppliedManifest
from harness.terraform.stack import Stack
from tests.unit.kube.fakes import FakeApi

_MANIFEST = AppliedManifest(api_version="v1", kind="ConfigMap", namespace="n", name="a", uid="u1")


class FakeStack:
    """A stack whose apply and whose state answer as they are told."""

    def __init__(
        self,
        *,
        manifests: tuple[AppliedManifest, ...] | TerraformError,
        apply: TerraformError | None = None,
    ) -> None:
        self._manifests, self._apply = manifests, apply

    def apply(self) -> None:
        """Apply, or fail."""
        if self._apply:
            raise self._apply

    def manifests(self) -> tuple[AppliedManifest, ...]:
        """Return what the state says, or fail."""
        if isinstance(self._manifests, TerraformError):
            raise self._manifests
        return self._manifests


def test_the_first_error_of_an_apply_is_not_hidden_by_a_record_that_failed(tmp_path: Path) -> None:
    stack = FakeStack(apply=TerraformError("apply failed"), manifests=TerraformError("no state"))

    with pytest.raises(TerraformError) as caught:
        apply_recorded(cast("Stack", stack), tmp_path)

    assert str(caught.value) == "apply failed"
    assert caught.value.__notes__ == ["what it made is not recorded: no state"]
    assert read_inventory(tmp_path) is None


def test_the_first_error_of_an_apply_is_not_hidden_by_a_disk_that_is_full(tmp_path: Path) -> None:
    stack = FakeStack(apply=TerraformError("apply failed"), manifests=(_MANIFEST,))
    no_folder = tmp_path / "a file"
    no_folder.touch()

    with pytest.raises(TerraformError) as caught:
        apply_recorded(cast("Stack", stack), no_folder)

    assert str(caught.value) == "apply failed"
    assert "is not recorded" in caught.value.__notes__[0]


def test_what_a_failed_apply_made_is_recorded(tmp_path: Path) -> None:
    stack = FakeStack(apply=TerraformError("apply failed"), manifests=(_MANIFEST,))

    with pytest.raises(TerraformError, match="apply failed"):
        apply_recorded(cast("Stack", stack), tmp_path)

    assert read_inventory(tmp_path) == Inventory(label=PLATFORM_LABEL, objects=(_MANIFEST,))


def test_what_stood_before_the_first_apply_is_recorded_as_adopted(tmp_path: Path) -> None:
    write_json(tmp_path / STANDING_FILE, ["u2"])
    adopted = replace(_MANIFEST, name="b", uid="u2")
    stack = FakeStack(manifests=(_MANIFEST, adopted))

    apply_recorded(cast("Stack", stack), tmp_path)

    found = read_inventory(tmp_path)
    assert found is not None
    assert (found.objects, found.adopted) == ((_MANIFEST,), (adopted,))


def test_nothing_is_applied_where_it_cannot_be_told_what_stands_there(tmp_path: Path) -> None:
    api = FakeApi([CONFIG_MAPS, CLUSTER_ROLES])
    api.unlisted.add(CONFIG_MAPS)

    with pytest.raises(KubeError, match="configmaps cannot be listed"):
        keep_standing(api.as_proven(), tmp_path)

    assert not (tmp_path / STANDING_FILE).exists()


def test_what_stands_there_is_kept_once(tmp_path: Path) -> None:
    api = FakeApi([CONFIG_MAPS])
    api.put(CONFIG_MAPS, "a", "u1", namespace="n")
    keep_standing(api.as_proven(), tmp_path)
    api.put(CONFIG_MAPS, "ours", "u2", namespace="n")

    keep_standing(api.as_proven(), tmp_path)

    assert read_json(tmp_path / STANDING_FILE) == ["u1"]


def test_an_inventory_of_another_version_is_refused(tmp_path: Path) -> None:
    write_json(tmp_path / "inventory.json", {"objects": []})

    with pytest.raises(ClusterError, match="not an inventory of this version's"):
        read_inventory(tmp_path)

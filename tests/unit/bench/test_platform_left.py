"""What the sweep of a foundation says where Terraform could not, or may not, take it down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import cast

import pytest

from harness.bench.inventory import Inventory
from harness.bench.ledger import AttemptEntry
from harness.bench.platform_sweep import PlatformSwept, sweep_platform
from harness.bench.record import Record
from harness.bench.teardown import settle
from harness.bench.world_sweep import destroy_world
from harness.cluster.existing.provider import INVENTORY_FILE
from harness.core.files import write_json
from harness.core.identity import ProcessIdentity
from harness.errors import TerraformError
from harness.kube.resources import CLUSTER_ROLES, CONFIG_MAPS, NAMESPACES
from harness.kube.sweep import Leftover
from harness.terraform.manifests import AppliedManifest
from harness.terraform.stack import Stack
from tests.unit.kube.fakes import FakeApi

_OURS = AppliedManifest(api_version="v1", kind="ConfigMap", namespace="n", name="a", uid="u1")


class FakeStack:
    """A stack that names what it is told, and writes down how it is destroyed."""

    def __init__(
        self,
        work_dir: Path,
        *,
        manifests: Sequence[AppliedManifest] = (),
        elsewhere: Sequence[str] = (),
        unaccounted: Sequence[str] = (),
        unknown: Sequence[str] = (),
        error: TerraformError | None = None,
    ) -> None:
        self.work_dir, self._manifests = work_dir, tuple(manifests)
        self.elsewhere, self.unaccounted = tuple(elsewhere), tuple(unaccounted)
        objects = (f"kubectl_manifest.{one.name}" for one in manifests)
        self.resources = (*objects, *unknown, *elsewhere)
        self._error = error
        self.destroyed: list[bool] = []
        self.applied = 0

    def manifests(self) -> tuple[AppliedManifest, ...]:
        """Return the objects that can be looked for."""
        return self._manifests

    def init(self) -> None:
        """Be ready."""

    def apply(self) -> None:
        """Make, or take over, all that was in doubt."""
        self.applied += 1
        self.unaccounted = ()

    def destroy(self, *, cluster_gone: bool = False) -> None:
        """Write it down, or fail."""
        self.destroyed.append(cluster_gone)
        if self._error:
            raise self._error

    def as_stack(self) -> Stack:
        """Return it as what a sweep takes."""
        return cast("Stack", self)


def _record(state_dir: Path, *, laboratory: bool) -> None:
    record = Record(
        stack_dir=state_dir, policies_dir=state_dir, overrides={}, laboratory=laboratory, files={}
    )
    record.write(state_dir, complete=True)


def _sweep(
    state_dir: Path,
    stack: FakeStack | None,
    *,
    adopted: Sequence[AppliedManifest] = (),
    known: Sequence[Leftover] = (),
) -> PlatformSwept:
    _record(state_dir, laboratory=False)
    inventory = Inventory(label=None, adopted=tuple(adopted))
    write_json(state_dir / INVENTORY_FILE, asdict(inventory))
    return sweep_platform(
        FakeApi([CONFIG_MAPS]).as_proven(),
        state_dir=state_dir,
        stack=stack.as_stack() if stack else None,
        known=known,
    )


def test_records_stay_while_a_copy_that_is_there_cannot_be_opened(tmp_path: Path) -> None:
    known = Leftover(object="terraform state of x", blocker="no provider")

    swept = _sweep(tmp_path, None, known=[known])

    assert swept.leftovers == (known,)
    assert (tmp_path / INVENTORY_FILE).is_file()


@pytest.mark.parametrize("laboratory", [False, True])
def test_what_a_cut_off_apply_may_have_made_is_left_unless_a_label_would_find_it(
    tmp_path: Path, *, laboratory: bool
) -> None:
    stack = FakeStack(tmp_path, unaccounted=["kubectl_manifest.b"])
    _record(tmp_path, laboratory=laboratory)
    (tmp_path / INVENTORY_FILE).touch()

    left = settle(stack.as_stack(), tmp_path)

    assert [one.object for one in left] == [f"terraform state of {tmp_path}"][: not laboratory]
    assert stack.applied == 0


def test_what_was_never_recorded_is_taken_over_by_its_own_stack_first(tmp_path: Path) -> None:
    stack = FakeStack(tmp_path, unaccounted=["kubectl_manifest.b"])
    _record(tmp_path, laboratory=False)

    left = settle(stack.as_stack(), tmp_path)

    assert left == ()
    assert stack.applied == 1
    assert (tmp_path / INVENTORY_FILE).is_file()


def test_where_terraform_may_not_delete_by_name_it_still_destroys_what_is_in_no_cluster(
    tmp_path: Path,
) -> None:
    stack = FakeStack(tmp_path, manifests=[_OURS], elsewhere=["cloud_bucket.b"])

    swept = _sweep(tmp_path, stack, adopted=[_OURS])

    assert stack.destroyed == [True]
    assert swept.leftovers == ()
    assert not (tmp_path / INVENTORY_FILE).exists()


def test_what_only_terraform_knows_is_left_where_it_may_not_delete_by_name(tmp_path: Path) -> None:
    stack = FakeStack(tmp_path, manifests=[_OURS], unknown=["helm_release.r"])

    swept = _sweep(tmp_path, stack, adopted=[_OURS])

    assert stack.destroyed == []
    assert [left.object for left in swept.leftovers] == [f"terraform state of {tmp_path}"]


def test_terraform_does_not_run_where_all_of_it_can_be_looked_for(tmp_path: Path) -> None:
    stack = FakeStack(tmp_path, manifests=[_OURS])

    swept = _sweep(tmp_path, stack, adopted=[_OURS])

    assert (stack.destroyed, swept.leftovers) == ([], ())


def test_a_kind_that_cannot_be_listed_may_hold_what_no_record_names(tmp_path: Path) -> None:
    api = FakeApi([CONFIG_MAPS])
    api.unlisted.add(CONFIG_MAPS)

    swept = sweep_platform(api.as_proven(), state_dir=tmp_path, stack=None)

    assert [str(left) for left in swept.leftovers] == [
        "configmaps that carry our label (configmaps: too many)"
    ]


@pytest.mark.parametrize(
    ("unknown", "expected"),
    [
        ((), ["clusterroles.rbac.authorization.k8s.io r"]),
        (
            ("cloud_bucket.b",),
            ["clusterroles.rbac.authorization.k8s.io r", "terraform state of a1"],
        ),
    ],
)
def test_what_an_attempt_left_outside_of_its_namespace_is_named_also_where_nobody_can_look(
    tmp_path: Path, unknown: Sequence[str], expected: list[str]
) -> None:
    role, own = (
        AppliedManifest(
            api_version=kind.api_version, kind=kind.kind, namespace="", name=name, uid=name
        )
        for kind, name in ((CLUSTER_ROLES, "r"), (NAMESPACES, "lab-a1"))
    )
    api = FakeApi([CLUSTER_ROLES, NAMESPACES])
    api.put(CLUSTER_ROLES, "r", "r")
    api.put(NAMESPACES, "lab-a1", "lab-a1")
    stack = FakeStack(
        tmp_path, manifests=[role, own], unknown=unknown, error=TerraformError("time is up")
    )
    entry = AttemptEntry(
        attempt_id="a1",
        run_id="r1",
        namespace="lab-a1",
        provider="embedded",
        cluster="provisioned",
        owner=ProcessIdentity(pid=1, started_ticks=1),
        work_dir=tmp_path,
    )

    left = destroy_world(stack.as_stack(), api.as_proven(), entry)

    assert [one.object for one in left] == expected
    assert {one.blocker for one in left} == {"terraform destroy: time is up"}

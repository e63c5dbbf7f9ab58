"""The kind provider: a cluster in a container, for one command or until it is taken down.

The container is the engine's, not a child of the harness: what a killed harness leaves is found by
its folder, and by its name where the folder is gone. Called through
`harness.cluster.providers`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from harness.cluster.home import create_state_dir, state_dir_of
from harness.cluster.images.debian import can_make_rootfs
from harness.cluster.images.lab import ensure_lab_image
from harness.cluster.images.places import default_images_dir
from harness.cluster.kind.access import Access
from harness.cluster.kind.cluster import Parts, end_cluster, start_cluster
from harness.cluster.kind.command_line import Kind
from harness.cluster.kind.containers import node_containers
from harness.cluster.kind.engine import Engine, find_engine
from harness.cluster.kind.host_settings import NOTES_DIR, HostSettings
from harness.cluster.kind.images import NODE_IMAGE_VARIABLE, ArchivedImage, choose_node_image
from harness.cluster.kind.leftovers import Leftovers, find_leftovers, take_down
from harness.cluster.kind.node import KindNode
from harness.cluster.kind.state import (
    answered_for,
    ephemeral_name,
    node_name,
    provisioned_name,
    state_dirs,
)
from harness.cluster.locks import provisioning
from harness.cluster.provider import CLUSTER_FILE, Cluster, Node, Progress
from harness.cluster.toolchain import Toolchain
from harness.core.waiting import wait_until
from harness.errors import (
    ClusterError,
    PrerequisiteError,
    TeardownError,
    UnreachableError,
    WaitTimeoutError,
)

#: Seconds that another process may take to provision: images, the cluster, and a margin.
_PROVISION_TIMEOUT_S = 1200.0

#: Seconds in which an API server that is there answers; it takes milliseconds.
_ANSWER_TIMEOUT_S = 5.0


def _lab_image(images_dir: Path, progress: Progress, engine: Engine) -> ArchivedImage:
    """Return the laboratory's image, made from Debian packages, or by the engine where not."""
    builder = None if can_make_rootfs(os.geteuid()) else engine
    return ensure_lab_image(images_dir, progress, engine=builder)


class KindProvider:
    """Clusters made by kind with Docker or podman."""

    name = "kind"
    keeps_cluster = False

    def __init__(
        self,
        *,
        laboratory: bool = True,
        environ: Mapping[str, str] = os.environ,
        notes_dir: Path | None = NOTES_DIR,
        search: Callable[..., Engine] = find_engine,
        lab_image: Callable[[Path, Progress, Engine], ArchivedImage] = _lab_image,
    ) -> None:
        """Look at nothing yet.

        Args:
            laboratory: Whether its clusters get the image of the laboratory's services.
            environ: The caller's environment.
            notes_dir: Where the machine's settings are noted, if root runs this.
            search: Finds the engine.
            lab_image: Gives the image of the laboratory's services.
        """
        self._environ = environ
        self._images_dir = default_images_dir(environ)
        self._host = HostSettings(notes_dir=notes_dir if os.geteuid() == 0 else None)
        self._search = search
        self._lab_image = lab_image
        self._laboratory = laboratory

    def ephemeral(
        self, home: Path, *, toolchain: Toolchain, progress: Progress
    ) -> AbstractContextManager[Cluster]:
        """Return a cluster that lives as long as the `with` block."""
        return self._ephemeral(home, toolchain, progress)

    def provision(self, home: Path, *, toolchain: Toolchain, progress: Progress) -> Cluster:
        """Make a cluster that outlives this process, or return the one that is there.

        Raises:
            PrerequisiteError: No engine works, or an image cannot be had.
            ClusterError: It did not come up; nothing of it is left.
        """
        home.mkdir(parents=True, exist_ok=True)
        with provisioning(home, timeout_s=_PROVISION_TIMEOUT_S, progress=progress):
            if found := self.find(home):
                return found
            parts = self._parts(toolchain, progress)
            self._end_dead(home, parts.kind.engine)
            if (state_dir := state_dir_of(home, provisioned_name(home))).exists():
                msg = f"the cluster {state_dir.name} runs, and its API server does not answer"
                raise ClusterError(msg, hint="run `strandline teardown --cluster kind` first")
            create_state_dir(home, state_dir.name, owner_pid=os.getpid())
            try:
                cluster = start_cluster(state_dir, parts, progress=progress)
                cluster.save(state_dir / CLUSTER_FILE)
            except BaseException:
                end_cluster(state_dir, parts.kind.engine, self._host)
                raise
            return cluster

    def find(self, home: Path) -> Cluster | None:
        """Return the provisioned cluster; None when its node or its API server does not answer."""
        path = state_dir_of(home, provisioned_name(home)) / CLUSTER_FILE
        if not path.is_file():
            return None
        cluster = Cluster.load(path)
        access = Access.of(cluster.state_dir, cluster.server)
        try:
            wait_until(
                lambda: access.get("/readyz")[0],
                lambda status: status == 200,
                what="the provisioned cluster",
                timeout_s=_ANSWER_TIMEOUT_S,
                tolerate=(UnreachableError,),
            )
        except (WaitTimeoutError, OSError):  # OSError: its certificates are gone
            return None
        return cluster

    def teardown(self, home: Path) -> None:
        """End the provisioned cluster and remove its state. Idempotent.

        Raises:
            TeardownError: Something of it is still there.
        """
        state_dir = state_dir_of(home, provisioned_name(home))
        if state_dir.is_dir():
            with provisioning(home, timeout_s=_PROVISION_TIMEOUT_S, progress=lambda _: None):
                end_cluster(state_dir, self._engine(), self._host)

    def node(self, cluster: Cluster) -> Node | None:
        """Return the inside of its node."""
        return KindNode(engine=self._engine(), container=node_name(cluster.name))

    def abandoned(self, home: Path, *, older_than_s: float) -> tuple[str, ...]:
        """Return, one line each, what nobody alive answers for."""
        found = self._leftovers(home, older_than_s)
        return found[1].lines() if found else ()

    def reap(self, home: Path, *, older_than_s: float) -> None:
        """Take down what `abandoned` tells of. Idempotent.

        Raises:
            TeardownError: Something is still there.
        """
        if found := self._leftovers(home, older_than_s):
            take_down(found[1], found[0], self._host)

    @contextmanager
    def _ephemeral(self, home: Path, toolchain: Toolchain, progress: Progress) -> Iterator[Cluster]:
        parts = self._parts(toolchain, progress)
        self._end_dead(home, parts.kind.engine)
        state_dir = create_state_dir(home, ephemeral_name(home), owner_pid=os.getpid())
        try:
            yield start_cluster(state_dir, parts, progress=progress)
        finally:
            end_cluster(state_dir, parts.kind.engine, self._host)

    def _parts(self, toolchain: Toolchain, progress: Progress) -> Parts:
        engine = self._engine(for_new_node=True)
        return Parts(
            kind=Kind(path=toolchain.ensure(["kind"])["kind"], engine=engine),
            node=choose_node_image(self._environ, toolchain=toolchain, cache_dir=self._images_dir),
            lab=self._lab_image(self._images_dir, progress, engine) if self._laboratory else None,
            host=self._host,
        )

    def _engine(self, *, for_new_node: bool = False) -> Engine:
        return self._search(self._environ, settings_dir=self._images_dir, for_new_node=for_new_node)

    def _end_dead(self, home: Path, engine: Engine) -> None:
        """End what killed owners left in this home, a provisioned cluster that is dead included."""
        running = {node.name for node in node_containers(engine) if node.running}
        for folder in state_dirs(home):
            if not answered_for(folder, running=node_name(folder.name) in running):
                end_cluster(folder, engine, self._host)

    def _leftovers(self, home: Path, older_than_s: float) -> tuple[Engine, Leftovers] | None:
        """Return what is left and the engine that has it; None on a machine without an engine."""
        try:
            engine = self._engine()
        except PrerequisiteError as error:
            if folders := state_dirs(home):
                left = tuple(f"kind cluster {folder.name}" for folder in folders)
                raise TeardownError(left, hint=error.hint) from error
            return None
        return engine, find_leftovers(
            home,
            engine,
            self._host,
            older_than_s=older_than_s,
            images_dir=self._images_dir,
            kept_images=[self._environ.get(NODE_IMAGE_VARIABLE, "")],
        )

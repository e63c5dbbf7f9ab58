"""What a story is carried out on: the laboratory as the people in it meet it.

`World` is the live one; a laboratory on a virtual clock is another. History and cast know nothing
else, so they refuse to know threads, processes and real time. Called by whoever makes an attempt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from harness.cluster.services.laboratory import Controllers
from harness.kube.resources import Resource
from harness.model.evidence import AuditRecord


class Client(Protocol):
    """Requests as one identity; refusals are the errors of `KubeClient`."""

    def get(self, resource: Resource, name: str, *, namespace: str | None = None) -> dict[str, Any]:
        """Return one object; NotFoundError when it is not there."""
        ...

    def find(
        self, resource: Resource, name: str, *, namespace: str | None = None
    ) -> dict[str, Any] | None:
        """Return one object, or None when it is not there."""
        ...

    def list_objects(
        self, resource: Resource, *, namespace: str | None = None
    ) -> list[dict[str, Any]]:
        """Return every object of a kind, sorted by name."""
        ...

    def create(
        self, resource: Resource, manifest: Mapping[str, Any], *, namespace: str | None = None
    ) -> dict[str, Any]:
        """Create one object and return it."""
        ...

    def patch(
        self, resource: Resource, name: str, patch: Any, *, namespace: str | None = None
    ) -> dict[str, Any]:
        """Merge a patch into one object and return it."""
        ...


class Instruments(Protocol):
    """The harness's own line to the instruments."""

    def tell_fates(self, noise_key: str, fates: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        """Say what becomes of each instrument's acting calls, in order; once, before any."""
        ...

    def restart(self, name: str, *, memory: bool) -> None:
        """Start one anew, with its own log or without."""
        ...

    def drop_link(self, name: str) -> None:
        """Have its next call accepted, and the connection closed without an answer."""
        ...

    def hold(self, name: str) -> None:
        """Keep the call in hand from ending."""
        ...

    def let_go(self, name: str) -> None:
        """Let it end at once."""
        ...

    def release(self, request_id: str) -> None:
        """Give an answer that was held back to who listens now."""
        ...

    def journal(self) -> list[dict[str, Any]]:
        """Return every entry of the journal, in order."""
        ...

    def world(self) -> dict[str, Any]:
        """Return what stands on the bench: vessels and labware."""
        ...

    def idle(self) -> bool:
        """Return whether no instrument is at work."""
        ...


class LostWrites(Protocol):
    """What became of the controller's writes of a task's status while all of them were lost."""

    def refused(self) -> int:
        """Return how many were answered with a 500 so far."""
        ...


class Stage(Protocol):
    """One attempt's laboratory."""

    @property
    def namespace(self) -> str:
        """Where its objects are."""
        ...

    @property
    def agent_user(self) -> str:
        """The user name of the agent's identity."""
        ...

    @property
    def client(self) -> Client:
        """The harness's own client."""
        ...

    def client_as(self, role: str) -> Client:
        """Return a client that is somebody of the laboratory."""
        ...

    @property
    def instruments(self) -> Instruments:
        """The line to the instruments."""
        ...

    @property
    def laboratory(self) -> Controllers:
        """The running controller."""
        ...

    def lost_status_writes(self) -> AbstractContextManager[LostWrites]:
        """Lose every write of a task's status in this namespace for as long as it is open."""
        ...


class Watched(Protocol):
    """What can be known of the agent's requests while it acts."""

    def requests(self) -> Sequence[AuditRecord] | None:
        """Return those that have begun since the last call; None where nobody records them."""
        ...

"""What a run and its workers say to each other, a line each.

Inward go values of ours, pickled: only the run that started a worker can write to it. Outward goes
JSON that says little: what an attempt left stands in its bundle, and is read from there.
"""

from __future__ import annotations

import base64
import json
import pickle
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from harness.agents.agent import Agent
from harness.bench.course import AttemptPlan
from harness.bench.rundir import AttemptDir
from harness.bench.session import Session
from harness.cluster.provider import Cluster
from harness.errors import ConfigError
from harness.kube.client import KubeClient

#: Characters of one line of progress: a line that is longer than 64 KiB is cut in two by the pump.
_SAY_CHARS = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One attempt, by whom, and where its bundle goes."""

    plan: AttemptPlan
    agent: Agent
    bundle: AttemptDir


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """A session without its client, which is opened by each process for itself.

    Attributes:
        cluster: Where the client reaches.
        shared: Every other field of the session, by its name.
        journal_path: Journal of the run.
    """

    cluster: Cluster
    shared: Mapping[str, Any]
    journal_path: Path

    @classmethod
    def of(cls, session: Session, journal_path: Path) -> Opening:
        """Return what a worker needs of a session."""
        names = {field.name for field in fields(session)} - {"client", "cluster"}
        shared = {name: getattr(session, name) for name in names}
        return cls(cluster=session.cluster, shared=shared, journal_path=journal_path)

    def session(self, client: KubeClient) -> Session:
        """Return the session of this process."""
        return Session(client=client, cluster=self.cluster, **self.shared)


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    """An attempt that a worker is to carry out, with the number that it is reported by."""

    number: int
    job: Job


def inward(value: Opening | Handed) -> bytes:
    """Return the line that hands a value to a worker.

    Raises:
        ConfigError: The agent holds what no other process can be given.
    """
    try:
        pickled = pickle.dumps(value)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        msg = f"this agent cannot act in another process: {error}"
        raise ConfigError(msg, hint="use --jobs 1") from error
    return base64.b64encode(pickled) + b"\n"


def from_inward(line: bytes) -> Any:
    """Return the value of a line that `inward` made."""
    return pickle.loads(base64.b64decode(line))  # noqa: S301 - our own parent wrote it


def saying(text: str) -> bytes:
    """Return the line that carries progress."""
    return _outward({"say": text[:_SAY_CHARS]})


def done(number: int, *, interrupted: bool) -> bytes:
    """Return the line that says that an attempt is on record."""
    return _outward({"done": number, "interrupted": interrupted})


def from_outward(line: str) -> dict[str, Any]:
    """Return what a worker said; empty for what is none of its messages. Pure."""
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _outward(value: dict[str, Any]) -> bytes:
    return json.dumps(value).encode() + b"\n"

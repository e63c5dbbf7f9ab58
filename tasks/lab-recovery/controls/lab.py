"""The laboratory as an operator meets it: a few requests, and one way to wait.

Controls are written against `Lab` alone. `KubectlLab` is the real one: kubectl and the standard
library. Kinds are plurals (`labruns`, `labtasks`, `configmaps`).
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any, Protocol

Object = dict[str, Any]

#: Seconds for a wait when nothing else is said. The longest work of a task takes 10 s; what takes
#: this long is stuck, and a control says so before its own limit ends it without a word.
WAIT_TIMEOUT_S = 60.0

#: Seconds for one request: the API server itself answers or gives up within 60 s.
_REQUEST_TIMEOUT_S = 60.0

#: Word in kubectl's message to HTTP status.
_CODES = {
    "AlreadyExists": 409,
    "BadRequest": 400,
    "Conflict": 409,
    "Forbidden": 403,
    "InternalError": 500,
    "Invalid": 422,
    "NotFound": 404,
    "Unauthorized": 401,
}


class Refused(Exception):  # noqa: N818 - what an operator calls it
    """The laboratory turned a request down.

    Attributes:
        message: What it said.
        code: HTTP status; 0 where it is not known.
    """

    def __init__(self, message: str, code: int) -> None:
        """Keep both."""
        super().__init__(message)
        self.message = message
        self.code = code


class Lab(Protocol):
    """What an operator can do."""

    def list(self, kind: str) -> list[Object]:
        """Return every object of a kind in the namespace."""
        ...

    def get(self, kind: str, name: str) -> Object | None:
        """Return an object; None when there is none of that name."""
        ...

    def create(self, manifest: Object, dry_run: bool = False) -> Object:  # noqa: FBT001, FBT002
        """Create an object, or only ask whether it would be admitted; return what was made."""
        ...

    def ask(self, manifest: Object) -> list[str]:
        """Ask by a dry run and return the warnings that came with the answer."""
        ...

    def patch(self, kind: str, name: str, patch: Object) -> Object:
        """Change an object by a merge patch and return it."""
        ...

    def delete(self, kind: str, name: str) -> None:
        """Delete an object; do not wait until it is gone."""
        ...

    def write_status(self, kind: str, name: str, status: Object) -> Object:
        """Merge into the status of an object, write it, and return the object."""
        ...

    def wait(
        self,
        kind: str,
        name: str,
        until: Callable[[Object], bool],
        timeout_s: float = WAIT_TIMEOUT_S,
    ) -> Object | None:
        """Watch an object until something holds; return what was seen last, None for nothing."""
        ...


def read_task() -> dict[str, Any]:
    """Return what the harness says on standard input: task_id, prompt, variables."""
    task: dict[str, Any] = json.load(sys.stdin)
    return task


class KubectlLab:
    """The laboratory through kubectl, which the harness puts on the PATH with its context."""

    def list(self, kind: str) -> list[Object]:
        """Return every object of a kind in the namespace."""
        items: list[Object] = _json("get", kind, "--output=json")["items"]
        return items

    def get(self, kind: str, name: str) -> Object | None:
        """Return an object; None when there is none of that name."""
        try:
            return _json("get", kind, name, "--output=json")
        except Refused as refusal:
            if refusal.code == 404:
                return None
            raise

    def create(self, manifest: Object, dry_run: bool = False) -> Object:  # noqa: FBT001, FBT002
        """Create an object, or only ask whether it would be admitted; return what was made."""
        how = ["--dry-run=server"] if dry_run else []
        return _json("create", "--filename=-", "--output=json", *how, manifest=manifest)

    def ask(self, manifest: Object) -> list[str]:
        """Ask by a dry run and return the warnings that came with the answer."""
        done = _call("create", "--filename=-", "--dry-run=server", manifest=manifest)
        lines = done.stderr.splitlines()
        return [line.removeprefix("Warning: ") for line in lines if line.startswith("Warning: ")]

    def patch(self, kind: str, name: str, patch: Object) -> Object:
        """Change an object by a merge patch and return it."""
        return _json(
            "patch", kind, name, "--type=merge", f"--patch={json.dumps(patch)}", "--output=json"
        )

    def delete(self, kind: str, name: str) -> None:
        """Delete an object; do not wait until it is gone."""
        _call("delete", kind, name, "--wait=false")

    def write_status(self, kind: str, name: str, status: Object) -> Object:
        """Merge into the status of an object, write it, and return the object.

        kubectl's own way reads the status by itself first, which no operator may, so that the write
        would never be tried.
        """
        found = _json("get", kind, name, "--output=json")
        written = {**found, "status": {**(found.get("status") or {}), **status}}
        path = f"/apis/{found['apiVersion']}/namespaces/{found['metadata']['namespace']}"
        uri = f"{path}/{kind}/{name}/status"
        return _json("replace", f"--raw={uri}", "--filename=-", manifest=written)

    def wait(
        self,
        kind: str,
        name: str,
        until: Callable[[Object], bool],
        timeout_s: float = WAIT_TIMEOUT_S,
    ) -> Object | None:
        """Watch an object until something holds; return what was seen last, None for nothing.

        What is watched is a list of one. Of a single object kubectl watches what comes after its
        get, so an end that falls between the two would never be seen.
        """
        follow = subprocess.Popen(
            [  # noqa: S607 - the harness puts it on the PATH
                "kubectl",
                "get",
                kind,
                f"--field-selector=metadata.name={name}",
                "--watch",
                "--output-watch-events",
                "--output=json",
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        limit = threading.Timer(timeout_s, follow.kill)
        limit.start()
        seen: Object | None = None
        with follow:
            try:
                for line in follow.stdout or ():
                    event = json.loads(line)
                    seen = None if event["type"] == "DELETED" else event["object"]
                    if seen is not None and until(seen):
                        return seen
            finally:
                limit.cancel()
                follow.kill()
        return seen


def _json(*arguments: str, manifest: Object | None = None) -> Object:
    found: Object = json.loads(_call(*arguments, manifest=manifest).stdout)
    return found


def _call(*arguments: str, manifest: Object | None = None) -> subprocess.CompletedProcess[str]:
    """Call kubectl; a request that it or the laboratory turns down is Refused."""
    done = subprocess.run(
        ["kubectl", *arguments],  # noqa: S607 - the harness puts it on the PATH
        input=None if manifest is None else json.dumps(manifest),
        capture_output=True,
        text=True,
        check=False,
        timeout=_REQUEST_TIMEOUT_S,
    )
    if done.returncode != 0:
        said = done.stderr.strip()
        raise Refused(said, _code_of(said))
    return done


def _code_of(said: str) -> int:
    named = re.search(r"Error from server \((\w+)\)", said)
    if named:
        return _CODES.get(named.group(1), 0)
    invalid = re.search(r"^The (request|\S+ \".*\") is invalid", said, re.MULTILINE)
    return 422 if invalid else 0

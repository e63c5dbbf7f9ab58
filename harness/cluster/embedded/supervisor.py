"""The parent of a provisioned cluster: `python -m harness.cluster.embedded.supervisor STATE_DIR`.

A process of its own, detached from whoever provisioned. It starts everything, webhook included,
says so by writing cluster.json, and ends everything when told (SIGTERM), when a part of the control
plane dies, or when its folder is gone; the reason is then in ended.json. Never imported by others.
"""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from harness.cluster.embedded.control_plane import start_control_plane
from harness.cluster.embedded.plane import ControlPlane
from harness.cluster.provider import CLUSTER_FILE
from harness.core.files import PRIVATE_MODE, read_json, write_json
from harness.errors import ClusterError, HarnessError

#: Written when it has ended by itself.
ENDED_FILE = "ended.json"
#: What the supervisor is to run; written by whoever provisions.
REQUEST_FILE = "supervisor.json"

#: Seconds between two looks at the processes.
_LOOK_EVERY_S = 0.5

#: Webhooks started anew before the cluster is given up: one that dies at once would go on for ever.
_WEBHOOK_RESTARTS = 5

_log = logging.getLogger(__name__)


class _Told(BaseException):
    """SIGTERM or SIGINT came."""


def main(argv: Sequence[str]) -> int:
    """Run a cluster until its end; return the exit code."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _told)
    state_dir = Path(argv[0])
    try:
        reason = _serve(state_dir)
    except _Told:
        _log.info("ended as told")
        return 0
    except HarnessError as error:
        reason = error.message
    _log.error("ended: %s", reason)
    if state_dir.is_dir():
        write_json(state_dir / ENDED_FILE, {"reason": reason}, mode=PRIVATE_MODE)
    return ClusterError.exit_code


def _serve(state_dir: Path) -> str:
    request = read_json(state_dir / REQUEST_FILE)
    plane = start_control_plane(
        state_dir,
        binaries={name: Path(path) for name, path in request["binaries"].items()},
        webhook_argv=request["webhook_argv"],
        nodes=request["nodes"],
    )
    try:
        if plane.cluster is None:  # pragma: no cover - a started plane has one
            raise AssertionError
        plane.cluster.save(state_dir / CLUSTER_FILE)
        _log.info("ready at %s", plane.cluster.server)
        return _watch(plane)
    finally:
        plane.end()


def _watch(plane: ControlPlane) -> str:
    """Return why the cluster cannot go on."""
    restarts = 0
    while plane.state_dir.is_dir():
        plane.children["etcd"].wait(_LOOK_EVERY_S)
        plane.check()
        if plane.webhook is not None and not plane.webhook.running:
            if restarts == _WEBHOOK_RESTARTS:
                return f"the webhook ended {restarts + 1} times"
            restarts += 1
            _log.warning("the webhook ended, start %d", restarts + 1)
            plane.webhook.end()
            plane.warm_webhook()
            plane.configure_webhook()
            plane.record()
    return f"folder {plane.state_dir} is gone"


def _told(_number: int, _frame: FrameType | None) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):  # once: the way out must not be cut short
        signal.signal(number, signal.SIG_IGN)
    raise _Told


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

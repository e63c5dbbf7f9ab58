"""Controller and instruments of one attempt as pods; the lab stack makes them.

What they print is followed with `kubectl logs`, and the instruments are reached by `kubectl
port-forward`, so that neither needs a route from this machine into the cluster. What the API server
cannot do is done inside of the node: killing a container as a crash would, and reading the journal
where it is kept.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.cluster.provider import TWO_CONTROLLERS, Cluster, Node
from harness.cluster.services.follower import READY_TIMEOUT_S, Follower
from harness.cluster.services.heard import log_tail
from harness.cluster.services.laboratory import InstrumentsAddress, pause_text
from harness.core.process import run, scrubbed_environment
from harness.core.waiting import wait_until
from harness.errors import ClusterError, HarnessError

#: Seconds for one kubectl command that waits for nothing.
_KUBECTL_TIMEOUT_S = 20.0

#: Seconds between two looks at what kubectl or a pod has come to.
_INTERVAL_S = 0.05

_CONTROLLER, _INSTRUMENTS = "controller", "instruments"

#: Names in tf/modules/lab_services.
_APP_LABEL = "app.kubernetes.io/name"
_PORT = 8080
_VOLUME = "state"
_JOURNAL = "instruments.jsonl"

_FORWARDING = re.compile(r"^Forwarding from 127\.0\.0\.1:(\d+) ")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pod:
    """What the API server says of the one pod of a service.

    Attributes:
        uid: Its UID.
        restarts: How often its container was started again.
        running: Whether its container runs now.
    """

    uid: str
    restarts: int
    running: bool


class PodLaboratory:
    """Controller and instruments as Deployments of one replica each."""

    def __init__(
        self,
        cluster: Cluster,
        *,
        image: str,
        node: Node | None,
        kubectl: Path,
        namespace: str,
        logs_dir: Path,
        pause_at: str | None,
        pause_task: str | None = None,
    ) -> None:
        """Start nothing yet.

        Args:
            cluster: Where the pods run.
            image: What they run.
            node: The inside of the node; None where we may not go there.
            kubectl: The binary.
            namespace: The laboratory's namespace.
            logs_dir: Folder of the logs.
            pause_at: Where the controller must stop itself, once; None means nowhere.
            pause_task: LabTask whose call it must be; None means any.
        """
        self._image, self._node, self._kubectl = image, node, kubectl
        self._namespace, self._logs_dir = namespace, logs_dir
        self._pause = pause_text(pause_at, pause_task)
        # PATH and HOME are for the plug-ins that a kubeconfig may name to get its credentials.
        self._environment = scrubbed_environment(
            {"KUBECONFIG": str(cluster.kubeconfig)}, keep=("PATH", "HOME")
        )
        self._tokens = {name: secrets.token_hex(16) for name in (_CONTROLLER, "harness")}
        self._followers: dict[str, Follower] = {}
        self._forward: Follower | None = None

    def stack_values(self) -> Mapping[str, Any]:
        """Return the variable `services` of the lab stack."""
        services = {
            "image": self._image,
            "controller_token": self._tokens[_CONTROLLER],
            "harness_token": self._tokens["harness"],
            "pause_at": self._pause,
        }
        return {"services": services}

    def open(self) -> InstrumentsAddress:
        """Wait until both say that they are ready, and open the way to the instruments."""
        for name in (_INSTRUMENTS, _CONTROLLER):
            self._follow(name)
        for name in (_INSTRUMENTS, _CONTROLLER):
            self._followers[name].ready()
        return InstrumentsAddress(
            url=f"http://127.0.0.1:{self._forwarded_port()}", token=self._tokens["harness"]
        )

    @property
    def paused_at(self) -> str | None:
        """The point at which the controller stopped itself, as it was told to."""
        return self._followers[_CONTROLLER].heard.paused_at

    def replace_controller(self) -> None:
        """Kill the controller's container; the kubelet starts it again in the same pod.

        Raises:
            ClusterError: There is no way into the node, or no successor.
        """
        if self._node is None:
            msg = "the controller's container cannot be killed: its node is not ours to enter"
            raise ClusterError(msg, hint="use a cluster with the capability 'node_access'")
        before = self._pod(_CONTROLLER)
        self._node.kill_container(self._namespace, _CONTROLLER)
        self._followers[_CONTROLLER].end()
        wait_until(
            lambda: self._pod(_CONTROLLER),
            lambda pod: pod.restarts > before.restarts and pod.running,
            what="the controller's successor",
            timeout_s=READY_TIMEOUT_S,
            interval_s=_INTERVAL_S,
        )
        self._follow(_CONTROLLER)
        self._followers[_CONTROLLER].ready()

    def start_second_controller(self) -> None:
        """Refuse: a Deployment of two would balance them, and one pod cannot be frozen from here.

        Raises:
            ClusterError: Always.
        """
        msg = "a second controller cannot be kept beside the first: they are pods of one Deployment"
        raise ClusterError(msg, hint=f"use a cluster with the capability {TWO_CONTROLLERS!r}")

    def wake_first_controller(self) -> None:
        """Refuse, as `start_second_controller` does."""
        self.start_second_controller()

    def end_first_controller(self) -> None:
        """Do nothing: there is never a second one."""

    def journal(self) -> bytes | None:
        """Return the instruments' journal from the node; None where we may not go there."""
        if self._node is None:
            return None
        volume = self._node.pod_volume_path(self._pod(_INSTRUMENTS).uid, _VOLUME)
        return self._node.read_file(volume / _JOURNAL)

    def trouble(self) -> str:
        """Return why pods do not come up, as far as the API server tells; empty when it does not.

        Called when the stack failed: a rollout that is not done in time does not say why.
        """
        try:
            pods = self._get("pods")
        except HarnessError:
            return ""
        return "; ".join(filter(None, map(_trouble_of, pods)))

    def end(self) -> None:
        """End what follows the pods; the pods go with the stack. Idempotent."""
        with ExitStack() as always:
            for follower in self._followers.values():
                always.callback(follower.end)
            if self._forward:
                always.callback(self._forward.end)

    def _follow(self, name: str) -> None:
        argv = ["logs", "--follow", f"deployment/{name}", f"--container={name}"]
        self._followers[name] = self._child(name, argv)

    def _forwarded_port(self) -> int:
        argv = ["port-forward", f"deployment/{_INSTRUMENTS}", f":{_PORT}", "--address=127.0.0.1"]
        self._forward = forward = self._child("port-forward", argv)

        def port() -> int | None:
            found = next(filter(None, map(_FORWARDING.match, forward.lines())), None)
            if found is None and not forward.child.running:
                msg = f"no way to the instruments: {log_tail(forward.log_path)}"
                raise ClusterError(msg, hint="check that the node can be reached")
            return int(found[1]) if found else None

        found = wait_until(
            port,
            lambda seen: seen is not None,
            what="the way to the instruments",
            timeout_s=_KUBECTL_TIMEOUT_S,
            interval_s=0.01,
        )
        return found or 0

    def _child(self, name: str, arguments: Sequence[str]) -> Follower:
        log_path = self._logs_dir / f"{name}.log"
        argv = [str(self._kubectl), f"--namespace={self._namespace}", *arguments]
        return Follower(name, argv, environment=self._environment, log_path=log_path)

    def _pod(self, name: str) -> _Pod:
        pods = self._get("pods", f"--selector={_APP_LABEL}={name}")
        if len(pods) != 1:
            msg = f"{name}: {len(pods)} pods in namespace {self._namespace}, expected 1"
            raise ClusterError(msg, hint="look at the events of its Deployment")
        return _pod_of(pods[0])

    def _get(self, *arguments: str) -> list[dict[str, Any]]:
        finished = run(
            [
                *(str(self._kubectl), f"--namespace={self._namespace}"),
                *("get", *arguments, "--output=json"),
            ],
            env=self._environment,
            timeout_s=_KUBECTL_TIMEOUT_S,
        )
        if finished.returncode:
            msg = f"pods of {self._namespace} cannot be read: {finished.stderr.strip()}"
            raise ClusterError(msg, hint="check that the cluster is running")
        items: list[dict[str, Any]] = json.loads(finished.stdout)["items"]
        return items


def _pod_of(item: Mapping[str, Any]) -> _Pod:
    status = (item["status"].get("containerStatuses") or [{}])[0]
    return _Pod(
        uid=item["metadata"]["uid"],
        restarts=status.get("restartCount", 0),
        running="running" in status.get("state", {}),
    )


def _trouble_of(item: Mapping[str, Any]) -> str:
    """Return why one pod does not run, for example that its image is not on the node. Pure."""
    status = item["status"]
    reasons = [
        one["state"]["waiting"]
        for one in status.get("containerStatuses") or ()
        if "waiting" in one.get("state", {})
    ]
    reasons += [
        one for one in status.get("conditions") or () if one.get("reason") == "Unschedulable"
    ]
    said = ", ".join(f"{one.get('reason', '')}: {one.get('message', '')}" for one in reasons)
    return f"pod {item['metadata']['name']}: {said}" if said else ""

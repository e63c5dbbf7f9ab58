"""The controller's process, for one namespace: configuration, threads, and the loop between them.

What must not be lost is in the objects. It can be told to stop at a named point, so that a crash
there can be made on purpose; SIGCONT, with which a frozen process goes on, wakes it there too.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self

from harness.core.waiting import wait_until
from harness.errors import ClusterError
from harness.kube.client import KubeClient
from harness.kube.resources import LAB_KINDS
from harness.lab.cache import Cache
from harness.lab.configuration import check_keys
from harness.lab.link import InstrumentLink
from harness.lab.loop import Controller
from harness.lab.pausing import Pause, PausePlace, Say, parse_place
from harness.lab.watching import watch_kind

#: Seconds until every kind was listed and answers are heard. Both take under 0.1 s.
_START_TIMEOUT_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerConfig:
    """What the process is told.

    Attributes:
        kubeconfig_path: How to meet the API server as the ServiceAccount `controller`.
        namespace: The laboratory's namespace.
        instruments_url: Address of the instruments.
        instruments_token: Their token for the controller.
        pause_at: Where to stop; None means nowhere.
        pause_once_path: File that remembers a stop, so that the next process that is told the same
            goes on; None means that each one stops.
    """

    kubeconfig_path: Path
    namespace: str
    instruments_url: str
    instruments_token: str = field(repr=False)
    pause_at: PausePlace | None
    pause_once_path: Path | None

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Self:
        """Return the configuration in a JSON object.

        Raises:
            ConfigError: A key is missing or unknown, or there is no such point.
        """
        check_keys("controller", value, frozenset(cls.__slots__))
        place = value["pause_at"]
        once = value["pause_once_path"]
        return cls(
            kubeconfig_path=Path(value["kubeconfig_path"]),
            namespace=str(value["namespace"]),
            instruments_url=str(value["instruments_url"]),
            instruments_token=str(value["instruments_token"]),
            pause_at=parse_place(str(place)) if place is not None else None,
            pause_once_path=Path(once) if once else None,
        )


def run_controller(config: ControllerConfig, say: Say) -> None:
    """Control one namespace until SIGTERM."""
    stop = threading.Event()
    cache = Cache()
    pause = Pause(config.pause_at, once_path=config.pause_once_path, say=say)

    def end(*_: object) -> None:
        stop.set()
        pause.wake()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    signal.signal(signal.SIGCONT, lambda *_: pause.wake())
    client = KubeClient.from_kubeconfig(config.kubeconfig_path)
    link = InstrumentLink(config.instruments_url, config.instruments_token)
    controller = Controller(
        namespace=config.namespace, client=client, cache=cache, link=link, stop=stop, pause=pause
    )
    broken: list[str] = []

    def thread(name: str, work: Callable[[], None]) -> None:
        def run() -> None:
            try:
                work()
            finally:
                if not stop.is_set():
                    broken.append(name)
                    stop.set()
                    cache.bump()

        threading.Thread(target=run, name=name, daemon=True).start()

    for resource in LAB_KINDS:
        feed = partial(watch_kind, client, resource, namespace=config.namespace)
        thread(f"watch of {resource.plural}", partial(feed, cache=cache, stop=stop))
    thread(
        "answers",
        lambda: link.listen(
            stop=stop, on_listening=controller.set_listening, on_answer=controller.hear
        ),
    )
    wait_until(
        lambda: (len(cache.listed), controller.listening),
        lambda seen: stop.is_set() or seen == (len(LAB_KINDS), True),
        what="controller (kinds listed, answers heard)",
        timeout_s=_START_TIMEOUT_S,
        interval_s=0.01,
    )
    if not stop.is_set():
        say("ready", {})
        controller.loop()
    if broken:
        msg = f"controller: {', '.join(broken)} ended by itself"
        raise ClusterError(msg, hint="read its log")

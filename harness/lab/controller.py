"""The controller's process, for one namespace: configuration, threads, and the loop between them.

What must not be lost is in the objects. It can be told to stop for ever at a named point, so that a
crash there can be made on purpose.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

from harness.core.waiting import wait_until
from harness.errors import ClusterError, ConfigError
from harness.kube.client import KubeClient
from harness.kube.resources import LAB_KINDS
from harness.lab.cache import Cache
from harness.lab.configuration import check_keys
from harness.lab.link import InstrumentLink
from harness.lab.loop import Controller, PausePoint
from harness.lab.watching import watch_kind

Say = Callable[[str, Mapping[str, Any]], None]

#: Seconds until every kind was listed and answers are heard. Both take under 0.1 s.
_START_TIMEOUT_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerConfig:
    """What the process is told.

    Attributes:
        server: Address of the API server.
        ca_pem: Certificate of its authority.
        token: Bearer token of the ServiceAccount `controller`.
        namespace: The laboratory's namespace.
        instruments_url: Address of the instruments.
        instruments_token: Their token for the controller.
        pause_at: Where to stop for ever; None means nowhere.
    """

    server: str
    ca_pem: str
    token: str = field(repr=False)
    namespace: str
    instruments_url: str
    instruments_token: str = field(repr=False)
    pause_at: PausePoint | None

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Self:
        """Return the configuration in a JSON object.

        Raises:
            ConfigError: A key is missing or unknown, or there is no such point.
        """
        expected = frozenset(cls.__slots__)
        check_keys("controller", value, expected)
        pause_at = value["pause_at"]
        if pause_at is not None and pause_at not in list(PausePoint):
            msg = f"controller: pause_at {pause_at!r}, expected one of {', '.join(PausePoint)}"
            raise ConfigError(msg, hint="name one of these points, or none")
        texts = {name: str(value[name]) for name in expected - {"pause_at"}}
        return cls(pause_at=PausePoint(pause_at) if pause_at else None, **texts)


def run_controller(config: ControllerConfig, say: Say) -> None:
    """Control one namespace until SIGTERM."""
    stop = threading.Event()
    cache = Cache()

    def end(*_: object) -> None:
        stop.set()

    def pause(point: PausePoint, facts: Mapping[str, Any]) -> None:
        if point is config.pause_at:
            say(f"paused {point}", facts)
            stop.wait()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    client = KubeClient.from_token(
        server=config.server, ca_pem=config.ca_pem.encode(), token=config.token
    )
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

"""The controller's end of the link to the instruments: calls out, answers in.

It cannot ask about a past call, because there is nothing to ask with: an answer is heard when it
comes, or never.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx

from harness.lab.reconcile import Send

_LOG = logging.getLogger(__name__)

#: Seconds for a call to be accepted. An instrument answers within 10 ms, its disk included.
_SEND_TIMEOUT_S = 5.0

#: Seconds between two attempts to hear answers.
_AGAIN_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What came of handing over a call.

    Attributes:
        refused: The instrument's refusal, or empty.
        lost: Why the link failed, or empty; then nobody knows whether the call arrived.
    """

    refused: str = ""
    lost: str = ""


class InstrumentLink:
    """Speaks to the instruments of one laboratory. `send` and `listen` may run in two threads."""

    def __init__(self, url: str, token: str) -> None:
        self._http = httpx.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {token}"},
            timeout=_SEND_TIMEOUT_S,
            trust_env=False,
        )

    def send(self, call: Send) -> Sent:
        """Hand over a call; never raises for the link or the instrument."""
        body = {
            "requestId": call.request_id,
            "capability": call.capability,
            "inputs": dict(call.inputs),
            "fencingToken": call.fencing_token,
        }
        try:
            response = self._http.post(_path(call.instrument, "requests"), json=body)
        except httpx.TransportError as error:
            return Sent(lost=f"the link failed: {type(error).__name__}")
        if response.is_success:
            return Sent()
        return Sent(refused=f"{_message(response)} (HTTP {response.status_code})")

    def fence(self, instrument: str, token: int) -> str:
        """Say that tokens up to this one are stale; return what kept it from being heard.

        An instrument that is not there has nothing to fence.
        """
        path = _path(instrument, "fence")
        try:
            response = self._http.post(path, json={"fencingToken": token})
        except httpx.TransportError as error:
            return f"the link failed: {type(error).__name__}"
        known = response.status_code != httpx.codes.NOT_FOUND
        return f"HTTP {response.status_code}" if known and not response.is_success else ""

    def listen(
        self,
        *,
        stop: threading.Event,
        on_listening: Callable[[bool], None],
        on_answer: Callable[[Mapping[str, Any]], None],
    ) -> None:
        """Hear answers until `stop` is set; go on after a break, with what was missed missed."""
        while not stop.is_set():
            try:
                self._hear(on_listening, on_answer)
            except (httpx.HTTPError, ValueError) as error:
                _LOG.warning("answers broke off: %s", type(error).__name__)
            on_listening(False)  # noqa: FBT003 - one flag, named by the callback
            stop.wait(_AGAIN_S)

    def _hear(
        self,
        on_listening: Callable[[bool], None],
        on_answer: Callable[[Mapping[str, Any]], None],
    ) -> None:
        timeout = httpx.Timeout(_SEND_TIMEOUT_S, read=None)
        with self._http.stream("GET", "/v1/answers", timeout=timeout) as response:
            response.raise_for_status()
            for line in response.iter_lines():
                said = json.loads(line)
                if "subscribed" in said:
                    on_listening(True)  # noqa: FBT003 - one flag, named by the callback
                else:
                    on_answer(said)


def _path(instrument: str, what: str) -> str:
    return f"/v1/instruments/{quote(instrument, safe='')}/{what}"


def _message(response: httpx.Response) -> str:
    try:
        body = response.json()
    except ValueError:
        return "refused"
    return str(body.get("message", "refused")) if isinstance(body, dict) else "refused"

"""The harness's own line to the instruments: the truth is read over it, decided, and hidden.

Agents and the controller never see this: the journal is the truth that grading is held against.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

import httpx

from harness.errors import ClusterError

#: Seconds for one call; the journal of an attempt is read in a few milliseconds.
_TIMEOUT_S = 10.0


def parse_journal(data: bytes) -> list[dict[str, Any]]:
    """Return the entries of a journal's file; a line still being written is left out. Pure."""
    return [json.loads(line) for line in data.split(b"\n")[:-1] if line]


class InstrumentsClient:
    """One attempt's instruments over their own authenticated HTTP.

    Every method raises ClusterError when they do not answer, or refuse.
    """

    def __init__(self, url: str, *, token: str) -> None:
        self._client = httpx.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {token}"},
            timeout=_TIMEOUT_S,
            trust_env=False,
        )

    def journal(self) -> list[dict[str, Any]]:
        """Return every entry of the journal, in order."""
        entries: list[dict[str, Any]] = self._ask("GET", "/v1/journal")["entries"]
        return entries

    def idle(self) -> bool:
        """Return whether no instrument is at work."""
        return bool(self._ask("GET", "/v1/state")["idle"])

    def world(self) -> dict[str, Any]:
        """Return what stands on the bench: `vessels` by sample id, `labware` by labware id."""
        found: dict[str, Any] = self._ask("GET", "/v1/world")
        return found

    def tell_fates(self, noise_key: str, fates: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        """Say what becomes of each instrument's first acting calls; once, before any call.

        Args:
            noise_key: What the errors of readings hang on.
            fates: Instrument to the fates of its acting calls, in order: `kind`, `share`, `silent`.
        """
        told = {name: [dict(fate) for fate in of_one] for name, of_one in fates.items()}
        self._ask("POST", "/v1/fates", {"noiseKey": noise_key, "fates": told})

    def restart(self, name: str, *, memory: bool) -> None:
        """Start an instrument anew, with its own log or without."""
        self._ask("POST", f"{_path(name)}/restart", {"memory": memory})

    def drop_link(self, name: str) -> None:
        """Have its next call accepted, and the connection closed without an answer."""
        self._ask("POST", f"{_path(name)}/drop-link")

    def hold(self, name: str) -> None:
        """Keep what it has in hand from ending, now and later."""
        self._ask("POST", f"{_path(name)}/hold")

    def let_go(self, name: str) -> None:
        """Let what it has in hand end: at once, if it was held."""
        self._ask("POST", f"{_path(name)}/let-go")

    def release(self, request_id: str) -> None:
        """Give an answer that was held back to who listens now."""
        self._ask("POST", "/v1/release", {"requestId": request_id})

    def close(self) -> None:
        """Close the connection. Idempotent."""
        self._client.close()

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        try:
            answer = self._client.request(method, path, json=body)
        except httpx.HTTPError as error:
            msg = f"instruments: {path} not answered: {error}"
            raise ClusterError(msg) from error
        if not answer.is_success:
            msg = f"instruments: {path} answered {answer.status_code}: {_message(answer)}"
            raise ClusterError(msg)
        return answer.json()


def _path(name: str) -> str:
    return f"/v1/instruments/{quote(name, safe='')}"


def _message(answer: httpx.Response) -> str:
    try:
        body = answer.json()
    except ValueError:
        return "no JSON"
    return str(body.get("message", "")) if isinstance(body, dict) else "no JSON object"

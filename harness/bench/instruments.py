"""The harness's own line to the instruments: their journal, and whether they are at rest.

Agents and the controller never see this: the journal is the truth that grading is held against.
"""

from __future__ import annotations

import json
from typing import Any

import httpx

from harness.errors import ClusterError

#: Seconds for one call; the journal of an attempt is read in a few milliseconds.
_TIMEOUT_S = 10.0


def parse_journal(data: bytes) -> list[dict[str, Any]]:
    """Return the entries of a journal's file; a line still being written is left out. Pure."""
    return [json.loads(line) for line in data.split(b"\n")[:-1] if line]


class InstrumentsClient:
    """Reads one attempt's instruments over their own authenticated HTTP."""

    def __init__(self, url: str, *, token: str) -> None:
        self._client = httpx.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {token}"},
            timeout=_TIMEOUT_S,
            trust_env=False,
        )

    def journal(self) -> list[dict[str, Any]]:
        """Return every entry of the journal, in order."""
        entries: list[dict[str, Any]] = self._get("/v1/journal")["entries"]
        return entries

    def idle(self) -> bool:
        """Return whether no instrument is at work."""
        return bool(self._get("/v1/state")["idle"])

    def close(self) -> None:
        """Close the connection. Idempotent."""
        self._client.close()

    def _get(self, path: str) -> Any:
        try:
            answer = self._client.get(path)
            answer.raise_for_status()
        except httpx.HTTPError as error:
            msg = f"instruments: {path} not answered: {error}"
            raise ClusterError(msg) from error
        return answer.json()

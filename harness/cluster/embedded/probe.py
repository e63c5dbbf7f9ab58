"""One HTTPS request with a client certificate, for the time before anything else can ask.

Refuses to know Kubernetes' objects; the SDK takes a second to import, and this is asked 20 times a
second while a control plane starts. Called by the start of a control plane.
"""

from __future__ import annotations

import http.client
import ssl
from pathlib import Path

from harness.errors import UnreachableError

#: Seconds for one answer; on loopback it takes milliseconds, and a start under load up to 2 s.
_TIMEOUT_S = 5.0


def client_context(*, ca: Path, certificate: Path | None = None) -> ssl.SSLContext:
    """Return a TLS context that trusts one authority; `certificate` is NAME.crt with NAME.key."""
    context = ssl.create_default_context(cafile=str(ca))
    if certificate is not None:
        context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    return context


def https_get(port: int, path: str, *, context: ssl.SSLContext) -> tuple[int, bytes]:
    """Ask 127.0.0.1 once; return status and body.

    Raises:
        UnreachableError: There was no answer.
    """
    return _request(port, "GET", path, None, context)


def https_post(port: int, path: str, body: bytes, *, context: ssl.SSLContext) -> tuple[int, bytes]:
    """Send JSON to 127.0.0.1 once; return status and body.

    Raises:
        UnreachableError: There was no answer; it may have been taken all the same.
    """
    return _request(port, "POST", path, body, context)


def _request(
    port: int, method: str, path: str, body: bytes | None, context: ssl.SSLContext
) -> tuple[int, bytes]:
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=_TIMEOUT_S)
    try:
        headers = {"Content-Type": "application/json"} if body is not None else {}
        connection.request(method, path, body=body, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (OSError, http.client.HTTPException) as error:
        msg = f"https://127.0.0.1:{port}{path}: {error}"
        raise UnreachableError(msg) from error
    finally:
        connection.close()

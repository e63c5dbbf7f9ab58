"""A server on loopback that speaks chat completions from a script."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: A step of a script: a body with status 200, a status with a body, or silence.
Step = dict[str, Any] | tuple[int, dict[str, Any] | str] | None


class ChatServer:
    """Speaks chat completions from a script; the last step is repeated for ever."""

    def __init__(self) -> None:
        """Listen, with nothing to say yet."""
        self.script: list[Step] = []
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.closing = threading.Event()
        chat = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                chat.requests.append(json.loads(body))
                chat.keys.append(self.headers["Authorization"])
                step = chat.script.pop(0) if len(chat.script) > 1 else chat.script[0]
                if step is None:
                    chat.closing.wait(30)
                    self.close_connection = True
                    return
                status, answer = step if isinstance(step, tuple) else (200, step)
                data = (answer if isinstance(answer, str) else json.dumps(answer)).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.send_header("retry-after-ms", "1")
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = False
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"


@contextmanager
def serving_chat() -> Iterator[ChatServer]:
    """Serve until the end of the block."""
    chat = ChatServer()
    thread = threading.Thread(target=chat.server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield chat
    finally:
        chat.closing.set()
        chat.server.shutdown()
        chat.server.server_close()
        thread.join()

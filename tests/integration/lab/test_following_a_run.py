"""A control follows a run with kubectl: nothing that happens between list and watch escapes it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from harness.cluster.toolchain import Toolchain
from harness.kube.client import KubeClient
from harness.kube.resources import LAB_RUNS
from tests.integration.lab.bench import WEIGH
from tests.integration.lab.laboratory import Lab

CONTROLS = Path(__file__).resolve().parents[3] / "tasks" / "lab-operation" / "controls"


@pytest.fixture(scope="session")
def kubectl(toolchain: Toolchain) -> Path:
    return toolchain.ensure(("kubectl",))["kubectl"]


@contextmanager
def api_server_before_whose_watch(act: Callable[[], None], client: KubeClient) -> Iterator[str]:
    """Hand every GET on to the real API server; once a watch is asked for, `act` comes first."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = urlsplit(self.path)
            query = dict(parse_qsl(url.query))
            if "watch" in query:
                act()
                query["timeoutSeconds"] = "10"
            answer = client._send("GET", url.path, query=query, timeout_s=20)
            try:
                self.send_response(answer.status)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                while chunk := answer.read1(65536):
                    self.wfile.write(chunk)
            except ConnectionError:  # kubectl has seen enough
                return
            finally:
                answer.close()

        def log_message(self, *_: object) -> None:
            """Keep it to itself."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def follow(
    lab: Lab, kubectl: Path, *, server: str, timeout_s: float
) -> subprocess.CompletedProcess[str]:
    """Let the controls' own function follow the run, in a process as the controls have it."""
    kubeconfig = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "lab",
        "clusters": [{"name": "lab", "cluster": {"server": server}}],
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "namespace": lab.namespace}}],
    }
    path = lab.folder / "kubeconfig"
    path.write_text(json.dumps(kubeconfig))
    return subprocess.run(
        [
            sys.executable,
            "-c",
            f"import operator_at_work as o; print(o.wait_for_rest('day', timeout_s={timeout_s}))",
        ],
        cwd=CONTROLS,
        env={
            "PATH": f"{kubectl.parent}:{os.defpath}",
            "HOME": str(lab.folder),
            "KUBECONFIG": str(path),
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        capture_output=True,
        text=True,
        timeout=40,
        check=False,
    )


def _move(lab: Lab, *states: str) -> None:
    controller = lab.role("controller")
    for state in states:
        patch = {"status": {"state": state}}
        controller.patch(LAB_RUNS, "day", patch, namespace=lab.namespace, subresource="status")


def test_the_end_of_a_run_that_falls_between_the_list_and_the_watch_is_seen(
    bare_lab: Lab, kubectl: Path
) -> None:
    bare_lab.submit(bare_lab.agent, "day", WEIGH)
    _move(bare_lab, "running")

    with api_server_before_whose_watch(
        lambda: _move(bare_lab, "completed"), bare_lab.agent
    ) as server:
        done = follow(bare_lab, kubectl, server=server, timeout_s=8)

    assert (done.stdout, done.stderr) == ("completed\n", "")


def test_a_run_that_never_rests_is_told_with_its_last_state(bare_lab: Lab, kubectl: Path) -> None:
    bare_lab.submit(bare_lab.agent, "day", WEIGH)
    _move(bare_lab, "running")

    with api_server_before_whose_watch(lambda: None, bare_lab.agent) as server:
        done = follow(bare_lab, kubectl, server=server, timeout_s=2)

    assert done.returncode == 1
    assert done.stderr == ("run day was not seen at rest, in 2 s at most; last seen: running\n")

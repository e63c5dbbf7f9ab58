"""A kubectl that answers from a script, and a person who names and allows contexts."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from harness.cluster.existing.provider import ExistingProvider

SERVER = "https://10.0.0.1:6443"


def encoded(text: str) -> str:
    """Return base64."""
    return base64.b64encode(text.encode()).decode()


def minified(server: str = SERVER, *, user: Any = None, cluster: Any = None) -> dict[str, Any]:
    """Return one context as `kubectl config view --minify --flatten --raw` gives it."""
    fields = {"server": server, "certificate-authority-data": encoded("CA"), **(cluster or {})}
    credentials = {"client-certificate-data": encoded("CRT"), "client-key-data": encoded("KEY")}
    return {
        "clusters": [{"name": "c", "cluster": fields}],
        "users": [{"name": "u", "user": credentials if user is None else user}],
        "contexts": [{"name": "prod", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "prod",
    }


class FakeKubectl:
    """An executable that answers four questions and fails at any other."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "kubectl"
        self._answers = folder / "answers"
        self._answers.mkdir()
        self.path.write_text(
            "#!/bin/sh\n"
            'case "$1 $2 $3" in\n'
            f"'config view '*) cat {self._answers}/context ;;\n"
            f"'get namespace kube-system') cat {self._answers}/namespace ;;\n"
            f"'get nodes '*) cat {self._answers}/nodes ;;\n"
            f"'version '*) cat {self._answers}/version ;;\n"
            '*) echo "unknown question: $*" >&2; exit 1 ;;\n'
            "esac\n"
        )
        self.path.chmod(0o755)
        self.answers("context", minified())
        self.answers("namespace", {"metadata": {"uid": "uid-1"}})
        self.answers("nodes", {"items": [{}]})
        self.answers("version", {"serverVersion": {"gitVersion": "v1.37.2"}})

    def answers(self, question: str, value: Any) -> None:
        """Change an answer."""
        (self._answers / question).write_text(json.dumps(value))


class Person:
    """Somebody with a cluster, a home of ours and a list of allowed contexts."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.kubectl = FakeKubectl(folder)
        self.environ = {"XDG_CONFIG_HOME": str(folder / "config"), "PATH": "/usr/bin:/bin"}
        self.list_path = folder / "config" / "strandline" / "allowed-contexts.yaml"

    def allows(
        self, text: str = f"contexts:\n  - {{ context: prod, server: '{SERVER}' }}\n"
    ) -> None:
        """Write the list."""
        self.list_path.parent.mkdir(parents=True, exist_ok=True)
        self.list_path.write_text(text)

    def provider(
        self,
        context: str | None = "prod",
        image: str | None = "registry.test/lab:1",
        *,
        laboratory: bool = True,
    ) -> ExistingProvider:
        """Return the provider as it is named."""
        return ExistingProvider(
            context=context,
            image=image,
            laboratory=laboratory,
            kubectl=self.kubectl.path,
            environ=self.environ,
        )

"""One context of a person's kubeconfig, and the private copy of it that we work with.

kubectl merges the files of `KUBECONFIG` and finds the context; here what we cannot honour is
refused. Keys go into files of their own, 0600, because the Python client would copy a key that is
inside of a kubeconfig into a temporary file. Tokens and exec plugins are kept as they are.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.core.files import PRIVATE_MODE, write_atomic, write_json
from harness.core.process import run, scrubbed_environment
from harness.errors import ClusterError, ConfigError

#: Seconds for kubectl to read files; it takes 50 ms.
_READ_TIMEOUT_S = 20.0

#: Names of the environment that kubectl and an exec plugin may need beside the usual ones.
_KEPT_NAMES = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "USER", "KUBECONFIG")

#: Fields of a cluster that would be lost on the way to the agent, whose line is a relay of ours.
_UNSUPPORTED = {
    "insecure-skip-tls-verify": "its server's certificate is not verified",
    "proxy-url": "it goes through a proxy",
    "tls-server-name": "its server's certificate carries another name",
}

#: What the copy keeps in files: key of the data, key of the path, name of the file.
_FILES = (
    ("client-certificate-data", "client-certificate", "client.crt"),
    ("client-key-data", "client-key", "client.key"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """One context, alone.

    Attributes:
        name: Its name.
        server: URL of its API server.
        ca_pem: Certificate of the authority that signed the server's certificate.
        user: Its credentials, as a kubeconfig has them.
    """

    name: str
    server: str
    ca_pem: bytes
    user: Mapping[str, Any] = field(repr=False)


def read_context(
    name: str, *, kubectl: Path, kubeconfig: Path | None, environ: Mapping[str, str]
) -> Context:
    """Return a context of a kubeconfig file, or of what `KUBECONFIG` names.

    Raises:
        ConfigError: It is not there, or is one that we cannot work with.
    """
    chosen = {"KUBECONFIG": str(kubeconfig.absolute())} if kubeconfig else {}
    finished = run(
        [
            *(str(kubectl), "config", "view", "--minify", "--flatten", "--raw"),
            *("--context", name, "-o", "json"),
        ],
        env=scrubbed_environment(chosen, keep=_KEPT_NAMES, ambient=environ),
        timeout_s=_READ_TIMEOUT_S,
    )
    where = str(kubeconfig or environ.get("KUBECONFIG") or "~/.kube/config")
    if finished.returncode != 0:
        said = (finished.stderr.strip().splitlines() or ["nothing"])[-1][:200]
        msg = f"{where}: no context {name!r}: {said}"
        raise ConfigError(msg, hint="list the names with `kubectl config get-contexts`")
    try:
        return parse_context(name, json.loads(finished.stdout), where=where)
    except (ValueError, KeyError, IndexError, TypeError) as error:
        # Neither the text nor the error's own words are shown: both may hold a key.
        msg = f"{where}: context {name!r} cannot be read: {type(error).__name__}"
        raise ConfigError(
            msg, hint="check its cluster and user with `kubectl config view`"
        ) from None


def parse_context(name: str, document: Mapping[str, Any], *, where: str) -> Context:
    """Return the one context of a minified, flattened kubeconfig. Pure.

    Raises:
        ConfigError: We cannot work with it.
    """
    cluster = document["clusters"][0]["cluster"]
    user = (document["users"] or [{"user": {}}])[0]["user"]
    for key, problem in _UNSUPPORTED.items():
        if cluster.get(key):
            msg = f"{where}: context {name!r} has {key}: {problem}, which an agent cannot be given"
            raise ConfigError(msg, hint="name a context that reaches the API server directly")
    if not cluster.get("certificate-authority-data"):
        msg = f"{where}: context {name!r} names no certificate authority"
        raise ConfigError(msg, hint="add certificate-authority-data to its cluster")
    for key, path in (
        ("tokenFile", user.get("tokenFile")),
        ("exec.command", (user.get("exec") or {}).get("command")),
    ):
        # Relative to a file that the merge has forgotten; a bare command is looked for on PATH.
        if path and not path.startswith("/") and (key == "tokenFile" or "/" in path):
            msg = f"{where}: context {name!r} has {key} {path!r}, a relative path"
            raise ConfigError(msg, hint="write the path in full")
    ca_pem = _decoded(cluster["certificate-authority-data"])
    return Context(name=name, server=cluster["server"], ca_pem=ca_pem, user=user)


def write_copy(context: Context, folder: Path) -> Path:
    """Write the context alone as `kubeconfig`, its keys beside it, all 0600; return the path."""
    user = dict(context.user)
    for data_key, path_key, file_name in _FILES:
        data = user.pop(data_key, None)
        if data:
            write_atomic(folder / file_name, _decoded(data), mode=PRIVATE_MODE)
            user[path_key] = str(folder.absolute() / file_name)
    ca_path = folder / "ca.crt"
    write_atomic(ca_path, context.ca_pem, mode=PRIVATE_MODE)
    cluster = {"server": context.server, "certificate-authority": str(ca_path.absolute())}
    value = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": context.name,
        "clusters": [{"name": context.name, "cluster": cluster}],
        "users": [{"name": context.name, "user": user}],
        "contexts": [
            {"name": context.name, "context": {"cluster": context.name, "user": context.name}}
        ],
    }
    write_json(folder / "kubeconfig", value, mode=PRIVATE_MODE)
    return folder / "kubeconfig"


def ask(
    kubectl: Path, kubeconfig: Path, *arguments: str, timeout_s: float, environ: Mapping[str, str]
) -> Any:
    """Ask the API server through kubectl and return its answer as JSON.

    Raises:
        ClusterError: There is no answer, or it is a refusal.
    """
    finished = run(
        [str(kubectl), *arguments, "-o", "json", f"--request-timeout={timeout_s:g}s"],
        env=scrubbed_environment(
            {"KUBECONFIG": str(kubeconfig)}, keep=_KEPT_NAMES, ambient=environ
        ),
        timeout_s=timeout_s + _READ_TIMEOUT_S,
    )
    try:
        if finished.returncode == 0:
            return json.loads(finished.stdout)
    except ValueError:
        pass
    said = (finished.stderr.strip().splitlines() or ["nothing"])[-1][:400]
    msg = f"kubectl {' '.join(arguments)}: {said}"
    raise ClusterError(msg, hint="check that the cluster is running and that you may ask this")


def _decoded(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error as error:
        msg = "not base64"
        raise ValueError(msg) from error

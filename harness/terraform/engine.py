"""Terraform or OpenTofu as something to run: proved new enough, in an environment of ours.

No ambient `TF_*` variable and, with a mirror, no ambient CLI configuration has a say. It neither
looks for a binary nor runs a stack; `bench` and `stack` use what it returns.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.core.files import write_atomic
from harness.core.process import run, scrubbed_environment
from harness.errors import PrerequisiteError

#: Oldest version of each engine, as (major, minor): the first that have the JSON stream and the
#: planned output values that this room reads.
MINIMUM_VERSIONS: Mapping[str, tuple[int, int]] = {"terraform": (1, 7), "tofu": (1, 8)}

#: Seconds that `version` may take; it takes 0.05 s, a version manager's shim up to 2 s.
_VERSION_TIMEOUT_S = 20.0

#: Provider that may be built locally: a registry must not offer another build of it.
LOCAL_PROVIDERS = (
    "registry.terraform.io/gavinbunney/kubectl",
    "registry.opentofu.org/gavinbunney/kubectl",
)

#: Names kept from the caller: what a registry download behind a proxy needs, no `TF_*`.
_KEPT = (
    *("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "USER", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
)

_BANNER = re.compile(r"^(Terraform|OpenTofu) v((\d+)\.(\d+)\.\d+\S*)", re.MULTILINE)

_WHERE = (
    "https://developer.hashicorp.com/terraform/install or https://opentofu.org/docs/intro/install"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A binary that is new enough.

    Attributes:
        path: Absolute path.
        name: `terraform` or `tofu`.
        version: For example `1.11.4`.
        plugin_mirror: Root of a filesystem mirror of providers; None leaves it to the registries.
    """

    path: Path
    name: str
    version: str
    plugin_mirror: Path | None


def load_engine(path: Path, *, plugin_mirror: Path | None) -> Engine:
    """Ask a binary for its version and return it as an engine.

    Args:
        path: The binary.
        plugin_mirror: Handed on to the engine.

    Raises:
        PrerequisiteError: It is no engine, or too old.
    """
    environment = scrubbed_environment({"CHECKPOINT_DISABLE": "1"}, keep=_KEPT)
    finished = run([str(path), "version"], env=environment, timeout_s=_VERSION_TIMEOUT_S)
    return parse_version(finished.stdout, path=path.absolute(), plugin_mirror=plugin_mirror)


def parse_version(text: str, *, path: Path, plugin_mirror: Path | None) -> Engine:
    """Read what `version` printed; a line in front of it by a wrapper is passed over. Pure.

    Raises:
        PrerequisiteError: It is not an engine's banner, or the version is too old.
    """
    banner = _BANNER.search(text)
    if banner is None:
        msg = f"{path}: expected Terraform or OpenTofu, found no version in {text[:80]!r}"
        raise PrerequisiteError(msg, hint=f"install one from {_WHERE}")
    name = "terraform" if banner[1] == "Terraform" else "tofu"
    needed = MINIMUM_VERSIONS[name]
    if (int(banner[3]), int(banner[4])) < needed:
        msg = f"{path}: {banner[1]} {banner[2]} found, {needed[0]}.{needed[1]} or later needed"
        raise PrerequisiteError(msg, hint=f"install one from {_WHERE}")
    return Engine(path=path, name=name, version=banner[2], plugin_mirror=plugin_mirror)


def engine_environment(
    engine: Engine, *, work_dir: Path, extra: Mapping[str, str], ambient: Mapping[str, str]
) -> dict[str, str]:
    """Return the whole environment of an engine's commands. Idempotent.

    Args:
        engine: With a mirror, a CLI configuration for it is written into `work_dir`.
        work_dir: Private folder of the stack.
        extra: Names that come on top, for example credentials.
        ambient: The caller's own environment.
    """
    environment = scrubbed_environment(
        {"TF_IN_AUTOMATION": "1", "TF_INPUT": "0", "CHECKPOINT_DISABLE": "1"},
        keep=_KEPT,
        ambient=ambient,
    )
    if engine.plugin_mirror is not None:
        path = work_dir / "cli-configuration.tfrc"
        write_atomic(path, _cli_configuration(engine.plugin_mirror).encode())
        environment["TF_CLI_CONFIG_FILE"] = str(path)
    return environment | dict(extra)


def _cli_configuration(mirror: Path) -> str:
    return (
        "provider_installation {\n"
        f"  filesystem_mirror {{\n    path = {json.dumps(str(mirror))}\n  }}\n"
        f"  direct {{\n    exclude = {json.dumps(list(LOCAL_PROVIDERS))}\n  }}\n"
        "}\n"
    )


def ambient_terraform_variables(ambient: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the `TF_*` variables that are kept from an engine, sorted. Pure."""
    return tuple(sorted(name for name in ambient if name.startswith("TF_")))

"""What a state file says: who it is, which resources it names, what it put out.

Pure. Attributes are secrets in plain text: they are kept for the one room that needs a few of them
(`manifests`), and are shown nowhere. `state_store` reads the bytes; `stack` asks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

#: The one format of Terraform since 0.12 and of OpenTofu.
_FORMAT = 4

_PROVIDER = re.compile(r'provider\["(?P<source>[^"]+)"\]')

#: How a key is written inside an address, besides quotes and backslashes.
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


@dataclass(frozen=True, slots=True, kw_only=True)
class StateResource:
    """One instance of a resource.

    Attributes:
        address: As the engine writes it everywhere.
        provider: For example `gavinbunney/kubectl`, without its registry.
        type: For example `kubectl_manifest`.
        managed: False for a data source.
        attributes: What it holds, secrets included.
    """

    address: str
    provider: str
    type: str
    managed: bool
    attributes: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """One version of one state.

    Attributes:
        lineage: Given when the state was first made; another one is another state.
        serial: Rises with every write.
        resources: In the order of the file.
        outputs: Name to value, secrets included.
    """

    lineage: str
    serial: int
    resources: tuple[StateResource, ...]
    outputs: Mapping[str, Any] = field(repr=False)

    @property
    def addresses(self) -> tuple[str, ...]:
        """Addresses of the managed resources, sorted, each once."""
        return tuple(sorted({one.address for one in self.resources if one.managed}))


def parse_state(text: str) -> State:
    """Return what a state file says. Pure.

    Raises:
        ValueError: It is not a whole state; the message says why and shows nothing of it.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        msg = f"not JSON: {str(error).splitlines()[0]}"
        raise ValueError(msg) from None  # the error would carry the whole text along
    if not isinstance(document, dict) or document.get("version") != _FORMAT:
        msg = f"no state of format {_FORMAT}"
        raise ValueError(msg)
    try:
        return State(
            lineage=str(document["lineage"]),
            serial=int(document["serial"]),
            resources=tuple(_instances(document.get("resources") or ())),
            outputs={name: out["value"] for name, out in (document.get("outputs") or {}).items()},
        )
    except (KeyError, TypeError, AttributeError) as error:
        msg = f"a part of it is missing ({error})"
        raise ValueError(msg) from None


def _instances(resources: Any) -> Iterator[StateResource]:
    for resource in resources:
        managed = resource["mode"] == "managed"
        parts = (resource.get("module"), None if managed else "data", resource["type"])
        name = ".".join((*(part for part in parts if part), resource["name"]))
        for instance in resource["instances"]:
            yield StateResource(
                address=name + _key(instance.get("index_key")),
                provider=_source(str(resource["provider"])),
                type=resource["type"],
                managed=managed,
                attributes=instance.get("attributes") or {},
            )


def _key(key: str | int | None) -> str:
    """Write a key of `count` or `for_each` as the engine writes it in an address."""
    if key is None:
        return ""
    if not isinstance(key, str):
        return f"[{key:g}]" if isinstance(key, float) else f"[{key}]"
    text = "".join(_ESCAPES.get(char, char) for char in key)
    return '["' + text.replace("${", "$${").replace("%{", "%%{") + '"]'


def _source(provider: str) -> str:
    """Return namespace and type of a provider; the registry in front is the engine's business."""
    found = _PROVIDER.search(provider)
    return "/".join(found["source"].split("/")[-2:]) if found else provider

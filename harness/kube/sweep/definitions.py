"""Definitions of custom kinds: which there are, whose objects they hold, and whether one can look.

A definition whose conversion webhook is dead hides its objects, also from the API server itself,
which then cannot finish its deletion; without conversion they can be read again. Called by the
sweep of what a record names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from harness.core.waiting import SYSTEM_CLOCK, Clock
from harness.errors import HarnessError, NotFoundError
from harness.kube.identity_guard import ProvenClient
from harness.kube.resources import CUSTOM_RESOURCE_DEFINITIONS, Resource
from harness.kube.sweep.listing import list_readable, list_settled

#: Objects that are named of those that a definition holds.
_SHOWN = 3


class Definitions:
    """The definitions of one cluster."""

    def __init__(self, client: ProvenClient, *, clock: Clock = SYSTEM_CLOCK) -> None:
        self._client, self._clock = client, clock

    def names(self) -> frozenset[str]:
        """Return `plural.group` of every custom kind."""
        found = self._client.list_objects(CUSTOM_RESOURCE_DEFINITIONS)
        return frozenset(item["metadata"]["name"] for item in found)

    def make_readable(self, names: Iterable[str]) -> None:
        """Switch the conversion of definitions of ours off where it keeps objects unread.

        They are about to go with their webhook. One whose objects can be read is not touched, for
        it may yet have to stay for somebody's sake.
        """
        for name in names:
            definition = self._client.find(CUSTOM_RESOURCE_DEFINITIONS, name)
            conversion = (definition or {}).get("spec", {}).get("conversion") or {}
            if definition is None or conversion.get("strategy") != "Webhook":
                continue
            try:
                for version in _served(definition):
                    list_settled(self._client, version, clock=self._clock)
            except HarnessError:
                patch = {"spec": {"conversion": {"strategy": "None", "webhook": None}}}
                with suppress(NotFoundError):
                    self._client.patch(CUSTOM_RESOURCE_DEFINITIONS, name, patch)

    def held(self, names: Iterable[str]) -> dict[str, str]:
        """Return those whose deletion would take objects along, each with the reason to keep it."""
        found = {}
        for name in names:
            definition = self._client.find(CUSTOM_RESOURCE_DEFINITIONS, name)
            if definition is None:
                continue
            try:
                _, items = list_readable(self._client, _stored(definition), clock=self._clock)
            except HarnessError as error:
                found[name] = f"its objects cannot be listed: {error.message}"
                continue
            if items:
                found[name] = f"it defines objects of somebody's: {_shown(items)}"
        return found


def _stored(definition: Mapping[str, Any]) -> Resource:
    versions = definition["spec"]["versions"]
    stored = next(version["name"] for version in versions if version["storage"])
    return replace(_served(definition)[0], version=stored)


def _served(definition: Mapping[str, Any]) -> list[Resource]:
    spec = definition["spec"]
    names = spec["names"]
    return [
        Resource(
            group=spec["group"],
            version=version["name"],
            plural=names["plural"],
            kind=names["kind"],
            namespaced=spec["scope"] == "Namespaced",
        )
        for version in spec["versions"]
        if version["served"]
    ]


def _shown(items: list[dict[str, Any]]) -> str:
    shown = ", ".join(_named(item["metadata"]) for item in items[:_SHOWN])
    more = len(items) - _SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def _named(metadata: Mapping[str, Any]) -> str:
    name = f"{metadata.get('namespace', '')}/{metadata['name']}"
    finalizers = metadata.get("finalizers", ()) if "deletionTimestamp" in metadata else ()
    return name + "".join(f" (finalizer {one})" for one in finalizers)

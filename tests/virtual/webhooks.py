"""The two webhooks as the API server asks them: the real review, without a wire.

Which requests they are asked about is said again here; a test compares it with the registration.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass

from harness.core.waiting import Clock
from harness.kube.resources import LAB_GROUP, LAB_KINDS
from harness.lab.admission import Path
from harness.lab.webhook import review
from tests.virtual.asking import HARNESS, Ask, Caller
from tests.virtual.store import Obj, Store

#: Webhook to resource to the operations that it is registered for, as tf/modules/lab_admission
#: says it.
REGISTERED: Mapping[Path, Mapping[str, frozenset[str]]] = {
    Path.MUTATE: {
        "labruns": frozenset({"CREATE", "UPDATE"}),
        "attestations": frozenset({"CREATE"}),
        "notes": frozenset({"CREATE"}),
        "approvals": frozenset({"CREATE"}),
    },
    Path.VALIDATE: {
        "labruns": frozenset({"CREATE", "UPDATE", "DELETE"}),
        "attestations": frozenset({"CREATE"}),
        "notes": frozenset({"CREATE"}),
        "approvals": frozenset({"CREATE"}),
    },
}

_PLURALS = {resource.kind: resource.plural for resource in LAB_KINDS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a webhook says.

    Attributes:
        new: The object with its patch applied.
        code: HTTP status of a refusal; 0 where there is none.
        message: Message of a refusal, as the API server passes it on.
    """

    new: Obj
    warnings: tuple[str, ...] = ()
    code: int = 0
    message: str = ""


class Webhooks:
    """Both, looking at one store."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock

    def ask(
        self, path: Path, caller: Caller, ask: Ask, *, old: Obj | None, new: Obj | None
    ) -> Said:
        """Ask one of them about a request; an object that is absent is None."""
        operation = "CREATE" if old is None else "DELETE" if new is None else "UPDATE"
        if ask.subresource or operation not in REGISTERED[path].get(ask.plural, ()):
            return Said(new=new or {})
        request = {
            "uid": "virtual",
            "operation": operation,
            "kind": {"group": LAB_GROUP, "kind": ask.resource.kind},
            "namespace": self._store.namespace,
            "name": ask.name or (new or {}).get("metadata", {}).get("name", ""),
            "userInfo": {"username": caller.user, "groups": list(caller.groups)},
            "object": new,
            "oldObject": old,
            "dryRun": ask.dry_run,
        }
        body = review(
            path,
            {"request": request},
            self._read,
            harness_user=HARNESS.user,
            clock=self._clock,
        )
        response = body["response"]
        warnings = tuple(response.get("warnings", ()))
        if not response["allowed"]:
            status = response["status"]
            said = f'admission webhook "{path}.{LAB_GROUP}" denied the request: {status["message"]}'
            return Said(new=new or {}, warnings=warnings, code=status["code"], message=said)
        return Said(new=_patched(new or {}, response.get("patch")), warnings=warnings)

    def _read(self, kind: str, _namespace: str, name: str) -> tuple[Obj, ...]:
        plural = _PLURALS[kind]
        if not name:
            return tuple(self._store.all(plural))
        found = self._store.find(plural, name)
        return (found,) if found is not None else ()


def _patched(obj: Obj, patch: str | None) -> Obj:
    for change in json.loads(base64.b64decode(patch)) if patch else ():
        _, section, name = change["path"].split("/")
        obj = {**obj, section: {**obj[section], name: change["value"]}}
    return obj

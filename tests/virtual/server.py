"""An API server in memory: who may, what is admitted, what is kept, and the record of the agent's.

The order is the real one: rights, decoding with defaults, the mutating webhook, schema and rules,
policies, the validating webhook, the commit. Refusals have the words of a real server, so that
who refused is read off them as everywhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from harness.core.naming import service_account_user
from harness.core.waiting import Clock
from harness.kube.answers import Answer
from harness.lab.admission import Path
from harness.model.evidence import AuditRecord
from tests.virtual.asking import RESOURCES, Ask, Caller
from tests.virtual.policies import Write, refusal
from tests.virtual.rbac import may, roles_bound
from tests.virtual.records import record_of
from tests.virtual.schema import definitions
from tests.virtual.store import Obj, Store, merged
from tests.virtual.webhooks import Webhooks

_REASONS = {
    400: "BadRequest",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    422: "Invalid",
    500: "InternalError",
}

#: What everybody may ask: what they may do.
_REVIEWS = "selfsubjectaccessreviews"


class _RefusedError(Exception):
    """A request was refused."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class Server:
    """One namespace of a cluster."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self.store = store
        self._clock = clock
        self._webhooks = Webhooks(store, clock)
        self._watched = service_account_user(store.namespace, "agent")
        #: The agent's requests, in order; nobody else's are kept.
        self.audit: list[AuditRecord] = []
        #: Where it is set, each write of a task's status is answered with a 500 and counted.
        self.loses_task_status = False
        self.lost = 0

    def ask(self, caller: Caller, ask: Ask) -> Answer:
        """Answer one request, and keep a record of it where it is the agent's."""
        received_at = self._clock.now()
        warnings: list[str] = []
        try:
            answer = replace(self._answer(caller, ask, warnings), warnings=tuple(warnings))
        except _RefusedError as error:
            body = {
                "kind": "Status",
                "status": "Failure",
                "message": error.message,
                "reason": _REASONS.get(error.code, "Unknown"),
                "code": error.code,
            }
            answer = Answer(status=error.code, body=body, warnings=tuple(warnings))
        self._record(caller, ask, answer, received_at)
        return answer

    def close_watch(self, caller: Caller, ask: Ask, opened_at: datetime) -> None:
        """Put a watch on record that has just been closed."""
        self._record(caller, ask, Answer(status=200, body={}), opened_at)

    def may(self, caller: Caller, verb: str, plural: str, subresource: str = "") -> bool:
        """Tell whether RBAC lets somebody do something, as an access review would."""
        if caller.is_admin:
            return True
        if plural == _REVIEWS:
            return verb == "create"
        target = f"{plural}/{subresource}" if subresource else plural
        roles = roles_bound(self.store.all("rolebindings"), caller.account)
        return may(roles, verb, RESOURCES[plural].group, target)

    def _answer(self, caller: Caller, ask: Ask, warnings: list[str]) -> Answer:
        if not self.may(caller, ask.verb, ask.plural, ask.subresource):
            quoted = f'"{ask.name}" ' if ask.name and ask.verb != "create" else ""
            raise _RefusedError(
                403,
                f'{ask.resource.qualified} {quoted}is forbidden: User "{caller.user}" cannot '
                f'{ask.verb} resource "{ask.target}" in API group "{ask.resource.group}" '
                f'in the namespace "{self.store.namespace}"',
            )
        match ask.verb:
            case "get":
                return Answer(status=200, body=self._found(ask))
            case "list":
                return Answer(status=200, body={"items": self.store.all(ask.plural)})
            case "create" if ask.plural == _REVIEWS:
                return self._review(caller, ask)
            case "create":
                return self._create(caller, ask, warnings)
            case "patch" | "update":
                return self._change(caller, ask, warnings)
            case "delete":
                return self._delete(caller, ask, warnings)
            case _:
                raise _RefusedError(400, f"no verb {ask.verb}")

    def _found(self, ask: Ask) -> Obj:
        found = self.store.find(ask.plural, ask.name)
        if found is None:
            raise _RefusedError(404, f'{ask.resource.qualified} "{ask.name}" not found')
        return found

    def _review(self, caller: Caller, ask: Ask) -> Answer:
        asked = ask.body["spec"]["resourceAttributes"]
        known = asked["resource"] in RESOURCES
        allowed = known and self.may(
            caller, asked["verb"], asked["resource"], asked.get("subresource", "")
        )
        return Answer(status=201, body={**ask.body, "status": {"allowed": allowed}})

    def _create(self, caller: Caller, ask: Ask, warnings: list[str]) -> Answer:
        obj = _decoded(ask, ask.body)
        prefix = obj["metadata"].get("generateName")
        name = obj["metadata"].get("name") or (prefix and f"{prefix}{self.store.version:05x}")
        if not name:
            raise _RefusedError(422, "name or generateName is required")
        obj = {**obj, "metadata": {**obj["metadata"], "name": name}}
        obj = self._admitted(caller, ask, None, obj, warnings)
        if self.store.find(ask.plural, name) is not None:
            raise _RefusedError(409, f'{ask.resource.qualified} "{name}" already exists')
        if not ask.dry_run:
            obj = self.store.add(ask.plural, obj, self._clock.now())
        return Answer(status=201, body=obj)

    def _change(self, caller: Caller, ask: Ask, warnings: list[str]) -> Answer:
        old = self._found(ask)
        controllers = ask.target == "labtasks/status" and caller.account == "controller"
        if self.loses_task_status and controllers:
            self.lost += 1
            raise _RefusedError(
                500, 'Internal error occurred: failed calling webhook "lost": connection refused'
            )
        body = merged(old, ask.body) if ask.verb == "patch" else _decoded(ask, ask.body)
        version = old["metadata"]["resourceVersion"]
        if body["metadata"].get("resourceVersion", version) != version:
            raise _RefusedError(
                409,
                f'Operation cannot be fulfilled on {ask.resource.qualified} "{ask.name}": the '
                "object has been modified; please apply your changes to the latest version and "
                "try again",
            )
        new = _decoded(ask, body)
        if ask.subresource == "status":
            new = {**old, "status": new.get("status", {})}
        elif "status" in old:
            new = {**new, "status": old["status"]}
        new = {**new, "metadata": {**new["metadata"], "name": ask.name}}
        new = self._admitted(caller, ask, old, new, warnings)
        if not ask.dry_run:
            new = self.store.replace(ask.plural, new)
        return Answer(status=200, body=new)

    def _delete(self, caller: Caller, ask: Ask, warnings: list[str]) -> Answer:
        self._webhook(Path.VALIDATE, caller, ask, self._found(ask), None, warnings)
        if not ask.dry_run:
            self.store.remove(ask.plural, ask.name)
        return Answer(status=200, body={"status": "Success"})

    def _admitted(
        self, caller: Caller, ask: Ask, old: Obj | None, new: Obj, warnings: list[str]
    ) -> Obj:
        new = self._webhook(Path.MUTATE, caller, ask, old, new, warnings)
        definition = definitions().get(ask.plural)
        if definition is not None:
            if old is None:  # a status that is sent is dropped; the defaults stand
                new = definition.fill({key: new[key] for key in new if key != "status"})
            if problems := definition.problems(old, new):
                kind = f"{ask.resource.kind}.{ask.resource.group}"
                text = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
                name = new["metadata"]["name"]
                raise _RefusedError(422, f'{kind} "{name}" is invalid: {text}')
        write = Write(
            user=caller.user,
            namespace=self.store.namespace,
            operation="CREATE" if old is None else "UPDATE",
            resource=ask.target,
            old=old,
            new=new,
        )
        if refused := refusal(write):
            policy, why = refused
            raise _RefusedError(
                403,
                f'{ask.resource.qualified} "{new["metadata"]["name"]}" is forbidden: '
                f"ValidatingAdmissionPolicy '{policy}' with binding '{policy}' denied request: "
                f"{why}",
            )
        self._webhook(Path.VALIDATE, caller, ask, old, new, warnings)
        return new

    def _webhook(  # noqa: PLR0917 - what a request is, and where its warnings go
        self,
        path: Path,
        caller: Caller,
        ask: Ask,
        old: Obj | None,
        new: Obj | None,
        warnings: list[str],
    ) -> Obj:
        """Ask one; what it warns of is told whatever becomes of the request."""
        said = self._webhooks.ask(path, caller, ask, old=old, new=new)
        warnings.extend(said.warnings)
        if said.code:
            raise _RefusedError(said.code, said.message)
        return said.new

    def _record(self, caller: Caller, ask: Ask, answer: Answer, received_at: datetime) -> None:
        if caller.user != self._watched:
            return
        record = record_of(
            ask,
            answer,
            user=caller.user,
            namespace=self.store.namespace,
            number=len(self.audit),
            received_at=received_at,
            ended_at=self._clock.now(),
        )
        self.audit.append(record)


def _decoded(ask: Ask, body: Any) -> Obj:
    if not isinstance(body, Mapping) or not isinstance(body.get("metadata", {}), Mapping):
        raise _RefusedError(400, "the body is no object")
    typed = {"apiVersion": ask.resource.api_version, "kind": ask.resource.kind, **body}
    typed["metadata"] = dict(body.get("metadata", {}))
    definition = definitions().get(ask.plural)
    return definition.fill(typed) if definition else typed

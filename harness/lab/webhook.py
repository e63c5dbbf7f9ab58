"""The admission webhook: HTTPS in front of the pure decision.

What a decision must be shown it knows already, or reads from the API server, as an identity that
can only read. What it cannot read or understand it refuses. Called by the API server, and started
by the cluster.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path as FilePath
from typing import Any, Self

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse
from starlette.routing import Route

from harness.core.waiting import SYSTEM_CLOCK, Clock
from harness.errors import KubeError
from harness.kube.client import KubeClient
from harness.kube.resources import LAB_KINDS
from harness.lab.admission import (
    Decision,
    Path,
    Request,
    World,
    decide,
    kinds_needed,
    names_needed,
    parse_review,
)
from harness.lab.configuration import check_keys
from harness.lab.known import Known
from harness.lab.serving import HEALTH, Certificate, serve

_LOG = logging.getLogger(__name__)

_RESOURCES = {resource.kind: resource for resource in LAB_KINDS}

#: Kind, namespace and name to the objects there; an empty name means every one.
Read = Callable[[str, str, str], tuple[Mapping[str, Any], ...]]

#: Returns what is known already of what a decision looks at; None where not all of it is.
Recall = Callable[[Request], World | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookConfig:
    """What the process is told.

    Attributes:
        host: IPv4 address to bind.
        port: Port there; 0 lets the machine choose.
        cert_path: Serving certificate.
        key_path: Its key.
        kubeconfig_path: How to read the laboratory's kinds.
        harness_user: Who may delete what others may not: the user that applied the platform.
    """

    host: str
    port: int
    cert_path: FilePath
    key_path: FilePath
    kubeconfig_path: FilePath
    harness_user: str

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Self:
        """Return the configuration in a JSON object.

        Raises:
            ConfigError: A key is missing or unknown.
        """
        check_keys("webhook", value, frozenset(cls.__slots__))
        return cls(
            host=str(value["host"]),
            port=int(value["port"]),
            cert_path=FilePath(value["cert_path"]),
            key_path=FilePath(value["key_path"]),
            kubeconfig_path=FilePath(value["kubeconfig_path"]),
            harness_user=str(value["harness_user"]),
        )


def review(
    path: Path,
    body: Any,
    read: Read,
    *,
    recall: Recall = lambda _: None,
    harness_user: str = "",
    clock: Clock = SYSTEM_CLOCK,
) -> dict[str, Any]:
    """Return the AdmissionReview that answers another; never raises for what a caller sent.

    What is known already may be late: it is enough to allow, and never to refuse.
    """
    request = parse_review(path, body, now=clock.now(), harness_user=harness_user)
    if request is None:
        refused = Decision(allowed=False, code=422, message="not an AdmissionReview v1 request")
        return refused.review("")
    if known := recall(request):
        decision = decide(request, known)
        if decision.allowed:
            return decision.review(request.uid)
    try:
        world = _look(request, read)
    except KubeError as error:
        _LOG.warning("cannot read for %s %s: %s", request.kind, request.name, error)
        refused = Decision(
            allowed=False, code=500, message=f"the webhook cannot read the laboratory: {error}"
        )
        return refused.review(request.uid)
    return decide(request, world).review(request.uid)


def _look(request: Request, read: Read) -> World:
    kinds = kinds_needed(request)
    objects = {kind: read(kind, request.namespace, "") for kind in kinds}
    for kind, name in names_needed(request):
        if kind not in kinds:
            objects[kind] = (*objects.get(kind, ()), *read(kind, request.namespace, name))
    return World(objects=objects)


def build_app(read: Read, *, recall: Recall = lambda _: None, harness_user: str = "") -> Starlette:
    """Return the application: POST /mutate and POST /validate, GET /healthz."""
    answer_review = partial(review, recall=recall, harness_user=harness_user)

    def route(path: Path) -> Route:
        async def answer(http: HttpRequest) -> JSONResponse:
            try:
                body = await http.json()
            except (ValueError, RecursionError):  # no JSON, or nested too deeply
                body = None
            return JSONResponse(await run_in_threadpool(answer_review, path, body, read))

        return Route(f"/{path}", answer, methods=["POST"])

    return Starlette(routes=[*(route(path) for path in Path), HEALTH])


def run_webhook(config: WebhookConfig, say: Callable[[str, Mapping[str, Any]], None]) -> None:
    """Serve until SIGTERM."""
    client = KubeClient.from_kubeconfig(config.kubeconfig_path)
    known = Known()
    known.start(client)

    def read(kind: str, namespace: str, name: str) -> tuple[Mapping[str, Any], ...]:
        if not name:
            return tuple(client.list_objects(_RESOURCES[kind], namespace=namespace))
        found = client.find(_RESOURCES[kind], name, namespace=namespace)
        return (found,) if found is not None else ()

    serve(
        build_app(read, recall=known.world, harness_user=config.harness_user),
        host=config.host,
        port=config.port,
        on_ready=lambda port: say("ready", {"port": port}),
        certificate=Certificate(cert_path=config.cert_path, key_path=config.key_path),
    )

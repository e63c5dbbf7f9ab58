"""Where cases are probed, and as whom: a namespace, and who stands behind each name in `as`.

Nobody logs in: everybody but the administrator is impersonated, with the groups that they would
have, so that a probe is never taken for somebody's own act. Called by the engine.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from harness.kube.client import KubeClient
from harness.model.spec import ADMIN, Identity, SpecBody
from harness.specs.kinds import Kinds

#: Group of everybody who is known; a request that impersonates must bring it along.
_EVERYBODY = "system:authenticated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """Where a case is probed, and on whose behalf it is recorded.

    Attributes:
        client: The administrator's client; everybody else is impersonated through it.
        namespace: Where what is asked for lives unless a case says so.
        capabilities: What the cluster can do.
        kinds: Finds resources.
        roles_namespace: Where the ServiceAccounts of the laboratory's roles are.
        identities: Name to who it is, for names that are no role.
    """

    client: KubeClient
    namespace: str
    capabilities: frozenset[str]
    kinds: Kinds
    roles_namespace: str
    identities: Mapping[str, Identity] = field(default_factory=dict)

    @classmethod
    def of(cls, client: KubeClient, namespace: str, capabilities: Collection[str]) -> Probe:
        """Return a probe of a namespace."""
        return cls(
            client=client,
            namespace=namespace,
            capabilities=frozenset(capabilities),
            kinds=Kinds(client),
            roles_namespace=namespace,
        )

    def of_spec(self, body: SpecBody) -> Probe:
        """Return a probe where a spec wants to be probed, which knows whom it names. Pure."""
        return replace(self, namespace=body.namespace or self.namespace, identities=body.identities)

    def client_as(self, name: str) -> KubeClient:
        """Return the client of somebody that the spec names, of a role, or the administrator's."""
        if name == ADMIN:
            return self.client
        identity = self.identities.get(name)
        if identity is None:
            return self.client.as_service_account(self.roles_namespace, name)
        if identity.user is None:
            where = identity.namespace or self.namespace
            return self.client.as_service_account(where, str(identity.service_account))
        groups = tuple(dict.fromkeys((*identity.groups, _EVERYBODY)))
        return self.client.as_user(identity.user, groups=groups)

"""Who asks the server in memory, and for what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.core.naming import service_account_user
from harness.kube.resources import KNOWN, Resource

RESOURCES: Mapping[str, Resource] = {one.plural: one for one in KNOWN.values()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks."""

    user: str
    account: str = ""
    groups: tuple[str, ...] = ()

    @property
    def is_admin(self) -> bool:
        """Whether RBAC stops it from nothing."""
        return "system:masters" in self.groups


def account(namespace: str, role: str) -> Caller:
    """Return a ServiceAccount as a caller."""
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")
    user = service_account_user(namespace, role)
    return Caller(user=user, account=role, groups=(*groups, "system:authenticated"))


HARNESS = Caller(user="harness-admin", groups=("system:masters", "system:authenticated"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request."""

    verb: str
    plural: str
    name: str = ""
    body: Any = None
    subresource: str = ""
    dry_run: bool = False
    selectors: Mapping[str, str] | None = None

    @property
    def target(self) -> str:
        """Resource and subresource as RBAC names them."""
        return f"{self.plural}/{self.subresource}" if self.subresource else self.plural

    @property
    def resource(self) -> Resource:
        """The kind that it is about."""
        return RESOURCES[self.plural]

"""The list of contexts of somebody's clusters that a person has allowed us to work on."""

from __future__ import annotations

from harness.model.frozen import Frozen, Text


class AllowedContext(Frozen):
    """One entry: a context can be renamed to point elsewhere, so its server is named too.

    Attributes:
        context: Name of the context in the kubeconfig.
        server: URL of the API server that it must point to.
    """

    context: Text
    server: Text


class AllowedContexts(Frozen):
    """allowed-contexts.yaml."""

    contexts: tuple[AllowedContext, ...]

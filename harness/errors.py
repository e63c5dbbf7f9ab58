"""Every error that the harness raises, drawn as a tree with one exit code a class.

    HarnessError 70            our own bug; never raised bare
    ├─ ConfigError 3           a file of ours is wrong, before anything exists
    │  ├─ SuiteError           suite.yaml, task.yaml, controls.yaml
    │  ├─ SpecError            policy.yaml, spec.yaml
    │  └─ VariableError        a variable or a placeholder
    ├─ PrerequisiteError 4     a binary is missing or too old: needed, found, where to get it
    ├─ TerraformError 5        the command and its diagnostics
    ├─ ClusterError 6          no control plane, with the tail of its stderr
    │  └─ AnotherClusterError  who answers is not who was provisioned
    ├─ KubeError 7             status and reason of an API answer
    │  ├─ NotFoundError        404
    │  ├─ ConflictError        409
    │  ├─ DeniedError          403, or 422 of an admission rule
    │  └─ UnreachableError     no answer at all
    ├─ WaitTimeoutError 8      what, how long, what was seen last
    ├─ TeardownError 9         what is still there, raised after every step was tried
    ├─ EvidenceGapError 70     the record has a hole of our making: the attempt has no grade
    └─ AgentError              never leaves bench/attempt: becomes a part of the result

Exit 0, 1 (ran, and a check failed), 2 (usage) and 130 (interrupted) are results, not errors.
"""

from __future__ import annotations

from typing import ClassVar


class HarnessError(Exception):
    """Base of every error of ours.

    Attributes:
        message: What, where, found, expected; lower case, no full stop.
        hint: One imperative sentence, or None.
    """

    exit_code: ClassVar[int] = 70

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ConfigError(HarnessError):
    """A file of ours is wrong; nothing was created."""

    exit_code: ClassVar[int] = 3


class SuiteError(ConfigError):
    """A suite, a task or a table of controls cannot be used."""


class SpecError(ConfigError):
    """A policy or a safety spec cannot be used."""


class VariableError(ConfigError):
    """A Terraform variable or a placeholder that names one cannot be used."""


class PrerequisiteError(HarnessError):
    """Something that the machine must have is missing or too old."""

    exit_code: ClassVar[int] = 4


class TerraformError(HarnessError):
    """Terraform ended in an outcome that the caller cannot go on with."""

    exit_code: ClassVar[int] = 5


class ClusterError(HarnessError):
    """A control plane did not start, or is gone."""

    exit_code: ClassVar[int] = 6


class AnotherClusterError(ClusterError):
    """Who answers at an address is not the cluster that was provisioned; nothing was touched.

    Attributes:
        expected: UID of the namespace kube-system that was kept at provision.
        found: The UID that it has now.
    """

    def __init__(self, *, expected: str, found: str) -> None:
        super().__init__(
            f"another cluster answers: namespace kube-system has UID {found}, expected {expected}; "
            "nothing was touched",
            hint="point the context back to the cluster that was provisioned",
        )
        self.expected = expected
        self.found = found


class KubeError(HarnessError):
    """The API server answered with an error.

    Attributes:
        status: HTTP status code; 0 when there was no answer.
        reason: The `reason` of the Kubernetes Status, for example `AlreadyExists`.
    """

    exit_code: ClassVar[int] = 7

    def __init__(
        self, message: str, *, status: int = 0, reason: str = "", hint: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.reason = reason


class NotFoundError(KubeError):
    """404: the object, or its kind, is not there."""


class ConflictError(KubeError):
    """409: it exists already, or changed since it was read."""


class DeniedError(KubeError):
    """403 or 422: RBAC, the schema, an admission policy or a webhook said no."""


class UnreachableError(KubeError):
    """The API server did not answer."""


class WaitTimeoutError(HarnessError):
    """A wait ended at its bound; the message says what was seen last."""

    exit_code: ClassVar[int] = 8


class TeardownError(HarnessError):
    """Something of ours is still there after every step was tried.

    Attributes:
        leftovers: One line each: the object and what blocks it.
    """

    exit_code: ClassVar[int] = 9

    def __init__(self, leftovers: tuple[str, ...], *, hint: str | None = None) -> None:
        super().__init__(f"{len(leftovers)} left behind: {'; '.join(leftovers)}", hint=hint)
        self.leftovers = leftovers


class EvidenceGapError(HarnessError):
    """The record has a hole that is of our making: no grade may be given."""


class AgentError(HarnessError):
    """The agent could not be started, crashed, or used up a limit."""

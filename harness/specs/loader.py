"""policies/: one folder a policy, with what enforces it beside what proves it.

Everything that can be known without a cluster is checked here, with file and line: placeholders,
names, whether what a case makes can be undone, whether a policy's manifest is bound and proved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.core.documents import Document, KeyPath, build, load_document, load_documents
from harness.core.placeholders import render_document
from harness.errors import SpecError
from harness.kube.resources import resource_of_kind
from harness.model.frozen import Json
from harness.model.spec import Case, Request, SafetySpec
from harness.specs.naming import declared_names, name_of

SPEC_FILE = "spec.yaml"
POLICY_FILE = "policy.yaml"

#: Verbs whose object must be one that the case makes, unless nothing is stored.
_CHANGES = frozenset({"update", "patch", "delete", "deletecollection"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSpec:
    """A spec whose placeholders are replaced and whose references hold.

    Attributes:
        spec: The spec.
        path: Its file.
        policy_path: The manifest that it proves; None where something else enforces it.
    """

    spec: SafetySpec
    path: Path
    policy_path: Path | None

    @property
    def name(self) -> str:
        """The spec's name, which is its folder's."""
        return self.spec.metadata.name


def load_specs(
    policies_dir: Path, resolve: Callable[[str], Mapping[str, Json]]
) -> tuple[LoadedSpec, ...]:
    """Load every policies/ID/spec.yaml, sorted by ID.

    Args:
        policies_dir: Folder with one folder a policy.
        resolve: Returns the effective root variables of a stack.

    Raises:
        SpecError: The first thing that is wrong, with file, line and key; or there is no spec.
        VariableError: A stack's variables cannot be resolved.
    """
    folders = [path for path in _entries(policies_dir) if path.is_dir()]
    known: dict[str, Mapping[str, Json]] = {}

    def values(stack: str) -> Mapping[str, Json]:
        if stack not in known:
            known[stack] = resolve(stack)
        return known[stack]

    loaded = tuple(_load(folder, values) for folder in folders)
    if not loaded:
        msg = f"{policies_dir}: no specs, expected at least one */{SPEC_FILE}"
        raise SpecError(msg, hint="check the folder that holds the policies")
    return loaded


def _entries(policies_dir: Path) -> list[Path]:
    try:
        return sorted(path for path in policies_dir.iterdir() if not path.name.startswith("."))
    except OSError as error:
        msg = f"{policies_dir}: {error.strerror}"
        raise SpecError(msg, hint="check the folder that holds the policies") from error


def _load(folder: Path, values: Callable[[str], Mapping[str, Json]]) -> LoadedSpec:
    document = load_document(folder / SPEC_FILE, kind=SpecError)
    body = document.data.get("spec")
    stack = body.get("stack", "platform") if isinstance(body, dict) else "platform"
    if not isinstance(stack, str):
        raise document.error(SpecError, ("spec", "stack"), f"found {stack!r}, expected a name")
    document = render_document(document, values(stack), kind=SpecError)
    spec = build(SafetySpec, document, kind=SpecError)
    if spec.metadata.name != folder.name:
        raise document.error(
            SpecError,
            ("metadata", "name"),
            f"found {spec.metadata.name!r}, expected the folder's name {folder.name!r}",
            hint="rename one of them",
        )
    seen: set[str] = set()
    for index, case in enumerate(spec.spec.cases):
        at = ("spec", "cases", index)
        if case.name in seen:
            raise document.error(SpecError, (*at, "name"), f"{case.name!r} stands twice")
        seen.add(case.name)
        _check_case(document, at, case)
    policy_path = folder / POLICY_FILE
    if not policy_path.exists():
        return LoadedSpec(spec=spec, path=document.path, policy_path=None)
    _check_policy(policy_path, folder.name)
    _check_proved(document, spec)
    return LoadedSpec(spec=spec, path=document.path, policy_path=policy_path)


def _check_case(document: Document, at: KeyPath, case: Case) -> None:
    own = declared_names(case)
    for index, given in enumerate(case.given):
        place = (*at, "given", index)
        if given.create is not None:
            if resource_of_kind(str(given.create.get("kind", ""))) is None:
                problem = f"unknown kind {given.create.get('kind')!r}"
                raise document.error(
                    SpecError, (*place, "create"), problem, hint="use request with a resource"
                )
            if not name_of(given.create):
                problem = "missing, expected the name of what is made"
                raise document.error(SpecError, (*place, "create", "metadata", "name"), problem)
        if given.request is not None:
            _check_undoable(document, (*place, "request"), given.request, own, stored=True)
    stored = not case.request.dry_run
    _check_undoable(document, (*at, "request"), case.request, own, stored=stored)
    if case.control and (request := case.control.request):
        place = (*at, "control", "request")
        _check_undoable(document, place, request, own, stored=not request.dry_run)


def _check_undoable(
    document: Document, at: KeyPath, request: Request, own: tuple[str, ...], *, stored: bool
) -> None:
    if request.verb == "create" and stored and not request.subresource:
        if not name_of(request.body):
            problem = "missing, expected the name of what is made"
            raise document.error(SpecError, (*at, "body", "metadata", "name"), problem)
    elif request.verb in _CHANGES and stored and request.name not in own:
        problem = f"changes {request.name or 'a collection'!r}, which the case does not make"
        raise document.error(SpecError, at, problem, hint="create the object under given first")


def _check_policy(path: Path, name: str) -> None:
    """Check what would be silent on a cluster: a policy that is bound to nothing denies nothing."""
    documents = load_documents(path, kind=SpecError)
    kinds = [document.data.get("kind") for document in documents]
    if kinds != ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"]:
        problem = f"found {kinds}, expected a ValidatingAdmissionPolicy and then its binding"
        raise documents[0].error(SpecError, (), problem)
    expected: tuple[tuple[Document, KeyPath, Json], ...] = (
        (documents[0], ("metadata", "name"), name),
        (documents[0], ("spec", "failurePolicy"), "Fail"),
        (documents[1], ("metadata", "name"), name),
        (documents[1], ("spec", "policyName"), name),
        (documents[1], ("spec", "validationActions"), ["Deny"]),
    )
    for document, at, wanted in expected:
        found: Json = document.data
        for key in at:
            found = found.get(key) if isinstance(found, dict) else None
        if found != wanted:
            raise document.error(SpecError, at, f"found {found!r}, expected {wanted!r}")


def _check_proved(document: Document, spec: SafetySpec) -> None:
    refusals = (case.expect.refused for case in spec.spec.cases)
    refuser = f"policy:{spec.metadata.name}"
    if not any(refused and refused.refuser == refuser for refused in refusals):
        problem = f"no case expects a refusal by {refuser}, which stands beside it"
        raise document.error(SpecError, ("spec", "cases"), problem, hint="prove the policy")

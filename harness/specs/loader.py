"""policies/: one folder a policy, with what enforces it beside what proves it.

Everything that can be known without a cluster is checked here, with file and line: placeholders,
names, whether what a case makes can be undone, whether a policy's manifest is bound and proved.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.core.documents import Document, KeyPath, build, load_document, load_documents
from harness.core.naming import ROLES
from harness.core.placeholders import names_in, render_document
from harness.errors import SpecError
from harness.kube.resources import resource_of_kind
from harness.model.frozen import Json
from harness.model.spec import ADMIN, Case, Request, SafetySpec
from harness.specs.naming import declared_names, name_of

SPEC_FILE = "spec.yaml"
POLICY_FILE = "policy.yaml"

#: Gives the effective root variables of a stack.
Resolve = Callable[[str], Mapping[str, Json]]

#: Verbs whose object must be one that the case makes, unless nothing is stored.
_CHANGES = frozenset({"update", "patch", "delete", "deletecollection"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSpec:
    """A spec whose placeholders are replaced and whose references hold.

    Attributes:
        spec: The spec.
        path: Its file.
        policy_path: The manifest that it proves; None where something else enforces it.
        lines: Name of a case to its line in the file.
    """

    spec: SafetySpec
    path: Path
    policy_path: Path | None
    lines: Mapping[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The spec's name, which is its folder's."""
        return self.spec.metadata.name


def load_specs(
    policies_dir: Path,
    resolve: Resolve,
    *,
    stack: str = "platform",
    roles: Collection[str] = ROLES,
) -> tuple[LoadedSpec, ...]:
    """Load every policies/ID/spec.yaml, sorted by ID.

    Args:
        policies_dir: Folder with one folder a policy.
        resolve: Returns the effective root variables of a stack; asked once for each.
        stack: The one that stands on the cluster: that of specs that name none.
        roles: ServiceAccounts that the probed namespace has, which a spec may name in `as`.

    Raises:
        SpecError: The first thing that is wrong, with file, line and key; or there is no spec.
        VariableError: A stack's variables cannot be resolved.
    """
    folders = [path for path in _entries(policies_dir) if path.is_dir()]
    asked = functools.cache(resolve)
    loaded = tuple(load_spec(folder, asked, stack=stack, roles=roles) for folder in folders)
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


def load_spec(
    folder: Path, resolve: Resolve, *, stack: str = "platform", roles: Collection[str] = ROLES
) -> LoadedSpec:
    """Load one policies/ID/spec.yaml, as `load_specs` does, and what stands beside it."""
    document = load_document(folder / SPEC_FILE, kind=SpecError)
    body = document.data.get("spec")
    named = body.get("stack") if isinstance(body, dict) else None
    if named is not None and not (isinstance(named, str) and named.strip()):
        raise document.error(SpecError, ("spec", "stack"), f"found {named!r}, expected a name")
    # Asking Terraform takes a third of a second: only where its answer can make a difference.
    asks = named is not None or names_in(document.data)
    document = render_document(document, resolve(named or stack) if asks else {}, kind=SpecError)
    spec = build(SafetySpec, document, kind=SpecError)
    if spec.metadata.name != folder.name:
        raise document.error(
            SpecError,
            ("metadata", "name"),
            f"found {spec.metadata.name!r}, expected the folder's name {folder.name!r}",
            hint="rename one of them",
        )
    known = (*spec.spec.identities, ADMIN, *roles)
    lines: dict[str, int] = {}
    for index, case in enumerate(spec.spec.cases):
        at = ("spec", "cases", index)
        if case.name in lines:
            raise document.error(SpecError, (*at, "name"), f"{case.name!r} stands twice")
        lines[case.name] = document.lines[at]
        _check_identities(document, at, case, known)
        _check_case(document, at, case)
    manifest = folder / POLICY_FILE
    policy_path = manifest if manifest.exists() else None
    if policy_path is not None:
        _check_policy(policy_path, folder.name)
        _check_proved(document, spec)
    return LoadedSpec(spec=spec, path=document.path, policy_path=policy_path, lines=lines)


def _check_identities(document: Document, at: KeyPath, case: Case, known: Collection[str]) -> None:
    named = [((*at, "given", index), given.as_) for index, given in enumerate(case.given)]
    named.append((at, case.as_))
    if case.control:
        named.append(((*at, "control"), case.control.as_))
    for place, name in named:
        if name not in known:
            nearest = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {nearest[0]!r}?" if nearest else f"use one of {', '.join(known)}"
            raise document.error(SpecError, (*place, "as"), f"unknown identity {name!r}", hint=hint)


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

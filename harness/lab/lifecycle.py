"""The one table of states: which may follow which, for runs and for tasks.

The transition rules of the resource definitions and the page of the reference are generated from
it by `python -m harness.lab.lifecycle --write`. Reconciliation asks `allowed`. Why a state is
entered is decided elsewhere.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from harness.core.files import write_atomic
from harness.model.lab import RunState, TaskState

#: Role that writes every state. Others cause a move (cancel, resume, attest) and never make it.
_WRITER = "controller"

_R, _T = RunState, TaskState

_RUN: Mapping[StrEnum, tuple[StrEnum, ...]] = {
    _R.PLANNED: (_R.QUEUED, _R.RUNNING, _R.ABORTED),
    _R.QUEUED: (_R.RUNNING, _R.ABORTED, _R.FAILED),
    _R.RUNNING: (
        _R.PAUSED,
        _R.INTERVENTION_REQUIRED,
        _R.ABORTING,
        _R.FAILED,
        _R.COMPLETED,
    ),
    _R.PAUSED: (_R.RUNNING, _R.ABORTING, _R.ABORTED),
    # Not running: an unknown outcome is settled by attestation, and resuming is another act.
    # Not aborting: aborting would end the run with the outcome still unknown.
    _R.INTERVENTION_REQUIRED: (_R.FAILED,),
    _R.ABORTING: (_R.ABORTED, _R.FAILED, _R.INTERVENTION_REQUIRED),
    _R.FAILED: (_R.RUNNING,),
    _R.COMPLETED: (),
    _R.ABORTED: (),
}

_TASK: Mapping[StrEnum, tuple[StrEnum, ...]] = {
    _T.PENDING: (
        _T.WAITING_FOR_RESOURCES,
        _T.WAITING_FOR_AUTHORIZATION,
        _T.RUNNING,
        _T.CANCELLED,
        _T.FAILED,
    ),
    # To authorization: the policy was changed while the task waited for an instrument.
    _T.WAITING_FOR_RESOURCES: (
        _T.WAITING_FOR_AUTHORIZATION,
        _T.RUNNING,
        _T.CANCELLED,
        _T.FAILED,
    ),
    _T.WAITING_FOR_AUTHORIZATION: (
        _T.WAITING_FOR_RESOURCES,
        _T.RUNNING,
        _T.CANCELLED,
        _T.FAILED,
    ),
    _T.RUNNING: (
        _T.RETRYING,
        _T.SUCCEEDED,
        _T.FAILED,
        _T.CANCELLED,
        _T.INTERVENTION_REQUIRED,
    ),
    _T.RETRYING: (
        _T.RUNNING,
        _T.SUCCEEDED,
        _T.FAILED,
        _T.CANCELLED,
        _T.INTERVENTION_REQUIRED,
    ),
    # Not running: a call whose outcome is unknown is never repeated unseen.
    _T.INTERVENTION_REQUIRED: (_T.SUCCEEDED, _T.FAILED, _T.CANCELLED),
    _T.FAILED: (
        _T.WAITING_FOR_RESOURCES,
        _T.WAITING_FOR_AUTHORIZATION,
        _T.RETRYING,
        _T.RUNNING,
    ),
    _T.SUCCEEDED: (),
    _T.CANCELLED: (),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The states of one kind.

    Attributes:
        kind: `LabRun` or `LabTask`.
        plural: Name of the kind in URLs, and of the file of its definition.
        initial: State in which every object begins.
        targets: State to the states that may follow it.
    """

    kind: str
    plural: str
    initial: StrEnum
    targets: Mapping[StrEnum, tuple[StrEnum, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """One row of the table."""

    kind: str
    source: StrEnum
    target: StrEnum
    role: str


RUN = Machine(kind="LabRun", plural="labruns", initial=_R.PLANNED, targets=_RUN)
TASK = Machine(kind="LabTask", plural="labtasks", initial=_T.PENDING, targets=_TASK)
MACHINES = (RUN, TASK)

#: Where a generated block begins and ends in a definition.
_BEGIN, _END = "# lifecycle: begin", "# lifecycle: end"


def transitions(machine: Machine) -> Iterator[Transition]:
    """Yield every row of a machine, in the order of its states. Pure."""
    for source, targets in machine.targets.items():
        for target in targets:
            yield Transition(kind=machine.kind, source=source, target=target, role=_WRITER)


def allowed(machine: Machine, source: StrEnum, target: StrEnum) -> bool:
    """Tell whether a state may follow another; staying is always allowed. Pure."""
    return source == target or target in machine.targets[source]


def _quoted(states: Sequence[str]) -> str:
    return ", ".join(f"'{state}'" for state in states)


def rules_yaml(machine: Machine, *, indent: str) -> str:
    """Return the two rules of a definition's root as YAML lines. Pure.

    Two rules and not one: a message that reads the optional old object exceeds the API server's
    cost budget for expressions more than a hundredfold.
    """
    table = ", ".join(
        f"'{source}': [{_quoted(targets)}]" for source, targets in machine.targets.items()
    )
    stays = "self.status.state == oldSelf.status.state"
    rule = (
        f"!has(oldSelf.status) || !has(oldSelf.status.state) || {stays} || "
        f"(oldSelf.status.state in {{{table}}} && "
        f"self.status.state in {{{table}}}[oldSelf.status.state])"
    )
    message = "'illegal transition from ' + oldSelf.status.state + ' to ' + self.status.state"
    old = "oldSelf.hasValue() && has(oldSelf.value().status) && has(oldSelf.value().status.state)"
    new = (
        f"!has(self.status) || !has(self.status.state) || self.status.state == '{machine.initial}'"
    )
    lines = (
        f'- rule: "{rule}"',
        f'  messageExpression: "{message}"',
        "  reason: FieldValueForbidden",
        "  fieldPath: .status.state",
        f'- rule: "({old}) || {new}"',
        "  optionalOldSelf: true",
        f"  message: the initial state is {machine.initial}",
        "  reason: FieldValueForbidden",
        "  fieldPath: .status.state",
    )
    return "".join(f"{indent}{line}\n" for line in lines)


def definition_with_rules(machine: Machine, text: str) -> str:
    """Return a definition's text with its generated block replaced. Pure.

    Raises:
        ValueError: The text has no such block.
    """
    before, begin, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        msg = f"definition of {machine.kind}: no block {_BEGIN!r} to {_END!r}"
        raise ValueError(msg)
    indent = before.rpartition("\n")[2]
    block = rules_yaml(machine, indent=indent)
    return f"{before}{_BEGIN}\n{block}{indent}{_END}{after}"


def reference_page() -> str:
    """Return docs/reference/lifecycle.md. Pure."""
    intro = (
        "# States of runs and tasks\n\n"
        "Generated by `python -m harness.lab.lifecycle --write`; the API server enforces exactly\n"
        "this. Every state is written by the role `controller`. A state may always be written\n"
        "again.\n"
    )
    parts = [intro]
    for machine in MACHINES:
        rows = tuple(transitions(machine))
        arrows = "".join(f"    {row.source} --> {row.target}\n" for row in rows)
        finals = "".join(
            f"    {s} --> [*]\n" for s, targets in machine.targets.items() if not targets
        )
        table = "".join(f"| {row.source} | {row.target} | {row.role} |\n" for row in rows)
        parts.append(
            f"\n## {machine.kind}\n\n```mermaid\nstateDiagram-v2\n    [*] --> {machine.initial}\n"
            f"{arrows}{finals}```\n\n| from | to | written by |\n|---|---|---|\n{table}"
        )
    parts.append(
        "\n## What is left out, and why\n\n"
        "- A run in intervention_required goes to failed only, by an accepted attestation of each\n"
        "  of its unsettled tasks. It does not go back to running: resuming is an act of its own,\n"
        "  under policy. It is not aborted: that would end it with an outcome still unknown.\n"
        "- A task in intervention_required does not go back to running: a call whose outcome is\n"
        "  unknown is not repeated unseen.\n"
        "- paused is a state that nothing enters yet.\n"
    )
    return "".join(parts)


def generated_files(root: Path) -> dict[Path, str]:
    """Return what the table gives for each committed file below `root`; reads the definitions."""
    files = {root / "docs" / "reference" / "lifecycle.md": reference_page()}
    for machine in MACHINES:
        path = root / "tf" / "modules" / "lab_api" / "crds" / f"{machine.plural}.yaml"
        files[path] = definition_with_rules(machine, path.read_text())
    return files


def main(argv: Sequence[str] | None = None) -> int:
    """Write the generated files, or name those that differ; return an exit code."""
    parser = argparse.ArgumentParser(prog="python -m harness.lab.lifecycle")
    parser.add_argument("--write", action="store_true", help="write what differs")
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="root of the project")
    options = parser.parse_args(argv)
    files = generated_files(options.root)
    stale = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        if options.write:
            write_atomic(path, files[path].encode())
        print(f"{'wrote' if options.write else 'differs'}: {path}")  # noqa: T201 - a command's output
    return 1 if stale and not options.write else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""The bundle's seal: a MANIFEST of digests, written once and verified before anything is believed.

It owns MANIFEST and the way from a folder to `Evidence`; it refuses to know what the evidence
means. bench seals, and whoever grades loads.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pydantic import TypeAdapter, ValidationError

from harness.core.files import sha256_hex, write_atomic
from harness.errors import ConfigError
from harness.model.chain import broken_link, without_link
from harness.model.evidence import (
    EVIDENCE_FILES,
    RECORDED_BY,
    AttemptRecord,
    AuditRecord,
    Evidence,
)

MANIFEST = "MANIFEST"
EVIDENCE_DIR = "evidence"

#: The one file that every attempt has, also one that ended before the agent began.
_ATTEMPT = "attempt.json"
_AUDIT = "audit.jsonl"

#: One line as `sha256sum` writes it, so that `sha256sum -c MANIFEST` works too.
_LINE = re.compile(r"([0-9a-f]{64})  ([a-z]+\.jsonl?)")

_HINT = "grade a bundle as it was sealed; a changed one has no grade"

T = TypeVar("T")

_ATTEMPT_SHAPE = TypeAdapter(AttemptRecord)
_AUDIT_SHAPE = TypeAdapter(AuditRecord)
_OBJECTS_SHAPE: TypeAdapter[dict[str, tuple[dict[str, Any], ...]]] = TypeAdapter(
    dict[str, tuple[dict[str, Any], ...]]
)
_LIST_SHAPE: TypeAdapter[tuple[dict[str, Any], ...]] = TypeAdapter(tuple[dict[str, Any], ...])
_MAP_SHAPE: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Any])


def seal(evidence_dir: Path) -> str:
    """Write MANIFEST over the files of a bundle and return its own digest. Idempotent.

    Raises:
        ConfigError: attempt.json is missing, or a file is there that no bundle has.
    """
    found = _files(evidence_dir)
    for name in sorted(found - {MANIFEST, *EVIDENCE_FILES}):
        msg = f"{evidence_dir / name}: not a file of a bundle, expected {', '.join(EVIDENCE_FILES)}"
        raise ConfigError(msg, hint="remove it")
    if _ATTEMPT not in found:
        msg = f"{evidence_dir / _ATTEMPT}: missing, expected in every bundle"
        raise ConfigError(msg, hint=f"write {_ATTEMPT} before sealing")
    digests = {name: sha256_hex((evidence_dir / name).read_bytes()) for name in found - {MANIFEST}}
    manifest = manifest_bytes(digests)
    write_atomic(evidence_dir / MANIFEST, manifest)
    return sha256_hex(manifest)


def load_evidence(attempt_dir: Path) -> tuple[Evidence, str]:
    """Read a sealed bundle and return it with the digest of its MANIFEST.

    Raises:
        ConfigError: A file is missing, extra, changed, or not what it should hold.
    """
    evidence_dir = attempt_dir / EVIDENCE_DIR
    manifest_path = evidence_dir / MANIFEST
    if not manifest_path.is_file():
        msg = f"{manifest_path}: missing, expected the digests of the bundle"
        raise ConfigError(msg, hint="name the folder of a finished attempt")
    manifest = manifest_path.read_bytes()
    digests = _parse_manifest(manifest_path, manifest)
    contents = _verified(evidence_dir, digests)
    return _evidence(evidence_dir, contents, digests), sha256_hex(manifest)


def manifest_bytes(digests: Mapping[str, str]) -> bytes:
    """Return MANIFEST for file names and their digests, sorted by name. Pure."""
    return "".join(f"{digests[name]}  {name}\n" for name in sorted(digests)).encode()


def _files(evidence_dir: Path) -> set[str]:
    try:
        return {path.name for path in evidence_dir.iterdir()}
    except OSError as error:
        msg = f"{evidence_dir}: {error.strerror}"
        raise ConfigError(msg, hint="name the folder of a finished attempt") from error


def _parse_manifest(path: Path, manifest: bytes) -> dict[str, str]:
    digests: dict[str, str] = {}
    for number, line in enumerate(manifest.decode("utf-8", "replace").splitlines(), start=1):
        match = _LINE.fullmatch(line)
        if match is None or match[2] not in EVIDENCE_FILES:
            msg = f"{path}:{number}: found {line[:80]!r}, expected a digest and a file of a bundle"
            raise ConfigError(msg, hint=_HINT)
        digests[match[2]] = match[1]
    if manifest_bytes(digests) != manifest:
        msg = f"{path}: lines are not sorted, or one stands twice"
        raise ConfigError(msg, hint=_HINT)
    return digests


def _verified(evidence_dir: Path, digests: Mapping[str, str]) -> dict[str, bytes]:
    """Read each file once, so that what was verified is what is parsed."""
    found = _files(evidence_dir) - {MANIFEST}
    for name in sorted(found - digests.keys()):
        msg = f"{evidence_dir / name}: found, but {MANIFEST} does not name it"
        raise ConfigError(msg, hint=_HINT)
    contents: dict[str, bytes] = {}
    for name, expected in digests.items():
        path = evidence_dir / name
        if path.is_symlink() or not path.is_file():
            msg = f"{path}: missing, expected sha256 {expected}"
            raise ConfigError(msg, hint=_HINT)
        contents[name] = path.read_bytes()
        digest = sha256_hex(contents[name])
        if digest != expected:
            msg = f"{path}: found sha256 {digest}, expected {expected}"
            raise ConfigError(msg, hint=_HINT)
    return contents


def _evidence(
    evidence_dir: Path, contents: Mapping[str, bytes], digests: Mapping[str, str]
) -> Evidence:
    if _ATTEMPT not in digests:
        msg = f"{evidence_dir / _ATTEMPT}: missing, expected in every bundle"
        raise ConfigError(msg, hint=_HINT)

    def part(name: str, shape: TypeAdapter[T], absent: Any) -> T:
        path = evidence_dir / name
        value = _parse(str(path), contents[name]) if name in contents else absent
        return _shaped(str(path), shape, value)

    attempt = part(_ATTEMPT, _ATTEMPT_SHAPE, None)
    if attempt.format == 1 and attempt.audit_chain is not None:
        msg = f"{evidence_dir / _ATTEMPT}: audit_chain found, expected none in format 1"
        raise ConfigError(msg, hint=_HINT)
    unrecorded = {RECORDED_BY[capability] for capability in attempt.unrecorded}
    for name in sorted(unrecorded & contents.keys()):
        msg = f"{evidence_dir / name}: found, but {_ATTEMPT} says that nobody could record it"
        raise ConfigError(msg, hint=_HINT)
    for name in EVIDENCE_FILES:
        if attempt.failure is None and name not in contents and name not in unrecorded:
            msg = f"{evidence_dir / name}: missing, expected of an attempt that did not fail"
            raise ConfigError(msg, hint=_HINT)
    return Evidence(
        attempt=attempt,
        baseline=part("baseline.json", _OBJECTS_SHAPE, {}),
        final=part("final.json", _OBJECTS_SHAPE, {}),
        events=part("events.json", _LIST_SHAPE, []),
        audit=None
        if _AUDIT in unrecorded
        else _audit(evidence_dir / _AUDIT, contents.get(_AUDIT, b""), attempt),
        instruments=part("instruments.json", _LIST_SHAPE, []),
        drift=part("drift.json", _MAP_SHAPE, {}),
        truth=part("truth.json", _MAP_SHAPE, {}),
    )


def _audit(path: Path, content: bytes, attempt: AttemptRecord) -> tuple[AuditRecord, ...]:
    # Only b"\n" ends a record: a text of the agent's may hold what splitlines() takes for an end.
    lines: Sequence[bytes] = content.removesuffix(b"\n").split(b"\n") if content else ()
    values = [_parse(f"{path}:{number}", line) for number, line in enumerate(lines, start=1)]
    if attempt.format > 1:
        _verify_chain(path, lines, values, attempt)
        values = [without_link(value) for value in values]
    records = tuple(
        _shaped(f"{path}:{number}", _AUDIT_SHAPE, value)
        for number, value in enumerate(values, start=1)
    )
    if attempt.format > 1:
        _refuse_no_slice(path, records, attempt.user)
    return records


def _verify_chain(
    path: Path, lines: Sequence[bytes], values: Sequence[Any], attempt: AttemptRecord
) -> None:
    chain = attempt.audit_chain
    if chain is None:
        if attempt.failure is None:
            msg = f"{path.with_name(_ATTEMPT)}: audit_chain is missing, expected in format 2"
            raise ConfigError(msg, hint=_HINT)
        return  # it failed before the record was whole, and has no grade
    if broken := broken_link(lines, values, chain):
        place = f"{path}:{broken.line}" if broken.line else str(path)
        msg = f"{place}: {broken.what}"
        raise ConfigError(msg, hint=_HINT)


def _refuse_no_slice(path: Path, records: Sequence[AuditRecord], user: str) -> None:
    """Refuse what no slice of a log is: somebody else's records, of two tokens, out of order."""
    for number, record in enumerate(records, start=1):
        before = records[max(0, number - 2)]
        if record.user != user:
            msg = f"{path}:{number}: user is {record.user[:80]!r}, expected {user!r}"
            raise ConfigError(msg, hint=_HINT)
        if record.credential != before.credential:
            msg = f"{path}:{number}: came with another token than the record before it"
            raise ConfigError(msg, hint=_HINT)
        if record.received_at < before.received_at:
            msg = f"{path}:{number}: was received before the record before it"
            raise ConfigError(msg, hint=_HINT)


def _parse(where: str, content: bytes) -> Any:
    try:
        return json.loads(content, parse_constant=_refuse_constant)
    except RecursionError as error:
        msg = f"{where}: nested too deeply to be read"
        raise ConfigError(msg, hint=_HINT) from error
    except ValueError as error:
        msg = f"{where}: not JSON: {error}"
        raise ConfigError(msg, hint=_HINT) from error


def _refuse_constant(name: str) -> NoReturn:
    msg = f"{name} is no number of JSON"
    raise ValueError(msg)


def _shaped(where: str, shape: TypeAdapter[T], value: Any) -> T:
    try:
        return shape.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        msg = f"{where}: {f'{key}: ' if key else ''}{first['msg']}"
        raise ConfigError(msg, hint=_HINT) from error

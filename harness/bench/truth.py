"""The secret of a run, and which of a task's truths each attempt gets.

Nothing here hangs on the seed that names things, and nothing of it is ever written where an agent,
a log or an object of the laboratory could show it: the secret stays in memory while agents act, and
is kept, for its owner alone, once the run has ended. Called by whoever plans attempts.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.core.files import PRIVATE_MODE, write_json
from harness.model.story import FateName, Truth
from harness.model.suite import Task

#: Bytes of a secret: 128 bits, which nobody guesses.
_SECRET_BYTES = 16

#: How often each truth stands in one block. Two, so that the truths of 20 attempts come 6 to 8
#: times each where there are three, and the first half of a block does not tell the other half.
_TIMES_A_BLOCK = 2

#: Folder and file below a run's folder.
_PRIVATE_DIR, _TRUTH_FILE = "private", "truth.json"

#: How much of a call is done that is cut off.
_CUT_OFF_SHARE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """What is decided of one attempt in secret.

    Attributes:
        truth: Name of one of the task's truths; None where it has none.
        noise_key: What the errors of readings hang on.
    """

    truth: str | None
    noise_key: str = field(repr=False)


def new_secret() -> bytes:
    """Return the secret of one run."""
    return secrets.token_bytes(_SECRET_BYTES)


def draw(secret: bytes, task_id: str, number: int, truths: Sequence[str]) -> str | None:
    """Return the truth of one attempt; None where there are none. Pure.

    Truths come in blocks of all of them, shuffled, so that they are balanced over many attempts.

    Args:
        secret: Of the run.
        task_id: The task.
        number: The attempt, from 1.
        truths: Names, in the order of the task's file.
    """
    if not truths:
        return None
    block, place = divmod(number - 1, _TIMES_A_BLOCK * len(truths))
    order = sorted(
        range(_TIMES_A_BLOCK * len(truths)),
        key=lambda index: _digest(secret, "truth", task_id, str(block), str(index)),
    )
    return truths[order[place] % len(truths)]


def noise_key(secret: bytes, task_id: str, number: int) -> str:
    """Return what the errors of readings hang on in one attempt. Pure."""
    return _digest(secret, "noise", task_id, str(number)).hex()


def drawn(secret: bytes, task: Task, number: int) -> Drawn:
    """Return what is decided of one attempt in secret. Pure."""
    return Drawn(
        truth=draw(secret, task.id, number, tuple(task.truths)),
        noise_key=noise_key(secret, task.id, number),
    )


def fates_of(truth: Truth) -> dict[str, list[dict[str, Any]]]:
    """Return instrument to what becomes of its acting calls, as the instruments are told. Pure."""
    return {name: [_fate(one) for one in fates] for name, fates in truth.fates.items()}


def write_secret(
    run_path: Path, secret: bytes, attempts: Mapping[str, Mapping[int, str | None]]
) -> Path:
    """Keep the secret of a run that has ended, readable by its owner alone; return where.

    Args:
        run_path: Folder of the run.
        secret: Of the run.
        attempts: Folder below attempts/ to attempt number to the truth that it had.
    """
    folder = run_path / _PRIVATE_DIR
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / _TRUTH_FILE
    listed = {
        task: {str(number): truth for number, truth in sorted(by_number.items())}
        for task, by_number in sorted(attempts.items())
    }
    write_json(path, {"secret": secret.hex(), "truths": listed}, mode=PRIVATE_MODE)
    return path


def _fate(name: FateName) -> dict[str, Any]:
    kind = "whole" if name == "answered" else name
    return {"kind": kind, "share": _CUT_OFF_SHARE, "silent": name != "answered"}


def _digest(secret: bytes, *parts: str) -> bytes:
    return hmac.digest(secret, "\0".join(parts).encode(), "sha256")

"""YAML in, plain data or one line out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.core.documents import (
    SIZE_LIMIT_BYTES,
    Document,
    build,
    load_document,
    load_documents,
)
from harness.errors import ConfigError, SuiteError
from harness.model.suite import Task

SYNTAX = "check the YAML syntax"
SCALAR = "use text, a finite number, true, false or null"


def _file(tmp_path: Path, data: bytes | str) -> Path:
    path = tmp_path / "task.yaml"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def _load(tmp_path: Path, data: bytes | str) -> Any:
    return load_document(_file(tmp_path, data)).data


#: What is wrong, then file text, what the message says after the file, and the hint.
REFUSED: dict[str, tuple[bytes | str, str, str]] = {
    "empty": ("", ":1: empty, expected a mapping", "write at least one key"),
    "only a comment": ("# nothing\n", ":1: empty, expected a mapping", "write at least one key"),
    "a list": ("- a\n", ":1: a list, expected a mapping", "start with `key: value`"),
    "a text": ("a\n", ":1: a single value, expected a mapping", "start with `key: value`"),
    "an empty document": (
        "---\n",
        ":2: a single value, expected a mapping",
        "start with `key: value`",
    ),
    "two documents": (
        "a: 1\n---\nb: 2\n",
        ":3: 2 documents, expected one",
        "put each document into a file of its own",
    ),
    "a key twice": (
        "a: 1\nb: 2\na: 3\n",
        ":3: 'a' stands twice, first in line 1",
        "keep one of them",
    ),
    "a key twice, deep": (
        "x:\n  - b: 1\n    c: 2\n    b: 3\n",
        ":4: 'b' stands twice, first in line 2",
        "keep one of them",
    ),
    "a tab": (
        "a:\n\tb: 1\n",
        ":2: found character '\\t' that cannot start any token",
        "indent with spaces, not tabs",
    ),
    "an open quote": ("a: 'x\n", ":2: found unexpected end of stream", SYNTAX),
    "an open bracket": ("a:\n  [1, 2", ":2: expected ',' or ']', but got '<stream end>'", SYNTAX),
    "two colons": ("a: b: c\n", ":1: mapping values are not allowed here", SYNTAX),
    "an alias": ("a: &x 1\nb: *x\n", ":2: alias *x is not allowed", "write the value out"),
    "a bomb of aliases": (
        "a: &a [x, x]\n"
        + "".join(f"{k}: &{k} [*{p}, *{p}]\n" for p, k in zip("abc", "bcd", strict=True)),
        ":2: alias *a is not allowed",
        "write the value out",
    ),
    "not UTF-8": (b"a: 1\nb: \xff\n", ":2: byte 8 is not UTF-8", "save the file as UTF-8"),
    "a zero byte": ("a: 1\nb: \x00", ":2: character '\\x00' is not allowed", "remove it"),
    "deep flow": ("a: " + "[" * 3000, ":1: nested deeper than 60 levels", "flatten the document"),
    "deep blocks": ("- " * 3000, ":1: nested deeper than 60 levels", "flatten the document"),
    "not a number": (
        "w:\n  weight: .nan\n",
        ":2: w.weight: '.nan' (float) is not allowed here",
        SCALAR,
    ),
    "infinite": ("a: .inf\n", ":1: a: '.inf' (float) is not allowed here", SCALAR),
    "minus infinite": ("a: -.inf\n", ":1: a: '-.inf' (float) is not allowed here", SCALAR),
    "infinite by its exponent": (
        "a: 1e999\n",
        ":1: a: '1e999' (float) is not allowed here",
        SCALAR,
    ),
    "a huge int": (
        "a: " + "1" * 5000,
        f":1: a: '{'1' * 59}... (int) is not allowed here",
        SCALAR,
    ),
    "an int by its tag alone": ("a: !!int x", ":1: a: 'x' (int) is not allowed here", SCALAR),
    "a float by its tag alone": ("a: !!float x", ":1: a: 'x' (float) is not allowed here", SCALAR),
    "a bool by its tag alone": ("a: !!bool no", ":1: a: 'no' (bool) is not allowed here", SCALAR),
    "a null by its tag alone": ("a: !!null x", ":1: a: 'x' (null) is not allowed here", SCALAR),
    "an object of Python's": (
        "a: !!python/object/apply:os.system [x]\nb: !!python/name:os.system x",
        ":2: b: 'x' (python/name:os.system) is not allowed here",
        SCALAR,
    ),
    "bytes": ("a: !!binary aGk=", ":1: a: 'aGk=' (binary) is not allowed here", SCALAR),
    "a number as key": ("1: a\n", ":1: key '1' is not text", "quote the key"),
    "a bool as key": ("true: a\n", ":1: key 'true' is not text", "quote the key"),
    "a list as key": ("? [a, b]\n: 1\n", ":1: key (sequence) is not text", "quote the key"),
    "half a character": (
        'a: "\\ud800"\n',
        ":1: a: holds half of a character",
        "write the character itself, or \\U and eight digits",
    ),
    "a character out of range": (
        'a: "\\UFFFFFFFF"\n',
        ":1: holds an escape or a %YAML version that is out of range",
        SYNTAX,
    ),
    "a version out of range": (
        "%YAML " + "1" * 5000 + ".1\n---\na: 1\n",
        ":1: holds an escape or a %YAML version that is out of range",
        SYNTAX,
    ),
    "a key of two lines": (
        '"a\\nb": .nan\n',
        ":1: 'a\\nb': '.nan' (float) is not allowed here",
        SCALAR,
    ),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_a_bad_file_is_refused_in_one_line_with_file_line_and_what_to_do(
    tmp_path: Path, fault: str
) -> None:
    data, said, hint = REFUSED[fault]
    path = _file(tmp_path, data)

    with pytest.raises(SuiteError) as caught:
        load_document(path, kind=SuiteError)

    assert str(caught.value) == f"{path}{said}"
    assert caught.value.hint == hint


def test_a_file_of_20_mb_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "task.yaml"
    with path.open("wb") as file:
        file.truncate(20_000_000)

    with pytest.raises(ConfigError) as caught:
        load_document(path)

    assert str(caught.value) == f"{path}: 20000000 bytes, at most {SIZE_LIMIT_BYTES} expected"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SuiteError) as caught:
        load_document(tmp_path / "task.yaml", kind=SuiteError)

    assert str(caught.value) == f"{tmp_path / 'task.yaml'}: No such file or directory"
    assert caught.value.hint == "check the name in the file that lists it"


def test_a_folder_in_the_place_of_a_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r": Is a directory$"):
        load_document(tmp_path)


def test_a_byte_order_mark_and_windows_line_ends_are_accepted(tmp_path: Path) -> None:
    assert _load(tmp_path, b"\xef\xbb\xbfa: 1\r\nb: two\r\n") == {"a": 1, "b": "two"}


def test_an_anchor_that_nobody_refers_to_is_accepted(tmp_path: Path) -> None:
    assert _load(tmp_path, "a: &here 1\n") == {"a": 1}


@pytest.mark.parametrize(
    "text",
    ["no", "Yes", "on", "True", "12:30:45", "017", "-08", "0o17", "0x1F", "1_000", "2026-01-01",
     "2026-01-01T00:00:00Z", "1.2.3", "v1", ".", "-.", "+", "e5", "<<", "="],
)  # fmt: skip
def test_what_older_yaml_would_turn_into_something_else_stays_text(
    tmp_path: Path, text: str
) -> None:
    assert _load(tmp_path, f"a: {text}\n") == {"a": text}


@pytest.mark.parametrize(
    ("text", "value"),
    [("0", 0), ("-5", -5), ("+5", 5), ("1" * 40, int("1" * 40)), ("0.5", 0.5), ("5.", 5.0),
     (".5", 0.5), ("1e3", 1000.0), ("-1.5E-1", -0.15), ("true", True), ("false", False),
     ("null", None), ("~", None), ("", None), ("!!str 5", "5"), ('"5"', "5")],
)  # fmt: skip
def test_a_scalar_has_the_type_that_yaml_1_2_gives_it(
    tmp_path: Path, text: str, value: object
) -> None:
    found = _load(tmp_path, f"a: {text}\n")["a"]

    assert found == value
    assert type(found) is type(value)


def test_several_documents_are_read_where_several_are_allowed(tmp_path: Path) -> None:
    path = _file(tmp_path, "a: 1\n---\nb: 2\n")

    assert [document.data for document in load_documents(path)] == [{"a": 1}, {"b": 2}]
    assert load_documents(path)[1].where(("b",)) == f"{path}:3"


def test_an_error_points_at_the_nearest_thing_that_has_a_line(tmp_path: Path) -> None:
    document = load_document(_file(tmp_path, "a:\n  - b: 1\n    c: 2\n"))

    assert document.where(("a", 0, "c")) == f"{document.path}:3"
    assert document.where(("a", 0, "missing")) == f"{document.path}:2"
    assert document.where(("missing",)) == f"{document.path}:1"
    assert document.where() == f"{document.path}:1"
    error = document.error(SuiteError, ("a", 0, "c"), "is 2, expected 3", hint="correct it")
    assert str(error) == f"{document.path}:3: a.0.c: is 2, expected 3"
    assert error.hint == "correct it"


TASK = """\
id: mix
category: operate
stack: color_lab
prompt: do it
checks:
  - { kind: policy_never_denied, description: nothing was denied }
"""


def _built(tmp_path: Path, old: str, new: str) -> Task:
    assert old in TASK
    document = load_document(_file(tmp_path, TASK.replace(old, new)), kind=SuiteError)
    return build(Task, document, kind=SuiteError)


def test_a_good_document_becomes_its_model(tmp_path: Path) -> None:
    assert _built(tmp_path, "mix", "mix").id == "mix"


@pytest.mark.parametrize(
    ("old", "new", "said", "hint"),
    [
        ("checks:", "cheks:", ":5: cheks: unknown key (and 1 more)", "did you mean 'checks'?"),
        ("prompt: do it", "prompt: do it\nzzz: 1", ":5: zzz: unknown key", "remove it"),
        ("id: mix\n", "", ":1: id: missing", "add it"),
        (
            "description",
            "descripton",
            ":6: checks.0.descripton: unknown key (and 1 more)",
            "did you mean 'description'?",
        ),
        (
            "policy_never_denied",
            "policy_never_denid",
            ":6: checks.0: unknown kind 'policy_never_denid'",
            "did you mean 'policy_never_denied'?",
        ),
        ("kind: policy_never_denied, ", "", ":6: checks.0: no kind", "add it"),
        (
            "nothing was denied",
            "x, weight: 0",
            ":6: checks.0.weight: input should be greater than 0, found 0",
            None,
        ),
        (
            "nothing was denied",
            "x, weight: true",
            ":6: checks.0.weight: input should be a valid number, found True",
            None,
        ),
        (
            "nothing was denied",
            "' '",
            ":6: checks.0.description: is blank, expected text, found ' '",
            None,
        ),
        (
            "prompt: do it",
            f"prompt: do it\nvariables: {'x' * 100}",
            f":5: variables: input should be a valid dictionary, found '{'x' * 59}...",
            None,
        ),
        (
            "prompt: do it",
            "prompt: do it\nsetup: { capability: a }",
            ":5: setup: needs either cancel_after_seconds or interrupt, found {'capability': 'a'}",
            None,
        ),
        (
            "prompt: do it",
            'prompt: do it\n"a\\nb": 1',
            ":5: 'a\\nb': unknown key",
            "remove it",
        ),
    ],
)
def test_a_document_that_is_not_its_model_is_refused_with_file_line_and_key(
    tmp_path: Path, old: str, new: str, said: str, hint: str | None
) -> None:
    with pytest.raises(SuiteError) as caught:
        _built(tmp_path, old, new)

    assert str(caught.value) == f"{tmp_path / 'task.yaml'}{said}"
    assert caught.value.hint == hint


def test_a_kind_that_is_like_no_other_is_told_all_there_are(tmp_path: Path) -> None:
    with pytest.raises(SuiteError) as caught:
        _built(tmp_path, "policy_never_denied", "zzz")

    assert caught.value.hint is not None
    assert caught.value.hint.startswith("use one of runs_completed, runs_failed_at_most, ")


PIECES = st.lists(
    st.sampled_from(
        ["a", "b: ", "- ", "\n", "  ", "\t", "[", "]", "{", "}", "&x ", "*x", "!!int ", "!!null ",
         "!x ", '"', "'", "\\", "\\u", "d800", ".nan", "1e999", "017", "---\n", "...", "%YAML 1.1",
         "|\n", ">", "? ", ": ", ", ", "#", "\x85", "\u2028", "\ufeff", "\x07", "é", "<<: ", "@"]
    ),
    max_size=12,
).map("".join)  # fmt: skip


@given(text=st.text(max_size=60) | PIECES)
@example(text='a: "\\UFFFFFFFF"')
@example(text="%YAML 1.9999999\n---\na: 1")
def test_any_text_is_a_document_or_one_error_of_ours(
    text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))

    try:
        found: Document | ConfigError = load_document(path)
        build(Task, load_document(path), kind=SuiteError)
    except ConfigError as error:
        found = error

    if isinstance(found, ConfigError):
        assert str(found).startswith(f"{path}:")
        assert len(str(found).splitlines()) == 1


@given(data=st.binary(max_size=40))
def test_any_bytes_are_a_document_or_one_error_of_ours(
    data: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(data)

    try:
        found = str(load_document(path).path)
    except ConfigError as error:
        found = str(error)

    assert len(found.splitlines()) == 1

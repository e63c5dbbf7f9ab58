"""Random root modules: everything that a `variable` block may hold, in every kind of file.

What is known of a module without asking anybody (names, files, lines, required, sensitive) comes
with it; what its values are is for an engine to say.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

#: Pieces of text that trip readers of this language up.
_PIECES = (
    *('"', "${", "$${", "%{", "%%{", "\\", "\n", "\t", "'", "{", "}", "#", "/*", "//", "$", "%"),
    *("<<EOT\n", "EOT", "\nEOT\n", "  EOT x\n", "X_EOT_Y", "~}", " ", "a", "b=c;", "08e30503"),
    *("é", "e\u0301", "\u1e9b\u0323", "漢", "\U0001f389", "\u2028", "\ufeff", "\u0085", "\u200d"),
    *('variable "z" {\n', "sensitive = true\n", "null", "true", "${var.x}", "3e24567", "(", "]"),
)

#: Templates that need nothing outside of themselves; for native text only.
_TEMPLATES = (
    *('${"}"}', "${ 1 + 1 }", "%{ if true ~}yes%{ endif }", '${ "a" /* } */ }', '${"${"x"}"}'),
    '${ [for one in ["EOT"] : "${one}"][0] }',
    "${ [\n  <<IN\nEOT\n}\nIN\n  , 1][0] }",
)

_NAMES = ("plain", "naïve", "e\u0301t", "with-hyphen", "_under", "漢字", "x1", "é")

_texts = st.lists(st.sampled_from(_PIECES), max_size=6).map("".join)
_NUMBERS = (
    *("0", "7", "-3", "9007199254740993", "1e30", "0.1", "-2.5e-7", "0.1 + 0.2", "100000000000"),
    *("123456789012345678901234567890", "1.5e3", "7 % 4", "-0.0", "1e22", "0.30"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A type: its text, defaults in native text, and values for a var file or a JSON default."""

    text: str
    native: st.SearchStrategy[str]
    value: st.SearchStrategy[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What is known of one variable."""

    file: str
    line: int
    required: bool
    sensitive: bool


@dataclass(slots=True)
class Module:
    """Files by name, the var file's values, and what is known of each variable."""

    files: dict[str, bytes] = field(default_factory=dict)
    overrides: dict[str, Any] = field(default_factory=dict)
    declared: dict[str, Declared] = field(default_factory=dict)


def quoted(text: str) -> str:
    """Return native quoted text."""
    for plain, written in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t")):
        text = text.replace(plain, written)
    return '"' + text.replace("${", "$${").replace("%{", "%%{") + '"'


@st.composite
def _heredocs(draw: st.DrawFn) -> str:
    parts = st.sampled_from(_PIECES).map(
        lambda text: text.replace("${", "$${").replace("%{", "%%{")
    )
    body = "".join(draw(st.lists(parts | st.sampled_from(_TEMPLATES), max_size=6)))
    marks = ["EOT", "E-T", "é", "_"]
    mark = draw(st.sampled_from(marks))
    while any(line.strip() == mark for line in body.split("\n")):
        mark += "1"
    indent = draw(st.sampled_from(["", "  ", "\t"]))
    lines = "".join(f"{indent}{line}\n" for line in body.split("\n")) if body else ""
    return f"<<{draw(st.sampled_from(['', '-']))}{mark}\n{lines}{indent}{mark}"


_native_texts = (
    _texts.map(quoted)
    | _heredocs()
    | st.sampled_from(_TEMPLATES).filter(lambda text: "\n" not in text).map(lambda one: f'"{one}"')
)

_STRING = Kind(
    text="string", native=_native_texts, value=_texts | st.integers() | st.booleans() | st.none()
)
_NUMBER = Kind(
    text="number",
    native=st.sampled_from(_NUMBERS) | st.sampled_from(_NUMBERS[:6]).map(quoted),
    value=st.integers(min_value=-(2**70), max_value=2**70)
    | st.floats(allow_nan=False, allow_infinity=False, width=32).map(lambda one: round(one, 3))
    | st.sampled_from(["12", "0.5", "1e5"])
    | st.none(),
)
_BOOL = Kind(
    text="bool",
    native=st.sampled_from(["true", "false", '"true"', "1 == 2", "!false"]),
    value=st.sampled_from([True, False, "true", "false", None]),
)
_SCALARS = st.sampled_from([_STRING, _NUMBER, _BOOL])


def _kinds(depth: int) -> st.SearchStrategy[Kind]:
    if depth == 0:
        return _SCALARS
    inner = _kinds(depth - 1)
    return st.one_of(
        _SCALARS,
        st.tuples(st.sampled_from(["list", "set"]), inner).map(lambda made: _list(*made)),
        inner.map(_map),
        st.lists(inner, max_size=3).map(_tuple),
        _objects(inner),
    )


def _rows(
    parts: st.SearchStrategy[list[str]], opening: str, closing: str
) -> st.SearchStrategy[str]:
    """Join what is written in brackets, on one line or on many, with comments between."""
    ways = st.sampled_from([", ", ",\n  ", ", # ] } , \n", ", /* } */ "])
    return st.tuples(parts, ways).map(lambda made: opening + made[1].join(made[0]) + closing)


def _list(form: str, kind: Kind) -> Kind:
    return Kind(
        text=f"{form}({kind.text})",
        native=_rows(st.lists(_item(kind), max_size=3), "[", "\n]"),
        value=st.lists(kind.value, max_size=3),
    )


def _item(kind: Kind) -> st.SearchStrategy[str]:
    # What follows a heredoc stands on a line of its own.
    return kind.native.map(lambda text: f"{text}\n" if "<<" in text else text)


def _tuple(kinds: list[Kind]) -> Kind:
    return Kind(
        text=f"tuple([{', '.join(kind.text for kind in kinds)}])",
        native=_rows(st.tuples(*map(_item, kinds)).map(list), "[", "]"),
        value=st.tuples(*(kind.value for kind in kinds)).map(list),
    )


def _map(kind: Kind) -> Kind:
    keys = _texts.filter(bool)
    pair = st.tuples(keys, kind.native).map(lambda made: f"{quoted(made[0])} = {made[1]}")
    return Kind(
        text=f"map({kind.text})",
        native=st.lists(pair, max_size=2).map(lambda pairs: "{" + "\n".join(pairs) + "\n}"),
        value=st.dictionaries(keys, kind.value, max_size=2),
    )


@st.composite
def _objects(draw: st.DrawFn, inner: st.SearchStrategy[Kind]) -> Kind:
    names = draw(st.lists(st.sampled_from(_NAMES), max_size=3, unique=True))
    attributes: list[tuple[str, Kind, bool]] = []
    rows = []
    for drawn in names:
        kind, optional = draw(inner), draw(st.booleans())
        name, text = drawn, kind.text
        if optional:
            default = draw(st.none() | st.just("null") | kind.native)
            text = f"optional({text}{f', {default}' if default else ''}\n)"
            # Under a name in another form an engine may fill over what was given, or not.
            name = unicodedata.normalize("NFC", drawn)
        attributes.append((name, kind, optional))
        remark = draw(st.sampled_from([",", ",", " /* } */,", " # { it is so"]))
        rows.append(f"    {name} = {text}{remark}\n")
    return Kind(
        text="object({\n" + "".join(rows) + "  })",
        native=_object_natives(attributes),
        value=_object_values(attributes),
    )


@st.composite
def _object_natives(draw: st.DrawFn, attributes: list[tuple[str, Kind, bool]]) -> str:
    rows = []
    for name, kind, optional in attributes:
        if not optional or draw(st.booleans()):
            equals = draw(st.sampled_from([" = ", ": ", "="]))
            value = draw(kind.native | st.just("null"))
            rows.append(f"    {draw(st.sampled_from([name, quoted(name)]))}{equals}{value}\n")
    return "{\n" + "".join(rows) + "  }"


@st.composite
def _object_values(draw: st.DrawFn, attributes: list[tuple[str, Kind, bool]]) -> dict[str, Any]:
    return {
        name: draw(kind.value)
        for name, kind, optional in attributes
        if not optional or draw(st.booleans())
    }


_ANY = Kind(
    text="any",
    native=_native_texts | st.sampled_from(["null", '[1, "x", true]', '{ a = 1, b = ["x"] }', "5"]),
    value=_texts | st.lists(st.integers() | _texts, max_size=2) | st.none() | st.booleans(),
)

_kinds_of_variables = _kinds(2) | st.just(_ANY)

#: What may stand before a block, and names none.
_BETWEEN = (
    *("", "\n", '# variable "no" {\n', '/* variable\n "no" { */\n', "// } <<EOT\n", "\n\n"),
    *('locals {\n  @ = <<EOT\nvariable "no" {\nEOT\n}\n', 'locals {\n  @ = "}{ /* ${"{"}"\n}\n'),
    *('locals {\n  @ = [for x in ["}"] : x if x != "{"]\n}\n', 'output "@" {\n  value = "#"\n}\n'),
)


@st.composite
def modules(draw: st.DrawFn) -> Module:
    """Draw a module of a dozen variables."""
    module = Module()
    native: dict[str, list[str]] = {}
    json_rows: list[tuple[str, dict[str, Any]]] = []
    given: dict[str, Any] = {}
    for number in range(draw(st.integers(min_value=6, max_value=14))):
        name = f"{draw(st.sampled_from(_NAMES))}_{number}"
        kind = draw(_kinds_of_variables)
        has_default, sensitive = draw(st.booleans()), draw(st.sampled_from([True, False, None]))
        if not has_default or draw(st.booleans()):
            (module.overrides if draw(st.booleans()) else given)[name] = draw(kind.value)
        changed = draw(st.sampled_from([None] * 4 + ["description", "default", "sensitive"]))
        known = {
            "required": not has_default and changed != "default",
            "sensitive": bool(sensitive) or changed == "sensitive",
        }
        file = draw(st.sampled_from(["variables.tf", "main.tf", "more of it.tf", "extra.tf.json"]))
        if file.endswith(".json"):
            body: dict[str, Any] = {
                "type": kind.text.replace("\n", " "),
                "description": draw(_texts),
            }
            body |= {"default": draw(kind.value)} if has_default else {}
            body |= {} if sensitive is None else {"sensitive": sensitive}
            json_rows.append((name, {} if kind is _ANY and not has_default else body))
            if "#" in kind.text or "<<" in kind.text or (kind is _ANY and not has_default):
                body["type"] = "any"
                known["sensitive"] = bool(body.get("sensitive")) or changed == "sensitive"
                json_rows[-1] = (name, body)
            module.declared[name] = Declared(file=file, line=len(json_rows) + 2, **known)
        else:
            text = native.setdefault(file, [])
            between = draw(st.sampled_from(_BETWEEN)).replace("@", f"n{number}")
            text.append(between)
            line = "".join(text).count("\n") + 1
            text.append(draw(_native_blocks(name, kind, has_default=has_default, flag=sensitive)))
            module.declared[name] = Declared(file=file, line=line, **known)
        if changed:
            value = {"description": '"other"', "sensitive": "true"}.get(changed)
            value = draw(kind.native) if value is None else value
            row = f'variable "{name}" {{\n  {changed} = {value}\n}}\n'
            native.setdefault("more_override.tf", []).append(row)
    for file, parts in native.items():
        whole = "".join(parts)
        if draw(st.booleans()):
            whole = whole.replace("\n", "\r\n")
        module.files[file] = (draw(st.sampled_from(["", "\ufeff"])) + whole).encode()
    if json_rows:
        module.files["extra.tf.json"] = _json_file(json_rows, in_a_list=draw(st.booleans()))
    module.files["given.auto.tfvars.json"] = json.dumps(given).encode()
    return module


def _json_file(rows: Sequence[tuple[str, Mapping[str, Any]]], *, in_a_list: bool) -> bytes:
    written = ",\n".join(f"{json.dumps(name)}: {json.dumps(body)}" for name, body in rows)
    opening, closing = ("[{", "}]") if in_a_list else ("{", "}")
    text = f'{{"//": "variable", "locals": {{"in_json": "}}{{"}},\n "variable": {opening}\n'
    return f'{text}{written}\n{closing}, "output": [{{"o": {{"value": "x"}}}}]}}'.encode()


@st.composite
def _native_blocks(
    draw: st.DrawFn, name: str, kind: Kind, *, has_default: bool, flag: bool | None
) -> str:
    rows = []
    if kind is not _ANY or draw(st.booleans()):
        rows.append(f"type = {kind.text}")
    if has_default:
        rows.append(f"default = {draw(kind.native)}")
    if flag is not None:
        rows.append(f"sensitive = {'true' if flag else 'false'}")
    if draw(st.booleans()):
        rows.append(f"description = {draw(_texts.map(quoted) | _heredocs())}")
    if draw(st.integers(0, 3)) == 0:
        check = f'condition = var.{name} == var.{name}\nerror_message = "no: }} {{"'
        rows.append(f"validation {{\n{check}\n}}")
    rows = draw(st.permutations(rows))
    remark = draw(st.sampled_from(["", "  # sensitive = true }\n", "  /* { \n } */\n", "\n"]))
    label = draw(st.sampled_from([name, f'"{name}"', f'/* }} */ "{name}"']))
    if len(rows) == 1 and "<<" not in rows[0] and "\n" not in rows[0]:
        return f"variable {label} {{ {rows[0]} }}\n"
    body = "".join(f"  {row}\n{remark}" for row in rows)
    return f"variable {label} {{\n{remark}{body}}}\n"

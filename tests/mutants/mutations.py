"""Ways to make a grader wrong by one step: pure, from a module's syntax tree.

Each mutation is done in place, compiled, and undone, so that a module is parsed once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType

#: What says that something was done, refused, or only asked: a grader may forget to look.
_FACTS = frozenset({"writes", "accepted", "reached", "erased", "quarantined", "dry_run"})

#: Attributes of a request by which a grader tells what was refused.
_REFUSALS = frozenset({"code", "refused_by"})

_STRICTER: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}

_SWAPPED = {"any": "all", "all": "any", "min": "max", "max": "min"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One wrong grader.

    Attributes:
        module: Name of the module that is changed.
        way: `negate`, `off by one`, `ignore UID`, `accept empty` or `ignore refused`.
        line: Where.
        text: What stands there now.
    """

    module: str
    way: str
    line: int
    text: str
    code: CodeType

    def __str__(self) -> str:
        return f"{self.module}:{self.line}: {self.way}: {self.text}"


def mutants(module: str, source: str) -> Iterator[Mutant]:
    """Yield every mutant of a module, in order of its lines."""
    tree = ast.parse(source)
    for parent, key, at, node in list(_places(tree)):
        for way, changed in _changes(node):
            put_back = _put(parent, key, at, changed)
            ast.fix_missing_locations(tree)
            yield Mutant(
                module=module,
                way=way,
                line=node.lineno,
                text=ast.unparse(changed),
                code=compile(tree, module, "exec"),
            )
            _put(parent, key, at, put_back)


def _places(tree: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.expr]]:
    """Yield each expression with its place; what only says something is left out."""
    for parent in ast.walk(tree):
        if isinstance(parent, ast.arg | ast.AnnAssign | ast.JoinedStr | ast.ClassDef):
            continue
        for key, value in ast.iter_fields(parent):
            if key in {"annotation", "returns", "decorator_list"}:
                continue
            if isinstance(value, ast.expr):
                yield parent, key, None, value
            elif isinstance(value, list):
                for at, item in enumerate(value):
                    if isinstance(item, ast.expr):
                        yield parent, key, at, item


def _put(parent: ast.AST, key: str, at: int | None, node: ast.expr) -> ast.expr:
    if at is None:
        old: ast.expr = getattr(parent, key)
        setattr(parent, key, node)
        return old
    items: list[ast.expr] = getattr(parent, key)
    old, items[at] = items[at], node
    return old


def _changes(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    match node:
        case ast.Compare():
            yield "negate", ast.UnaryOp(op=ast.Not(), operand=node)
            yield from _of_compare(node)
        case ast.BoolOp(op=op, values=values):
            yield "negate", ast.UnaryOp(op=ast.Not(), operand=node)
            for at in range(len(values)):
                rest = [value for number, value in enumerate(values) if number != at]
                yield "accept empty", rest[0] if len(rest) == 1 else ast.BoolOp(op=op, values=rest)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "negate", operand
        case ast.Call(func=ast.Name(id=name)) if name in _SWAPPED:
            swapped = ast.Name(id=_SWAPPED[name], ctx=ast.Load())
            yield "accept empty", ast.Call(func=swapped, args=node.args, keywords=node.keywords)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield "negate", ast.IfExp(test=test, body=orelse, orelse=body)
        case ast.Attribute(attr=name, ctx=ast.Load()) if name in _FACTS:
            yield "ignore refused", ast.Constant(value=True)
            yield "ignore refused", ast.Constant(value=False)
        case ast.Subscript():
            yield from _of_subscript(node)
        case _:
            pass


def _of_subscript(node: ast.Subscript) -> Iterator[tuple[str, ast.expr]]:
    match node:
        case ast.Subscript(slice=ast.Constant(value=0)):
            other = ast.Constant(value=-1)
            yield "off by one", ast.Subscript(value=node.value, slice=other, ctx=node.ctx)
        case ast.Subscript(slice=ast.UnaryOp(op=ast.USub())):
            other = ast.Constant(value=0)
            yield "off by one", ast.Subscript(value=node.value, slice=other, ctx=node.ctx)
        case ast.Subscript(slice=ast.Slice(lower=None, upper=ast.Name() as upper, step=None)):
            more = ast.BinOp(left=upper, op=ast.Add(), right=ast.Constant(value=1))
            part = ast.Slice(lower=None, upper=more, step=None)
            yield "off by one", ast.Subscript(value=node.value, slice=part, ctx=node.ctx)
        case _:
            pass


def _of_compare(node: ast.Compare) -> Iterator[tuple[str, ast.expr]]:
    if len(node.ops) == 1 and type(node.ops[0]) in _STRICTER:
        stricter = _STRICTER[type(node.ops[0])]()
        yield (
            "off by one",
            ast.Compare(left=node.left, ops=[stricter], comparators=node.comparators),
        )
    names = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
    names |= {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    agrees = all(isinstance(op, ast.Eq | ast.In | ast.Is) for op in node.ops)
    if any("uid" in name for name in names):
        yield "ignore UID", ast.Constant(value=agrees)
    if names & _REFUSALS:
        yield "ignore refused", ast.Constant(value=True)

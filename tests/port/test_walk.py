"""The walk that only makes what changed does to a tree what libcst's own visit does."""

from __future__ import annotations

import argparse
import ast
import contextlib
import gc
import sys
from pathlib import Path
from typing import Any

import libcst as cst
import pytest
from hypothesis import given

from migrate.collection import no_collection
from migrate.rewrite import driver
from migrate.syntax.ast_index import all_nodes, nodes_of
from migrate.syntax.children import CHILDREN, code_nodes
from migrate.syntax.text import code, module_code
from migrate.syntax.walk import transform_lazily
from tests.port import grammar
from tests.port.test_properties import RELAXED

ROOT = Path(__file__).resolve().parents[2]
EVERY_KIND = """
from os import *
from .. import (a as b, c)
import x.y as z, w

@first
@second(1, *p, key=2, **q)
class A[T: int, *Ts, **P](B, metaclass=M):
    x: int = 1; y = z = 2.0; pass
    async def f(self, a, /, b: int = 1, *c, d=2, **e) -> int:
        global g; h = 3j
        async with open(a) as b, c: await d
        async for i, *rest in range(3):
            continue
        else: break
        return (yield)
    def h(self, *, k): return lambda u, v=1: u if v else ...
try:
    raise E from None
except (A, B) as error:
    del a[0], b.c
except C:
    assert a, "no"
else:
    while a < b <= c not in d: a += ~b ** -c
finally:
    def inner():
        n = 0
        def deeper():
            nonlocal n
try: pass
except* E as group: e = [*a, {**b, c: d}, {e}]
if (n := 1) and not a or b: print(f"{a!r:>{width}} {b=}" "text" 'more')
elif a: x = a[1:2:3, ..., *b]
else: y = [i for j in k if i for i in l], {i for i in j}, {i: j for i in k}, (i for i in j)
match a:
    case [1, *rest] | (2, _) | {"k": v, **others} | P(1, k=2) | None | a.b as c if d: pass
    case -1: pass
type Alias[T] = list[T]
def g(): x = yield from y; del x
"""
FILES = [
    *sorted((ROOT / "reference_pt").glob("*.py")),
    *sorted((ROOT / "tests" / "training" / "programs").glob("*.py")),
    Path(argparse.__file__),
    Path(contextlib.__file__),
]
SOURCES = [EVERY_KIND, *(path.read_text(encoding="utf-8") for path in FILES)]
TOKENS = (
    cst.BaseParenthesizableWhitespace,
    cst.TrailingWhitespace,
    cst.EmptyLine,
    cst.Comma,
    cst.Colon,
    cst.Semicolon,
    cst.Dot,
    cst.AssignEqual,
    cst.LeftParen,
    cst.RightParen,
    cst.LeftSquareBracket,
    cst.RightSquareBracket,
    cst.LeftCurlyBrace,
    cst.RightCurlyBrace,
    cst.Asynchronous,
    cst.BaseBinaryOp,
    cst.BaseUnaryOp,
    cst.BaseBooleanOp,
    cst.BaseCompOp,
    cst.BaseAugOp,
    cst.ParamSlash,
    cst.BitOr,
)


class Busy(cst.CSTTransformer):
    """Renames, replaces, takes away and adds, and notes the order in which it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def visit_Name(self, node: cst.Name) -> None:
        self.asked.append(f"enter {node.value}")

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:
        self.asked.append(f"leave {original_node.value}")
        return (
            updated_node.with_changes(value="renamed")
            if len(updated_node.value) == 1
            else updated_node
        )

    def visit_Lambda(self, node: cst.Lambda) -> bool:
        self.asked.append("lambda")
        return False

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        self.asked.append(f"call of {len(updated_node.args)}")
        return updated_node.func if not updated_node.args else updated_node

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> Any:
        twice = isinstance(updated_node.value, cst.Integer) and updated_node.keyword is None
        return cst.FlattenSentinel([updated_node, updated_node]) if twice else updated_node

    def leave_Pass(self, original_node: cst.Pass, updated_node: cst.Pass) -> Any:
        return cst.RemoveFromParent()

    def leave_Else(self, original_node: cst.Else, updated_node: cst.Else) -> Any:
        return cst.RemoveFromParent()

    def leave_Assert(self, original_node: cst.Assert, updated_node: cst.Assert) -> Any:
        return cst.RemoveFromParent()

    def leave_For(self, original_node: cst.For, updated_node: cst.For) -> Any:
        line = cst.parse_statement("before = None")
        return cst.FlattenSentinel([line, updated_node])


@pytest.mark.parametrize("source", SOURCES, ids=["every kind", *(path.name for path in FILES)])
def test_it_asks_in_the_same_order_and_gives_the_same_text(source: str) -> None:
    module = cst.parse_module(source)
    ours, theirs = Busy(), Busy()
    assert transform_lazily(module, ours).code == module.visit(theirs).code
    assert ours.asked == theirs.asked


@pytest.mark.parametrize("source", SOURCES, ids=["every kind", *(path.name for path in FILES)])
def test_the_fields_that_hold_code_are_known(source: str) -> None:
    for node in code_nodes(cst.parse_module(source)):
        assert type(node) in CHILDREN, type(node).__name__
        below = [child for child in node.children if not isinstance(child, TOKENS)]
        assert list(_direct(node)) == below, type(node).__name__


def _direct(node: cst.CSTNode) -> list[cst.CSTNode]:
    values = [getattr(node, name) for name in CHILDREN[type(node)]]
    flat = [v for value in values for v in (value if isinstance(value, tuple | list) else [value])]
    return [v for v in flat if isinstance(v, cst.CSTNode) and not isinstance(v, TOKENS)]


def test_every_kind_of_code_is_in_the_example() -> None:
    seen = {type(node) for node in code_nodes(cst.parse_module(EVERY_KIND))}
    assert set(CHILDREN) == seen


def test_what_does_not_change_is_the_very_node() -> None:
    module = cst.parse_module(EVERY_KIND)
    assert transform_lazily(module, cst.CSTTransformer()) is module


def test_a_kind_that_only_libcst_knows_is_left_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (cst.Call, cst.IfExp, cst.With):
        monkeypatch.delitem(CHILDREN, kind)
    module = cst.parse_module(EVERY_KIND)
    assert transform_lazily(module, Busy()).code == module.visit(Busy()).code


def test_what_must_be_there_cannot_go_away() -> None:
    class Careless(cst.CSTTransformer):
        def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> Any:
            return cst.RemoveFromParent()

    with pytest.raises(TypeError, match="the value of a Expr must be one node"):
        transform_lazily(cst.parse_module("x"), Careless())


def _visited(node: cst.CSTNode, handlers: Any, unknown: cst.CSTTransformer) -> Any:
    """The walk of the driver, as libcst does it."""
    known: dict[type, Any] = {}

    class Transformer(cst.CSTTransformer):
        def on_visit(self, node: cst.CSTNode) -> bool:
            if type(node) not in known:
                known[type(node)] = handlers(type(node))
            enter, _ = known[type(node)]
            return enter is None or enter(node) is not False

        def on_leave(self, original_node: Any, updated_node: Any) -> Any:
            _, leave = known[type(original_node)]
            return updated_node if leave is None else leave(original_node, updated_node)

    return node.visit(Transformer())


@RELAXED
@given(grammar.programs(torch=True))
def test_programs_port_as_with_the_visit_of_libcst(port, text: str) -> None:
    ours = port(text).text
    users = [
        module
        for name, module in sys.modules.items()
        if name.startswith("migrate.") and hasattr(module, "transform_lazily")
    ]
    assert len(users) > 5  # the driver and the passes with a walk of their own
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver, "walk_lazily", _visited)
        for module in users:
            patch.setattr(
                module, "transform_lazily", lambda node, transformer: node.visit(transformer)
            )
        assert port(text).text == ours


def test_what_the_author_wrote_so_stays_so(port) -> None:
    source = """
        import torch

        def f(x: torch.Tensor, rates):
            first = [float(r) for r in rates][0]
            return x.relu() if True and first else x
    """
    text = port(source).text
    assert "first = [float(r) for r in rates][0]" in text
    assert "if True and first else x" in text


def test_nothing_is_collected_while_a_file_is_in_hand() -> None:
    assert gc.isenabled()
    with no_collection():
        assert not gc.isenabled()
        with no_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()  # as the one around it has it
    assert gc.isenabled()


@pytest.mark.parametrize("source", SOURCES, ids=["every kind", *(path.name for path in FILES)])
def test_the_text_is_that_of_libcst(source: str) -> None:
    module = cst.parse_module(source)
    assert module_code(module) == module.code == source
    for statement in module.body:
        assert code(statement) == cst.Module([]).code_for_node(statement)


def test_every_node_is_found_as_by_the_stdlib() -> None:
    tree = ast.parse(Path(argparse.__file__).read_text(encoding="utf-8"))
    left_out = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
    nodes = [node for node in ast.walk(tree) if not isinstance(node, left_out)]
    assert all_nodes(tree) == nodes
    assert nodes_of(tree, ast.Name, ast.arg) == [
        node for node in nodes if isinstance(node, ast.Name | ast.arg)
    ]

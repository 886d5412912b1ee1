"""The places that a function changes in place: `x.add_(1)`, `x += 1`, `F.relu(x, inplace=True)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from migrate.flow.answer import Verdict, yes
from migrate.flow.events import heads
from migrate.flow.tables import REMOVING, REORDERED_ARGUMENTS, REORDERING, STORING, is_in_place
from migrate.resolve.values import UNKNOWN, External, Instance, is_tensor, options_of
from migrate.syntax.ast_index import child_nodes

if TYPE_CHECKING:
    from migrate.flow.function import FunctionFlow


@dataclass(frozen=True, slots=True)
class Mutation:
    """A write to memory.

    kind: "operator" x += 1, "method" x.add_(1) or F.relu_(x), "item" x[0] = 1, "call" a layer or
    a function of the program.
    """

    place: ast.expr
    statement: ast.AST
    kind: Literal["operator", "method", "item", "call"]
    verdict: Verdict
    how: str = ""  # the last part of the operation's name, without the underscore


def mutations(flow: FunctionFlow) -> Iterator[Mutation]:
    """All changes in place of one function, in source order; those of inner functions left out."""
    for point in flow.cfg.points[2:]:
        statement = point.statement
        if not point.reads and not point.definitions and not isinstance(statement, ast.Assign):
            continue
        if isinstance(statement, (ast.For, ast.AsyncFor)) and point.definitions:
            continue  # its second point
        yield from _of_statement(flow, statement)


class Fill(NamedTuple):
    """A container gets or loses items, or another order: by a method, `losses.append(v)`, by
    `del losses[0]`, by a function of Python's library or one of the program that it is passed to,
    `random.shuffle(names)`, `collect(losses, v)`.
    """

    place: ast.expr
    statement: ast.AST
    passed: bool = False


def fills(flow: FunctionFlow) -> Iterator[Fill]:
    """All containers that a function fills, in source order."""
    for point in flow.cfg.points[2:]:
        statement = point.statement
        if isinstance(statement, (ast.For, ast.AsyncFor)) and point.definitions:
            continue  # its second point
        alone = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(statement, ast.Delete):
            for target in statement.targets:
                if isinstance(target, ast.Subscript):
                    yield Fill(target.value, statement)
        for head in heads(statement):
            if isinstance(head, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                continue
            for node in _expressions(head):
                if isinstance(node, ast.Call):
                    if _is_fill(node, flow, alone=node is alone):
                        assert isinstance(node.func, ast.Attribute)
                        yield Fill(node.func.value, statement)
                    if (reordered := _reordered(node, flow)) is not None:
                        yield Fill(reordered, statement)
                    for place in flow.effects.of_call(node).filled:
                        yield Fill(place, statement, passed=True)


def _is_fill(call: ast.Call, flow: FunctionFlow, *, alone: bool) -> bool:
    """`x.add(y)` whose result is used is a sum, where nothing says that x is a set."""
    function = call.func
    if not isinstance(function, ast.Attribute) or flow.symbols.api(function):
        return False
    names = STORING | REMOVING
    names = names | REORDERING if alone else names - {"add", "update"}
    return function.attr in names and not flow.symbols.targets(call)


def _reordered(call: ast.Call, flow: FunctionFlow) -> ast.expr | None:
    """`names` of `random.shuffle(names)`."""
    callee = flow.symbols.type(call.func)
    place = REORDERED_ARGUMENTS.get(callee.name) if isinstance(callee, External) else None
    return call.args[place] if place is not None and place < len(call.args) else None


def adds_nothing(statement: ast.AST) -> bool:
    """`times.sort()`, `del times[0]`: what a container holds afterwards, it held before."""
    if isinstance(statement, ast.Delete):
        return True
    call = statement.value if isinstance(statement, ast.Expr) else None
    function = call.func if isinstance(call, ast.Call) else None
    return isinstance(function, ast.Attribute) and function.attr in REORDERING - {
        "extendleft",
        "subtract",
    }


def _of_statement(flow: FunctionFlow, statement: ast.AST) -> Iterator[Mutation]:
    for head in heads(statement):
        if isinstance(head, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        for node in _expressions(head):
            if isinstance(node, ast.Call):
                yield from _of_call(flow, node, statement)
    if isinstance(statement, ast.AugAssign):
        target: ast.expr = statement.target
        if isinstance(target, ast.Subscript):
            yield Mutation(target.value, statement, "item", yes())
        elif _may_be_tensor(flow, target):
            yield Mutation(target, statement, "operator", yes())
    elif isinstance(statement, ast.Assign):
        for written in statement.targets:
            for part in written.elts if isinstance(written, (ast.Tuple, ast.List)) else [written]:
                if isinstance(part, ast.Subscript):
                    yield Mutation(part.value, statement, "item", yes())


def _expressions(head: ast.AST) -> Iterator[ast.AST]:
    pending = [head]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, ast.Lambda):
            pending += reversed(list(child_nodes(node)))


def _of_call(flow: FunctionFlow, call: ast.Call, statement: ast.AST) -> Iterator[Mutation]:
    api = flow.symbols.api(call.func)
    name = api.rpartition(".")[2] if api else getattr(call.func, "attr", "")
    written = changed_by(call, flow)
    if written is not None:
        yield Mutation(written, statement, "method", yes(), name.rstrip("_"))
        return
    out = next((k.value for k in call.keywords if k.arg == "out"), None)
    if out is not None and api.startswith("torch."):
        yield Mutation(out, statement, "method", yes(), name)
    effects = flow.effects.of_call(call)
    for argument, verdict, how in effects.mutated:
        yield Mutation(argument, statement, "call", verdict, how)


def changed_by(call: ast.Call, flow: FunctionFlow) -> ast.expr | None:
    """What a torch function or method changes: `x` of `x.mul_(2).add_(1)` and `F.relu_(x)`."""
    function = call.func
    api = flow.symbols.api(function)
    name = api.rpartition(".")[2] if api else getattr(function, "attr", "")
    inplace = any(
        k.arg == "inplace" and isinstance(k.value, ast.Constant) and k.value.value is True
        for k in call.keywords
    )
    if name in STORING or not (is_in_place(name) or (inplace and api)):
        return None
    of_tensor = api.startswith("torch.Tensor.") or not api
    if api and not of_tensor:
        return call.args[0] if call.args else None
    if isinstance(function, ast.Attribute) and not flow.symbols.targets(call):
        return innermost(function.value)
    return None


def innermost(node: ast.expr) -> ast.expr:
    """`x` of `x.mul_(a).add_(b)`: in-place methods return their receiver."""
    while (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and is_in_place(node.func.attr)
    ):
        node = node.func.value
    return node


def _may_be_tensor(flow: FunctionFlow, target: ast.expr) -> bool:
    kind = flow.symbols.type(target)
    if kind is UNKNOWN:
        return True
    return is_tensor(kind) or any(
        isinstance(o, Instance) and o.cls in ("torch.Tensor", "torch.nn.Parameter")
        for o in options_of(kind)
    )

"""An epoch loop over the functions that it calls: each statement with the call that it runs in, and
expressions in the words of the function that holds the loop.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from migrate.flow.devices import is_called_device
from migrate.flow.events import all_bound, arguments_of
from migrate.pipeline.context import Context
from migrate.syntax.ast_index import nodes_of

Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module
_DEEPEST = 4  # calls inside of calls
MOVES = ("to", "cuda", "cpu", "npu")


class Stays(Exception):
    """The loop is left to the default style; the statement that prevents it, and why."""

    def __init__(self, reason: str, node: ast.AST) -> None:
        super().__init__(reason)
        self.node = node


@dataclass(eq=False)
class Frame:
    """A function while it runs: what its parameters were given, in the caller's words."""

    scope: Scope
    context: Context
    given: dict[str, tuple[ast.expr, Frame]] = field(default_factory=dict)
    caller: Frame | None = None

    def __post_init__(self) -> None:
        self.bound = {name for statement in self.scope.body for name in all_bound(statement)}

    @property
    def root(self) -> Frame:
        return self if self.caller is None else self.caller.root

    def text(self, node: ast.expr) -> str:
        """The expression as the root of the frames would write it."""
        return ast.unparse(self.expression(node))

    def expression(self, node: ast.expr) -> ast.expr:
        renamed = _Renamed(self).visit(copy.deepcopy(node))
        assert isinstance(renamed, ast.expr)
        return renamed

    def origin(self, node: ast.expr) -> tuple[ast.expr, Frame]:
        """What a name stands for: an argument of the caller's, or the value it is given once."""
        node = self.without_moves(node)
        if isinstance(node, ast.Name):
            if node.id in self.given and self.keeps(node.id):
                expression, frame = self.given[node.id]
                return frame.origin(expression)
            values = self.values(node.id)
            if len(values) == 1 and isinstance(values[0], ast.Name) and values[0].id != node.id:
                return self.origin(values[0])
        return node, self

    def without_moves(self, node: ast.expr) -> ast.expr:
        """`x.to(device)`, `x.cuda()` are x."""
        while (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in MOVES
            and (node.func.attr != "to" or (node.args and self._is_device(node.args[0])))
        ):
            node = node.func.value
        return node

    def _is_device(self, node: ast.expr) -> bool:
        return is_called_device(node, self.context.type(node))

    def values(self, name: str) -> list[ast.expr | None]:
        """What the scope assigns to a name, moves to a device left out."""
        found = self.context.flow.function(self.scope).defuse.definitions(name)
        values = [d.value for d in found if d.kind != "parameter"]
        return [v for v in values if v is None or ast.unparse(self.without_moves(v)) != name]

    def keeps(self, name: str) -> bool:
        """Whether a parameter is what the caller gave all through the function."""
        return not self.values(name)


class _Renamed(ast.NodeTransformer):
    """Names of parameters by what they were given."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    def visit_Name(self, node: ast.Name) -> ast.expr:
        frame = self._frame
        if node.id in frame.given:
            if not frame.keeps(node.id):
                raise Stays(f"`{node.id}` is bound anew in the function that trains", node)
            expression, caller = frame.given[node.id]
            return caller.expression(expression)
        if frame.caller is None:
            return node
        if node.id in frame.bound:
            values = frame.values(node.id)
            if len(values) == 1 and isinstance(values[0], ast.Call):
                return frame.expression(values[0])
            raise Stays(f"`{node.id}` is a variable of a function that is called here", node)
        if not isinstance(frame.root.scope, ast.Module) and node.id in frame.root.bound:
            raise Stays(f"`{node.id}` means something else where the epochs are counted", node)
        return node


@dataclass(frozen=True, eq=False)
class Item:
    """A statement and the frame that it runs in; `result`: where a called function's value goes."""

    statement: ast.stmt
    frame: Frame
    result: Item | None = None


def items_of(body: Sequence[ast.stmt], frame: Frame, depth: int = 0) -> Iterator[Item]:
    """The statements, with those of the file's functions in place of their calls."""
    for statement in body:
        call = called_alone(statement)
        function = _function_of(call, frame) if call is not None and depth < _DEEPEST else None
        if call is None or function is None:
            yield Item(statement, frame)
            continue
        inner = _entered(call, function, frame)
        for one in items_of(_without_docstring(function.body), inner, depth + 1):
            if isinstance(one.statement, ast.Return) and one.frame is inner:
                if one.statement is not function.body[-1]:
                    raise Stays("a function that trains or evaluates returns early", one.statement)
                yield Item(one.statement, inner, Item(statement, frame))
            else:
                yield one


def called_alone(statement: ast.stmt) -> ast.Call | None:
    """`train(epoch)`, `loss = train(epoch)`."""
    if isinstance(statement, (ast.Expr, ast.Assign, ast.AnnAssign)) and isinstance(
        statement.value, ast.Call
    ):
        return statement.value
    return None


def _function_of(call: ast.Call, frame: Frame) -> ast.FunctionDef | None:
    """The one function or method of the file that a call runs, if it trains or evaluates."""
    targets = frame.context.flow.calls.targets(call)
    if len(targets) != 1 or not isinstance(targets[0].node, ast.FunctionDef):
        return None
    node = targets[0].node
    if node not in set(nodes_of(frame.context.tree, ast.FunctionDef)):
        return None
    named = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    loops = any(isinstance(inner, ast.For) for inner in ast.walk(node))
    return node if node.name == named and loops else None


def _entered(call: ast.Call, function: ast.FunctionDef, frame: Frame) -> Frame:
    """The frame of a call, its arguments bound."""
    names = [argument.arg for argument in arguments_of(function)]
    special = function.args.vararg or function.args.kwarg or function.args.posonlyargs
    starred = any(isinstance(one, ast.Starred) for one in call.args)
    if special or starred or any(keyword.arg is None for keyword in call.keywords):
        raise Stays("how a function that trains is called is only known at run time", call)
    given: dict[str, tuple[ast.expr, Frame]] = {}
    positional = [argument.arg for argument in function.args.args]
    arguments = list(call.args)
    if isinstance(call.func, ast.Attribute) and positional[:1] == ["self"]:
        arguments = [call.func.value, *arguments]
    given |= {name: (value, frame) for name, value in zip(positional, arguments, strict=False)}
    given |= {keyword.arg: (keyword.value, frame) for keyword in call.keywords if keyword.arg}
    defaults = dict(zip(reversed(positional), reversed(function.args.defaults), strict=False))
    for name, value in defaults.items():
        given.setdefault(name, (value, frame))
    if set(given) != set(names):
        raise Stays("how a function that trains is called is only known at run time", call)
    return Frame(function, frame.context, given, frame)


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        return body[1:]
    return body

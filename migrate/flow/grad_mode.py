"""What torch computes without gradients: `with torch.no_grad()`, `@torch.no_grad()`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrate.flow.gradient_reads import gradient_reads
from migrate.flow.mutations import adds_nothing
from migrate.flow.tables import gives_plain
from migrate.resolve.values import External
from migrate.syntax.ast_index import all_nodes, child_nodes

if TYPE_CHECKING:
    from migrate.flow import Flow
    from migrate.flow.names import NameEffects

_CONTEXTS = frozenset(
    {
        "torch.no_grad",
        "torch.inference_mode",
        "torch.autograd.no_grad",
        "torch.autograd.inference_mode",
        "torch.autograd.grad_mode.no_grad",
        "torch.autograd.grad_mode.inference_mode",
    }
)


def stops_gradient(node: ast.expr, flow: Flow) -> bool:
    """`torch.no_grad()`, or the bare name as a decorator."""
    return flow.symbols.api(node.func if isinstance(node, ast.Call) else node) in _CONTEXTS


def is_decorated(function: ast.AST | None, flow: Flow) -> bool:
    """The whole function runs without gradients."""
    decorators = getattr(function, "decorator_list", ())
    return any(stops_gradient(decorator, flow) for decorator in decorators)


_ENABLE = (
    "torch.enable_grad",
    "torch.autograd.enable_grad",
    "torch.autograd.grad_mode.enable_grad",
)
_SET = (
    "torch.set_grad_enabled",
    "torch.autograd.set_grad_enabled",
    "torch.autograd.grad_mode.set_grad_enabled",
)
_DEEPEST = 8  # definitions that are followed
_MADE_OF = (ast.BinOp, ast.UnaryOp, ast.Tuple, ast.List, ast.Dict, ast.IfExp)
STATEMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr)


@dataclass(frozen=True, slots=True)
class Cut:
    """The values of a statement carry no gradient; with a test, only where it does not hold."""

    statement: ast.stmt
    unless: str = ""
    only_results: bool = False  # of a decorated function: locals end with it


def grad_mode(node: ast.expr, flow: Flow) -> str | None:
    """What a call says about recording: "" for off, "True" for on, a test, None for nothing."""
    if stops_gradient(node, flow):
        return ""
    api = flow.symbols.api(node.func if isinstance(node, ast.Call) else node)
    if api in _ENABLE:
        return "True"
    if api not in _SET or not isinstance(node, ast.Call) or not (node.args or node.keywords):
        return None
    flag = node.args[0] if node.args else node.keywords[0].value
    if isinstance(flag, ast.Constant):
        return "True" if flag.value else ""
    return ast.unparse(flag)


def chosen_mode(node: ast.expr, body: Sequence[ast.stmt], flow: Flow) -> str | None:
    """`ctx = torch.no_grad() if frozen else nullcontext()`: recorded unless `frozen`."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        said = grad_mode(node, flow)
        given = definition(node, body) if said is None else None
        return said if given is None else chosen_mode(given, body, flow)
    if not isinstance(node, ast.IfExp):
        return grad_mode(node, flow) if isinstance(node, ast.Call) else None
    first, second = (grad_mode(branch, flow) for branch in (node.body, node.orelse))
    if first == "" and second != "":
        return f"not ({ast.unparse(node.test)})"
    if second == "" and first != "":
        return f"({ast.unparse(node.test)})"
    return first if first == second else None


def definition(node: ast.expr, body: Sequence[ast.stmt]) -> ast.expr | None:
    """The one value of a name or attribute; of two that an `if` decides on, a conditional."""
    named = ast.unparse(node)
    given = {
        n: n.value
        for s in body
        for n in all_nodes(s)
        if isinstance(n, ast.Assign) and named in map(ast.unparse, n.targets)
    }
    if len(given) == 1:
        return next(iter(given.values()))
    if len(given) != 2:
        return None
    for branch in (n for s in body for n in all_nodes(s) if isinstance(n, ast.If)):
        chosen = [given[n] for n in branch.body if isinstance(n, ast.Assign) and n in given]
        others = [given[n] for n in branch.orelse if isinstance(n, ast.Assign) and n in given]
        if chosen and not branch.orelse:  # the other one stands in front
            others = [value for n, value in given.items() if n.lineno < branch.lineno]
        if len(chosen) == len(others) == 1:
            return ast.IfExp(branch.test, chosen[0], others[0])
    return None


def escaping(function: ast.AST, cuts: list[Cut], flow: Flow) -> list[Cut]:
    """Those whose values leave the function with a gradient: returned, written to an argument or
    stored on an object. An evaluation that returns numbers has none.
    """
    names = flow.function(function).names
    statements = [n for n in all_nodes(function) if isinstance(n, STATEMENTS)]
    results = [s for s in statements if isinstance(s, ast.Return) or _yields(s)]
    wanted = {name for statement in results for name in gradient_reads(statement)}
    grown = -1
    while grown != len(wanted):
        grown = len(wanted)
        for statement in statements:
            if names.changes(statement) & wanted:
                wanted |= gradient_reads(statement)
    arguments = {n.arg for n in all_nodes(function) if isinstance(n, ast.arg)}
    plain = _Plain(statements, flow, names)
    return [
        cut
        for cut in cuts
        if (
            cut.statement in results
            or names.changes(cut.statement) & wanted
            or names.mutates(cut.statement) & arguments
            or _is_held(cut.statement)
        )
        and not plain.holds(_handed_on(cut.statement))
    ]


def _yields(statement: ast.stmt) -> bool:
    return isinstance(_value(statement), ast.Yield)


def _value(statement: ast.stmt) -> ast.expr | None:
    value = getattr(statement, "value", None)
    return value if isinstance(value, ast.expr) else None


def _is_held(statement: ast.stmt) -> bool:
    """`self.features = net(x)`"""
    targets = getattr(statement, "targets", [getattr(statement, "target", None)])
    return any(isinstance(one, ast.Attribute) for one in targets)


def _handed_on(statement: ast.stmt) -> ast.expr | None:
    value = _value(statement)
    stored = isinstance(statement, ast.Expr) and isinstance(value, ast.Call) and value.args
    return value.args[-1] if isinstance(value, ast.Call) and stored else value


class _Plain:
    """Numbers of Python, by what computes them: `(time.time() - start) * 1000`, lists of such."""

    def __init__(self, statements: Sequence[ast.stmt], flow: Flow, names: NameEffects) -> None:
        self._flow = flow
        self._changed: dict[str, list[ast.stmt]] = {}
        for statement in statements:
            for name in () if adds_nothing(statement) else names.mutates(statement):
                self._changed.setdefault(name, []).append(statement)

    def holds(self, node: ast.expr | None, depth: int = 0) -> bool:
        if node is None or isinstance(node, (ast.Constant, ast.JoinedStr)):
            return True
        if depth > _DEEPEST:
            return False
        if isinstance(node, ast.Name):
            return self._name(node, depth)
        if isinstance(node, ast.Call):
            if not gradient_reads(node):
                return True
            made = self._flow.symbols.type(node.func)
            if not isinstance(made, External) or not gives_plain(made.name):
                return False
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            return all(self.holds(argument, depth + 1) for argument in given)
        if isinstance(node, ast.Subscript):
            return self.holds(node.value, depth + 1)
        parts = [child for child in child_nodes(node) if isinstance(child, ast.expr)]
        return isinstance(node, _MADE_OF) and all(self.holds(part, depth + 1) for part in parts)

    def _name(self, node: ast.Name, depth: int) -> bool:
        around = self._flow.around(node)
        values = [d.value for d in around.defuse.reaching(node)] if around is not None else []
        values += [_handed_on(statement) for statement in self._changed.get(node.id, ())]
        return bool(values) and all(v is not None and self.holds(v, depth + 1) for v in values)

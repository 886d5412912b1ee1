"""What torch computes without gradients: `with torch.no_grad()`, `@torch.no_grad()`."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrate.flow.gradient_reads import gradient_reads
from migrate.resolve.values import External, ProjectFunction, options_of
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


def without_gradient(statement: ast.stmt, flow: Flow) -> bool:
    """A no_grad block, or the result of a function that is decorated with it."""
    if isinstance(statement, ast.With):
        enabled = any(
            isinstance(node, (ast.Attribute, ast.Name))
            and (node.attr if isinstance(node, ast.Attribute) else node.id) == "enable_grad"
            for node in all_nodes(statement)
        )
        return not enabled and any(
            stops_gradient(item.context_expr, flow) for item in statement.items
        )
    value = getattr(statement, "value", None)
    if not isinstance(value, ast.Call):
        return False
    return any(
        isinstance(option, ProjectFunction) and _looks_decorated(option.node)
        for option in options_of(flow.symbols.type(value.func))
    )


def _looks_decorated(function: ast.AST) -> bool:
    """The function may be another file's, whose usages are not at hand: its text must do."""
    return any(
        ast.unparse(decorator).partition("(")[0].endswith(("no_grad", "inference_mode"))
        for decorator in getattr(function, "decorator_list", ())
    )


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
_STORING = ("append", "extend", "insert", "add", "update", "setdefault", "put", "appendleft")
_DEEPEST = 8  # definitions that are followed
_MADE_OF = (ast.BinOp, ast.UnaryOp, ast.Tuple, ast.List, ast.Dict, ast.IfExp)
_STATEMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr)


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


def find_cuts(body: list[ast.stmt], flow: Flow, function: ast.AST | None) -> list[Cut]:
    """All statements of a function's own body that run where nothing is recorded."""
    found: list[Cut] = []
    decorators = getattr(function, "decorator_list", ())
    modes = [mode for one in decorators if (mode := grad_mode(one, flow)) is not None]
    _walk(body, modes[-1] if modes else "True", bool(modes), body, flow, found)
    return found


def _walk(
    block: list[ast.stmt],
    mode: str,
    decorated: bool,
    body: list[ast.stmt],
    flow: Flow,
    found: list[Cut],
) -> str:
    """Follow a block; the mode behind it, which a bare set_grad_enabled() may have changed."""
    for statement in block:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        bare = statement.value if isinstance(statement, ast.Expr) else None
        set_to = grad_mode(bare, flow) if isinstance(bare, ast.Call) else None
        if set_to is not None:
            mode, decorated = set_to, False
        elif isinstance(statement, ast.With):
            inner = _mode_inside(statement, mode, body, flow)
            _walk(statement.body, inner, decorated and inner == mode, body, flow, found)
        elif mode != "True" and isinstance(statement, _STATEMENTS) and _stores(statement):
            found.append(Cut(statement, mode, decorated))
        else:
            for inner_block in _blocks(statement):
                mode = _walk(inner_block, mode, decorated, body, flow, found)
    return mode


def _mode_inside(statement: ast.With, mode: str, body: list[ast.stmt], flow: Flow) -> str:
    if any(isinstance(n, ast.Attribute) and n.attr == "backward" for n in all_nodes(statement)):
        return mode  # a training step runs where gradients are recorded
    for item in statement.items:
        said = grad_mode(item.context_expr, flow)
        if said is None and isinstance(item.context_expr, (ast.Name, ast.IfExp)):
            said = chosen_mode(item.context_expr, body, flow)
        if said is not None:
            mode = said
    return mode


def chosen_mode(node: ast.expr, body: list[ast.stmt], flow: Flow) -> str | None:
    """`ctx = torch.no_grad() if frozen else nullcontext()`: recorded unless `frozen`."""
    if isinstance(node, ast.Name):
        given = [
            n.value
            for s in body
            for n in all_nodes(s)
            if isinstance(n, ast.Assign)
            and any(isinstance(t, ast.Name) and t.id == node.id for t in n.targets)
        ]
        return chosen_mode(given[0], body, flow) if len(given) == 1 else None
    if not isinstance(node, ast.IfExp):
        return grad_mode(node, flow) if isinstance(node, ast.Call) else None
    first, second = (grad_mode(branch, flow) for branch in (node.body, node.orelse))
    if first == "" and second != "":
        return f"not ({ast.unparse(node.test)})"
    if second == "" and first != "":
        return f"({ast.unparse(node.test)})"
    return first if first == second else None


def escaping(function: ast.AST, cuts: list[Cut], flow: Flow) -> list[Cut]:
    """Those whose values leave the function with a gradient: returned, written to an argument or
    stored on an object. An evaluation that returns numbers has none.
    """
    names = flow.function(function).names
    statements = [n for n in all_nodes(function) if isinstance(n, _STATEMENTS)]
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
            for name in names.mutates(statement):
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
            library = made.name.split(".")[0] if isinstance(made, External) else ""
            if library not in sys.stdlib_module_names:
                return False
            return all(self.holds(argument, depth + 1) for argument in node.args)
        if isinstance(node, ast.Subscript):
            return self.holds(node.value, depth + 1)
        parts = [child for child in child_nodes(node) if isinstance(child, ast.expr)]
        return isinstance(node, _MADE_OF) and all(self.holds(part, depth + 1) for part in parts)

    def _name(self, node: ast.Name, depth: int) -> bool:
        around = self._flow.around(node)
        values = [d.value for d in around.defuse.reaching(node)] if around is not None else []
        values += [_handed_on(statement) for statement in self._changed.get(node.id, ())]
        return bool(values) and all(v is not None and self.holds(v, depth + 1) for v in values)


def _stores(statement: ast.stmt) -> bool:
    """It hands values on: binds, returns or puts them into a container."""
    if not isinstance(statement, ast.Expr):
        return getattr(statement, "value", None) is not None
    value = statement.value
    if isinstance(value, ast.Yield):
        return value.value is not None
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr in _STORING
    )


def _blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    found = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
    found += [handler.body for handler in getattr(statement, "handlers", ())]
    found += [case.body for case in getattr(statement, "cases", ())]
    return [block for block in found if block]

"""Where a model comes from: the statements that build it, and the calls that pass it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from migrate.flow.blocks import Home, own_nodes, statements_below
from migrate.flow.models import parameters_of
from migrate.resolve.values import ProjectFunction, options_of
from migrate.syntax.ast_index import all_nodes, nodes_of

if TYPE_CHECKING:
    from migrate.flow import Flow

_SAME_MODEL = ("to", "cuda", "cpu", "float", "half", "double", "apply", "requires_grad_")


class Caller(NamedTuple):
    """A call of a function, and where it stands."""

    home: Home
    statement: ast.stmt
    call: ast.Call


def callers_of(function: Home, tree: ast.Module) -> list[Caller]:
    """The calls in this file of something with the function's name."""
    if not isinstance(function, ast.FunctionDef):
        return []
    name = function.name
    if name == "__init__":
        owners = [n for n in nodes_of(tree, ast.ClassDef) if function in n.body]
        name = owners[0].name if owners else name
    homes: list[Home] = [tree, *nodes_of(tree, ast.FunctionDef)]
    return [
        Caller(home, statement, node)
        for home in homes
        for _, statement in statements_below(home.body)
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        for node in own_nodes(statement)
        if isinstance(node, ast.Call)
        and getattr(node.func, "attr", getattr(node.func, "id", "")) == name
    ]


def builds_here(home: Home, model: str, tree: ast.Module) -> list[ast.stmt]:
    """The statements that give the model its value: here, in the module, or in the class."""
    if not model.startswith("self."):
        if isinstance(home, ast.FunctionDef) and model in parameters_of(home):
            return []
        for scope in (home, tree):
            found = _assignments([s for _, s in statements_below(scope.body)], model)
            if found:
                return found
        return []
    for owner in nodes_of(tree, ast.ClassDef):
        if any(node is home for node in owner.body):
            inner = [n for n in owner.body if isinstance(n, ast.FunctionDef)]
            return _assignments([s for f in inner for _, s in statements_below(f.body)], model)
    return []


def _assignments(statements: list[ast.stmt], model: str) -> list[ast.stmt]:
    """All that bind the model, those left out that only go on with it: `model = model.cuda()`."""
    found = []
    for statement in statements:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if isinstance(statement, ast.AnnAssign) and statement.value is not None:
            targets = [statement.target]
        parts = [
            part
            for target in targets
            for part in (target.elts if isinstance(target, ast.Tuple) else [target])
        ]
        if not any(ast.unparse(part) == model for part in parts):
            continue
        value = value_of(statement, model)
        nothing = isinstance(value, ast.Constant) and value.value is None
        read = {ast.unparse(n) for n in all_nodes(value or ast.Pass()) if isinstance(n, ast.expr)}
        if not nothing and model not in read:
            found.append(statement)
    return found


def value_of(statement: ast.stmt, model: str) -> ast.expr | None:
    """What an assignment gives the model, also out of `a.x, a.y = x, y`."""
    value: ast.expr | None = getattr(statement, "value", None)
    for target in getattr(statement, "targets", ()):
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for part, item in zip(target.elts, value.elts, strict=False):
                if ast.unparse(part) == model:
                    return item
    while isinstance(value, ast.Call):
        if isinstance(value.func, ast.Attribute) and value.func.attr in _SAME_MODEL:
            value = value.func.value
        elif ast.unparse(value.func).endswith("deepcopy") and value.args:
            value = value.args[0]
        else:
            break
    return value


def is_construction(value: ast.expr | None) -> bool:
    """`Net()`, `Net() if deep else Other()`."""
    if isinstance(value, ast.IfExp):
        return is_construction(value.body) and is_construction(value.orelse)
    return isinstance(value, ast.Call)


def function_around(statement: ast.stmt, tree: ast.Module) -> ast.FunctionDef | None:
    functions: list[ast.FunctionDef] = nodes_of(tree, ast.FunctionDef)
    around = (f for f in functions if any(s is statement for _, s in statements_below(f.body)))
    return next(around, None)


def sets_mode(code: ast.AST, flow: Flow) -> bool:
    """`net = Net().eval()`, or `net = load_teacher()` where that function sets the mode."""
    for node in all_nodes(code):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("train", "eval"):
            return True
        for option in options_of(flow.symbols.type(node.func)):
            if isinstance(option, ProjectFunction) and any(
                isinstance(inner, ast.Attribute) and inner.attr in ("train", "eval")
                for inner in all_nodes(option.node)
            ):
                return True
    return False


def argument_of(call: ast.Call, function: Home, model: str) -> ast.expr | None:
    names = parameters_of(function)
    if names and names[0] in ("self", "cls"):
        names = names[1:]
    if model in names and names.index(model) < len(call.args):
        return call.args[names.index(model)]
    return next((keyword.value for keyword in call.keywords if keyword.arg == model), None)

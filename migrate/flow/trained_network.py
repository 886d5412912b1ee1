"""Is the network whose output the loss is made of the one whose parameters the optimizer holds?

Followed by names: `optimizer = SGD(model.parameters())`, then `train(model, ...)`, where
`loss = criterion(model(x), y)` stands before `loss.backward()`. No if it is written otherwise.
"""

from __future__ import annotations

import ast
from typing import TypeGuard

from migrate.flow.whole_use import loss_reaches
from migrate.syntax.access import method_of, name_of
from migrate.syntax.ast_index import all_nodes, nodes_of

_OPTIMIZERS = frozenset(
    "SGD Adam AdamW RMSprop Adagrad Adadelta Adamax NAdam RAdam Rprop ASGD".split()  # noqa: SIM905
)
_LISTS = ("parameters", "named_parameters", "modules", "named_modules")


def trains_one_network(trees: list[ast.Module]) -> bool:
    """The optimizer is made of the parameters of the network whose output the loss is made of."""
    functions = [f for tree in trees for f in nodes_of(tree, ast.FunctionDef)]
    step, made = _only_step(functions), _only_optimizers(functions, trees)
    if step is None or made is None:
        return False
    scope, calls = made
    names = {_network_of(call, scope, functions) for call in calls}
    network = names.pop() if len(names) == 1 else ""
    if not network or not _is_built_here(network, scope, trees):
        return False
    given = network if step is scope else _passed_as(network, step, scope, trees)
    return bool(given) and loss_reaches(step, given)


def _only_step(functions: list[ast.FunctionDef]) -> ast.FunctionDef | None:
    """The innermost function around the one `loss.backward()` of the program."""
    passes = [(f, n) for f in functions for n in _calls(f, "backward")]
    alone = len({call for _, call in passes}) == 1
    return passes[-1][0] if alone and not any(n.args or n.keywords for _, n in passes) else None


def _only_optimizers(
    functions: list[ast.FunctionDef], trees: list[ast.Module]
) -> tuple[ast.FunctionDef, list[ast.Call]] | None:
    """The one function that makes optimizers, and where it does."""
    made = [(f, n) for f in functions for n in all_nodes(f) if _makes_optimizer(n)]
    scopes = {function for function, _ in made}
    if len(scopes) != 1 or any(_makes_optimizer(n) for t in trees for n in _at_top(t)):
        return None
    return scopes.pop(), [call for _, call in made]


def _calls(function: ast.FunctionDef, name: str) -> list[ast.Call]:
    return [node for node in all_nodes(function) if method_of(node) == name]


def _at_top(tree: ast.Module) -> list[ast.AST]:
    inside = {n for f in nodes_of(tree, ast.FunctionDef) for n in all_nodes(f)}
    return [node for node in all_nodes(tree) if node not in inside]


def _makes_optimizer(node: ast.AST) -> TypeGuard[ast.Call]:
    called = node.func if isinstance(node, ast.Call) else None
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name in _OPTIMIZERS


def _network_of(call: ast.Call, scope: ast.FunctionDef, functions: list[ast.FunctionDef]) -> str:
    """The one network whose parameters an optimizer is made with; empty if that is not written."""
    named = [one.value for one in call.keywords if one.arg == "params"]
    given = next(iter([*call.args, *named]), None)
    if isinstance(given, ast.Name):
        given = _assigned_once(given.id, scope)
    found = _networks_in(given, functions) if given is not None else set()
    name = found.pop() if len(found) == 1 else ""
    return name if name.removeprefix("self.").isidentifier() else ""


def _assigned_once(name: str, scope: ast.FunctionDef) -> ast.expr | None:
    values = [
        node.value
        for node in all_nodes(scope)
        if isinstance(node, ast.Assign) and any(name_of(t) == name for t in node.targets)
    ]
    return values[0] if len(values) == 1 else None


def _networks_in(given: ast.expr, functions: list[ast.FunctionDef]) -> set[str]:
    """`model` of `model.parameters()`, or of `groups(model)`, a function that lists them."""
    found: set[str] = set()
    for node in all_nodes(given):
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr in _LISTS:
            found.add(ast.unparse(called.value))
        elif isinstance(called, ast.Name):
            own = [one for one in functions if one.name == called.id]
            found |= {name for one in own for name in _networks_given(node, one)}
    return found


def _networks_given(call: ast.Call, function: ast.FunctionDef) -> list[str]:
    """Arguments whose parameters a function lists: `model` of `parameter_groups(model, 0.1)`."""
    asked = {
        ast.unparse(node.func.value) for node in all_nodes(function) if method_of(node) in _LISTS
    }
    places = [argument.arg for argument in function.args.args]
    given = zip(places, call.args, strict=False)
    return [ast.unparse(argument) for place, argument in given if place in asked]


def _is_built_here(network: str, scope: ast.FunctionDef, trees: list[ast.Module]) -> bool:
    """Every binding of it builds a network of the program's, or wraps the one that it was."""
    defined = {
        node.name for tree in trees for node in nodes_of(tree, ast.FunctionDef, ast.ClassDef)
    }
    tables = {
        target.id
        for tree in trees
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict)
        if all(_is_own(value, defined) for value in node.value.values)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    values = [
        node.value
        for node in all_nodes(scope)
        if isinstance(node, ast.Assign) and any(ast.unparse(t) == network for t in node.targets)
    ]
    return bool(values) and all(_builds(value, network, defined, tables) for value in values)


def _builds(value: ast.expr, network: str, defined: set[str], tables: set[str]) -> bool:
    while isinstance(value, ast.Call):
        if any(ast.unparse(one) == network for one in value.args):
            return True  # DistributedDataParallel(model)
        called = value.func
        if isinstance(called, ast.Attribute) and called.attr in ("to", "cuda", "cpu", "float"):
            value = called.value
            continue
        if isinstance(called, ast.Subscript):
            return name_of(called.value) in tables
        return _is_own(called, defined) or ast.unparse(called).endswith("nn.Sequential")
    return ast.unparse(value) == network


def _is_own(value: ast.expr, defined: set[str]) -> bool:
    """`resnet18`, `resnet.resnet18`: no library is known here that builds networks."""
    if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
        return value.value.id not in ("torch", "nn") and value.attr in defined
    return name_of(value) in defined


def _passed_as(
    network: str, step: ast.FunctionDef, scope: ast.FunctionDef, trees: list[ast.Module]
) -> str:
    """What the function with the step calls the network: the parameter that every call gives it
    to, or the same attribute of the same object.
    """
    if "." in network:
        return network if _in_one_class(step, scope, trees) else ""
    places = [argument.arg for argument in step.args.args]
    calls = [
        node
        for tree in trees
        for node in nodes_of(tree, ast.Call)
        if name_of(node.func) == step.name
    ]
    inside = set(all_nodes(scope))
    found: set[str] = set()
    for call in calls:
        named = {keyword.arg or "": keyword.value for keyword in call.keywords}
        given = {**dict(zip(places, call.args, strict=False)), **named}
        names = [place for place, one in given.items() if ast.unparse(one) == network]
        if call not in inside or len(names) != 1:
            return ""
        found |= set(names)
    return found.pop() if len(found) == 1 else ""


def _in_one_class(step: ast.FunctionDef, scope: ast.FunctionDef, trees: list[ast.Module]) -> bool:
    return any(
        step in cls.body and scope in cls.body
        for tree in trees
        for cls in nodes_of(tree, ast.ClassDef)
    )

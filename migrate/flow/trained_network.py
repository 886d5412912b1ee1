"""Is the network whose output the loss is made of the one whose parameters the optimizer holds?

Followed by names: `optimizer = SGD(model.parameters())`, then `train(model, ...)`, where
`loss = criterion(model(x), y)` stands before `loss.backward()`. No if it is written otherwise.
"""

from __future__ import annotations

import ast
from typing import Any

from migrate.flow.whole_use import loss_reaches
from migrate.syntax.access import is_store
from migrate.syntax.ast_index import all_nodes, nodes_of

_OPTIMIZERS = frozenset(
    "SGD Adam AdamW RMSprop Adagrad Adadelta Adamax NAdam RAdam Rprop ASGD".split()  # noqa: SIM905
)
_Scope = ast.FunctionDef | ast.Module
_LISTS = ("parameters", "named_parameters", "modules", "named_modules")


def trains_one_network(trees: list[ast.Module], own: set[str]) -> bool:
    """The optimizer is made of the parameters of the network whose output the loss is made of.
    The program's `own` modules may be asked for networks by name.
    """
    functions = [f for tree in trees for f in nodes_of(tree, ast.FunctionDef)]
    places: list[_Scope] = [*trees, *functions]
    step = _step_of(places)
    if step is None:
        return False
    made = [(f, n) for f in places for n in _of_scope(f) if _makes_optimizer(n)]
    scopes = {function for function, _ in made}
    if len(scopes) != 1:
        return False
    (scope,) = scopes
    names = {_network_of(call, scope, functions) for _, call in made}
    if len(names) != 1 or not (network := names.pop()):
        return False
    if not _is_built_here(network, scope, trees, own):
        return False
    if step is scope:
        return loss_reaches(step, network)
    if isinstance(scope, ast.Module) or isinstance(step, ast.Module):
        return _reads_global(step, network, scope) and loss_reaches(step, network)
    given = _passed_as(network, step, scope, trees)
    return bool(given) and loss_reaches(step, given)


def _step_of(places: list[_Scope]) -> _Scope | None:
    """The one function with backward passes, of which one runs in each round."""
    passes = [(f, n) for f in places for n in _of_scope(f) if _runs_backward(n)]
    steps = set({call: function for function, call in passes}.values())  # the innermost
    if len(steps) != 1 or any(n.args or n.keywords for _, n in passes):
        return None
    (step,) = steps
    return step if _passes_in_turn(step.body) == 1 else None


def _passes_in_turn(body: list[ast.stmt]) -> int:
    """The most backward passes that run one after the other; of two branches only one runs."""
    count = 0
    for statement in body:
        if isinstance(statement, ast.If):
            count += max(_passes_in_turn(statement.body), _passes_in_turn(statement.orelse))
        elif isinstance(statement, ast.For | ast.While | ast.With):
            count += _passes_in_turn(statement.body)
            count += _passes_in_turn(getattr(statement, "orelse", []))
        else:
            count += sum(map(_runs_backward, all_nodes(statement)))
    return count


def _runs_backward(node: ast.AST) -> bool:
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr == "backward"


def _of_scope(scope: _Scope) -> list[Any]:
    return _at_top(scope) if isinstance(scope, ast.Module) else all_nodes(scope)


def _reads_global(step: _Scope, network: str, scope: _Scope) -> bool:
    """Whether a function of a script means the network that the script has built under this name,
    which no function binds again.
    """
    if not isinstance(scope, ast.Module) or step not in nodes_of(scope, ast.FunctionDef):
        return False
    inside = [node for f in nodes_of(scope, ast.FunctionDef) for node in all_nodes(f)]
    bound = {getattr(node, "id", "") for node in all_nodes(step) if is_store(node)}
    bound |= {node.arg for node in all_nodes(step) if isinstance(node, ast.arg)}
    shared = {name for node in inside if isinstance(node, ast.Global) for name in node.names}
    return network.isidentifier() and network not in bound | shared


def _at_top(tree: ast.Module) -> list[ast.AST]:
    inside = {n for f in nodes_of(tree, ast.FunctionDef) for n in all_nodes(f)}
    return [node for node in all_nodes(tree) if node not in inside]


def _makes_optimizer(node: ast.AST) -> bool:
    called = node.func if isinstance(node, ast.Call) else None
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name in _OPTIMIZERS


def _network_of(call: ast.Call, scope: _Scope, functions: list[ast.FunctionDef]) -> str:
    """The one network whose parameters an optimizer is made with; empty if that is not written."""
    named = [one.value for one in call.keywords if one.arg == "params"]
    given = call.args[0] if call.args else (named[0] if named else None)
    if isinstance(given, ast.Name):
        values = [
            node.value
            for node in _of_scope(scope)
            if isinstance(node, ast.Assign)
            and any(isinstance(t, ast.Name) and t.id == given.id for t in node.targets)
        ]
        given = values[0] if len(values) == 1 else None
    if given is None:
        return ""
    found: set[str] = set()
    for node in all_nodes(given):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr in _LISTS:
                found.add(ast.unparse(node.func.value))
            elif isinstance(node.func, ast.Name):
                called = [one for one in functions if one.name == node.func.id]
                found |= {name for one in called for name in _networks_given(node, one)}
    name = found.pop() if len(found) == 1 else ""
    return name if name.isidentifier() or name.removeprefix("self.").isidentifier() else ""


def _networks_given(call: ast.Call, function: ast.FunctionDef) -> list[str]:
    """Arguments whose parameters a function lists: `model` of `parameter_groups(model, 0.1)`."""
    asked = {
        ast.unparse(node.func.value)
        for node in all_nodes(function)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _LISTS
    }
    places = [argument.arg for argument in function.args.args]
    given = zip(places, call.args, strict=False)
    return [ast.unparse(argument) for place, argument in given if place in asked]


def _is_built_here(network: str, scope: _Scope, trees: list[ast.Module], own: set[str]) -> bool:
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
        for node in _of_scope(scope)
        if isinstance(node, ast.Assign) and any(ast.unparse(t) == network for t in node.targets)
    ]
    asked = tables | {f"{name}.__dict__" for name in own}
    bound = [n for n in _of_scope(scope) if is_store(n) and getattr(n, "id", "") == network]
    if len(bound) > len(values):  # by a loop, a with, two at once
        return False
    return bool(values) and all(_builds(value, network, defined, asked) for value in values)


def _builds(value: ast.expr, network: str, defined: set[str], tables: set[str]) -> bool:
    while isinstance(value, ast.Call):
        if any(ast.unparse(one) == network for one in value.args):
            return True  # DistributedDataParallel(model)
        called = value.func
        if isinstance(called, ast.Attribute) and called.attr in ("to", "cuda", "cpu", "float"):
            value = called.value
            continue
        if isinstance(called, ast.Subscript):
            return ast.unparse(called.value) in tables
        if isinstance(called, ast.Call):  # getattr(models, name)()
            asked = [ast.unparse(one) for one in (called.func, *called.args[:1])]
            return asked[0] == "getattr" and f"{asked[-1]}.__dict__" in tables
        return _is_own(called, defined) or ast.unparse(called).endswith("nn.Sequential")
    return ast.unparse(value) == network


def _is_own(value: ast.expr, defined: set[str]) -> bool:
    """`resnet18`, `resnet.resnet18`: no library is known here that builds networks."""
    if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
        return value.value.id not in ("torch", "nn") and value.attr in defined
    return isinstance(value, ast.Name) and value.id in defined


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
        if isinstance(node.func, ast.Name) and node.func.id == step.name
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

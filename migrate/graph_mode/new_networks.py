"""Networks that a function has just built: what is changed in them is part of building them.

`net = resnet18()`, `net.fc = nn.Linear(512, 10)` is how programs put another head on a network. No
graph of it exists before it is called.
"""

from __future__ import annotations

import ast

from migrate.pipeline.context import Context
from migrate.resolve.members import is_module_value
from migrate.resolve.values import External, ProjectClass, ProjectFunction
from migrate.syntax.access import attribute_of, is_store, name_of
from migrate.syntax.ast_index import all_nodes, parents_of

# Methods of a network that neither run nor keep it, and numbers of layers.
_NOT_RUN = (
    *("load_state_dict", "state_dict", "train", "eval", "cuda", "cpu", "to", "float", "double"),
    *("half", "parameters", "named_parameters", "requires_grad_", "modules", "named_modules"),
    "children",
)
_SIZES = ("in_features", "out_features", "in_channels", "out_channels", "num_features")


def is_just_built(node: ast.Attribute, context: Context) -> bool:
    """`net = resnet18()`, `net.fc = nn.Linear(8, 2)`: of a network that the function has just
    built, and neither called nor given away so far. No graph of it is there yet.
    """
    root = node.value
    while isinstance(root, ast.Attribute):
        root = root.value
    function = _function_around(node, context)
    if not isinstance(root, ast.Name) or function is None:
        return False
    parents = parents_of(context.tree)
    mentions = [one for one in all_nodes(function) if name_of(one) == root.id]
    built = [one for one in mentions if is_store(one)]
    if root.id in _bound_elsewhere(function):
        return False
    if not built or not all(_is_constructed(one, context) for one in built):
        return False
    if any(_is_repeated(one, function, parents) for one in (node, *built)):
        return False
    earlier = [one for one in mentions if _place(one) < _place(node) and not is_store(one)]
    return all(_only_looks(one, parents) for one in earlier)


def _bound_elsewhere(function: ast.FunctionDef) -> set[str]:
    """Its parameters, and names of other scopes."""
    found: set[str] = set()
    for node in all_nodes(function):
        if isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            found |= set(node.names)
    return found


def _function_around(node: ast.AST, context: Context) -> ast.FunctionDef | None:
    """The function whose own statement it stands in; not what an inner function runs later."""
    parents = parents_of(context.tree)
    while node in parents:
        node = parents[node]
        if isinstance(node, (ast.Lambda, ast.AsyncFunctionDef, ast.ClassDef)):
            return None
        if isinstance(node, ast.FunctionDef):
            return node
    return None


def _is_constructed(name: ast.Name, context: Context) -> bool:
    """`net = Net()`, of which no one else has a reference: a class is called."""
    assign = parents_of(context.tree).get(name)
    if not isinstance(assign, ast.Assign) or len(assign.targets) != 1:
        return False
    value = assign.value
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        inner = value.func.value  # `net = net.cuda()` is what it was
        if name_of(inner) == name.id:
            return True
    return _gives_new_network(value, context)


def _gives_new_network(value: ast.expr | None, context: Context, depth: int = 3) -> bool:
    """A call of a class, of a builder of torchvision's, or of a function of the file that returns
    nothing but such calls: nobody else can have the network.
    """
    if not isinstance(value, ast.Call) or not is_module_value(context.type(value)) or not depth:
        return False
    called = context.type(value.func)
    if isinstance(called, (External, ProjectClass)):
        return True
    if not isinstance(called, ProjectFunction) or called.node not in all_nodes(context.tree):
        return False
    function = called.node
    if not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return False
    returned = [one.value for one in all_nodes(function) if isinstance(one, ast.Return)]
    return bool(returned) and all(_gives_new_network(one, context, depth - 1) for one in returned)


def _is_repeated(node: ast.AST, function: ast.FunctionDef, parents: dict[ast.AST, ast.AST]) -> bool:
    while node is not function:
        node = parents[node]
        if isinstance(node, (ast.For, ast.While)):
            return True
    return False


def _place(node: ast.Name | ast.Attribute) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _only_looks(name: ast.Name, parents: dict[ast.AST, ast.AST]) -> bool:
    """`net.fc.in_features`, `net.load_state_dict(...)`: no layer is called, or given to others."""
    node: ast.AST = name
    while isinstance(parents.get(node), ast.Attribute):
        node = parents[node]
    if node is name:
        return False
    user = parents.get(node)
    if isinstance(user, ast.Call) and user.func is node:
        assert isinstance(node, ast.Attribute)
        return node.value is name and node.attr in _NOT_RUN
    assigned = isinstance(user, (ast.Assign, ast.AugAssign)) and is_store(node)
    return assigned or attribute_of(node) in _SIZES

"""Programs that change settings of networks or optimizers between calls: `net.tau = 0.5`,
`group["momentum"] = 0.8`, `net.head = nn.Linear(8, 2)`. A graph takes settings for constants, so
such programs get the helper that builds it again (`watched_settings`).
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from functools import cache

from migrate.flow.compiled import index_of
from migrate.flow.names import binds
from migrate.graph_mode.new_networks import is_just_built
from migrate.pipeline.context import Context
from migrate.resolve.members import class_is_module, is_module_value
from migrate.resolve.values import (
    UNKNOWN,
    Instance,
    ProjectClass,
    ProjectModule,
    is_tensor,
    options_of,
)
from migrate.syntax.access import attribute_of, is_store, name_of
from migrate.syntax.ast_index import all_nodes, nodes_of, parents_of
from migrate.syntax.helper_import import helper_alias
from migrate.table import Table

HELPER = "watched_settings"
# Of an optimizer's group; the learning rate is a Parameter, and no constant.
_GROUP_SETTINGS = frozenset(
    "momentum weight_decay betas eps dampening nesterov amsgrad maximize alpha rho".split()  # noqa: SIM905
)
_STATE_OF_TENSORS = frozenset({"data", "grad", "requires_grad"})
_MODES = ("train", "eval")
_HOOKS = ("register_forward_hook", "register_forward_pre_hook")


def changes_settings(context: Context) -> bool:
    """Whether the file changes what a graph may take for a constant, outside constructors."""
    constructors = _built_here(context)
    return any(
        node not in constructors and _is_setting(node, context)
        for node in nodes_of(context.tree, ast.Attribute, ast.Subscript, ast.Global, ast.Call)
    )


def with_helper_import(
    code: str,
    helper_import: str,
    helpers: Collection[str],
    reason: str = "settings that change count in Graph mode, too",
) -> str:
    """The code with the import of the helper module, which it may not need for anything else."""
    tree = ast.parse(code)
    if helpers or helper_alias(tree):
        return code
    after = 0
    if ast.get_docstring(tree, clean=False) is not None:
        after = tree.body[0].end_lineno or 0
    for statement in tree.body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            after = statement.end_lineno or 0
    lines = code.split("\n")
    while not after and lines[0].startswith("#"):  # an interpreter, an encoding
        after = next((n for n, line in enumerate(lines) if not line.startswith("#")), len(lines))
    note = f"  # noqa: F401 ({reason})"
    return "\n".join([*lines[:after], f"{helper_import}{note}", *lines[after:]])


def _built_here(context: Context) -> Collection[ast.AST]:
    """Nodes of the constructors of Modules: what they assign is there before any call. Of other
    classes, what they assign to the new object itself.
    """
    found: set[ast.AST] = set()
    for cls in nodes_of(context.tree, ast.ClassDef):
        for method in cls.body:
            if isinstance(method, ast.FunctionDef) and method.name == "__init__":
                found.update(node for node in all_nodes(method) if _is_of_self(node))
    for cls in context.module_classes.values():
        for method in cls.node.body:
            if isinstance(method, ast.FunctionDef) and method.name in ("__init__", "forward"):
                found.update(all_nodes(method))
    return found


def _is_of_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and name_of(node.value) == "self"


def _is_setting(node: ast.AST, context: Context) -> bool:
    if isinstance(node, ast.Global):
        return any(_is_read(name, context) for name in node.names)
    if isinstance(node, ast.Call):
        return _is_setting_call(node, context)
    if isinstance(node, ast.Subscript) and is_store(node):
        return _is_setting_item(node, context)
    if isinstance(node, ast.Attribute) and is_store(node):
        if node.attr in _STATE_OF_TENSORS or not _may_be_network(node.value, context):
            return False
        if is_just_built(node, context):
            return False
        own = node.attr == "forward" or _is_of_layers(node, context)
        return own or _is_read(node.attr, context)
    return False


def _is_setting_call(node: ast.Call, context: Context) -> bool:
    """`net.eval()`, `layer.register_forward_hook(f)`, `setattr(net, name, value)`"""
    called = node.func
    if isinstance(called, ast.Attribute):
        return called.attr in _HOOKS or (
            called.attr in _MODES and _is_part_of_network(called.value, context)
        )
    named = name_of(called) == "setattr" and bool(node.args)
    return named and _may_be_network(node.args[0], context)


def _is_setting_item(node: ast.Subscript, context: Context) -> bool:
    """`group["lr"] = 0.1`, `net.blocks[0] = layer`, `CONFIG["size"] = 3`"""
    key = node.slice.value if isinstance(node.slice, ast.Constant) else None
    if key in _GROUP_SETTINGS:
        return True
    place = node.value
    if isinstance(place, ast.Attribute):
        return is_module_value(context.type(place.value))
    return is_module_value(context.type(place)) or _is_configuration(place, context)


def _is_read(name: str, context: Context) -> bool:
    """Whether compiled code of the program mentions it: a graph has nothing else of the program's
    for a constant.
    """
    words = index_of(context.modules).words_read()
    return words is None or name in words


def _is_of_layers(node: ast.Attribute, context: Context) -> bool:
    """A setting that torch's own layers may read: of one of them, or of a value that is not known
    and under a name that some layer has, or that is given a layer.
    """
    options = options_of(context.type(node.value))
    if any(isinstance(one, Instance) and not isinstance(one.cls, ProjectClass) for one in options):
        return is_module_value(context.type(node.value))
    if options and all(isinstance(one, (Instance, ProjectModule)) for one in options):
        return False
    assigned = parents_of(context.tree).get(node)
    value = getattr(assigned, "value", None)
    given = value is None or is_module_value(context.type(value))
    return given or node.attr in _layer_settings(context.table)


@cache
def _layer_settings(table: Table) -> frozenset[str]:
    """What layers of torch are made with, and may be given anew."""
    found = {"training"}
    for entry in table.children("torch.nn").values():
        for overload in entry.overloads:
            if overload.signature is not None:
                found |= {parameter.name for parameter in overload.signature.parameters}
    return frozenset(found)


def _is_part_of_network(receiver: ast.expr, context: Context) -> bool:
    """`net.bn.eval()`, `m.eval()` of one of `net.modules()` or in what `net.apply` runs: the mode
    of the whole, by which MindSpore knows its graphs, stays as it is.
    """
    if isinstance(receiver, (ast.Attribute, ast.Subscript)):
        return is_module_value(context.type(receiver.value))
    if not isinstance(receiver, ast.Name):
        return False
    loops = nodes_of(context.tree, ast.For, ast.comprehension)
    if any(receiver.id in binds(loop.target) for loop in loops):
        return True
    applied = {
        call.args[0].id
        for call in nodes_of(context.tree, ast.Call)
        if attribute_of(call.func) == "apply"
        and len(call.args) == 1
        and isinstance(call.args[0], ast.Name)
    }
    return any(
        receiver.id in {argument.arg for argument in function.args.args}
        for function in nodes_of(context.tree, ast.FunctionDef)
        if function.name in applied
    )


def _is_configuration(place: ast.expr, context: Context) -> bool:
    """`cfg["scale"] = 3.0` of a dictionary or a list that a network was made with."""
    if not isinstance(place, ast.Name) or is_tensor(context.type(place)):
        return False
    return any(
        is_module_value(context.type(call))
        and any(
            name_of(part) == place.id
            for part in (*call.args, *(k.value for k in call.keywords if k.arg is not None))
        )
        for call in nodes_of(context.tree, ast.Call)
    )


def _may_be_network(receiver: ast.expr, context: Context) -> bool:
    """A Module or its class, a configuration that one may read, or a value that is not known."""
    value = context.type(receiver)
    if isinstance(value, ProjectClass) and class_is_module(value):
        return True
    if value is UNKNOWN or is_module_value(value):
        return True
    return any(isinstance(one, (Instance, ProjectModule)) for one in options_of(value))

"""Does the program look at the batches that a norm has counted? torch counts them in a buffer,
num_batches_tracked, which stands in every state dict; MindSpore does not.
"""

from __future__ import annotations

import ast

from migrate.flow.mentions import any_mentions, trees_with
from migrate.project import Project
from migrate.syntax.ast_index import all_nodes, nodes_of

_COUNTER = "num_batches_tracked"
_LISTS_ALL = frozenset({"buffers", "named_buffers"})
_LISTED_BY = frozenset(
    """
    any all dict enumerate filter frozenset iter len list map max min print repr reversed set
    sorted str sum tuple zip
    """.split()  # noqa: SIM905
)
_MEMBERS = frozenset({"items", "keys", "values"})
_WORDS = (_COUNTER, "state_dict", *_LISTS_ALL)


def counts_batches(project: Project) -> bool:
    """A program with batch norms that names the counter, or lists what holds it."""
    return any_mentions(project, "BatchNorm") and any(
        _looks(tree) for tree in trees_with(project, *_WORDS)
    )


def _looks(tree: ast.Module) -> bool:
    attributes = nodes_of(tree, ast.Attribute)
    if any(node.attr == _COUNTER for node in attributes):
        return True
    calls = nodes_of(tree, ast.Call)
    if any(isinstance(c.func, ast.Attribute) and c.func.attr in _LISTS_ALL for c in calls):
        return True
    return bool({ast.dump(s) for s in states(tree)} & {ast.dump(e) for e in listed(tree)})


def states(tree: ast.Module) -> list[ast.expr]:
    """`net.state_dict()`, and the names that it is bound to."""
    found: list[ast.expr] = []
    for call in nodes_of(tree, ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "state_dict":
            found.append(call)
    for assigned in nodes_of(tree, ast.Assign):
        if any(value in found for value in all_nodes(assigned.value)):
            found += [_loaded(target) for target in assigned.targets]
    return found


def _loaded(target: ast.expr) -> ast.expr:
    """The target as it is read."""
    return ast.parse(ast.unparse(target), mode="eval").body


def listed(tree: ast.Module) -> list[ast.expr]:
    """What is iterated, counted, printed, asked for its items, or returned to who may do so."""
    found: list[ast.expr] = [loop.iter for loop in nodes_of(tree, ast.For)]
    found += [part.iter for part in nodes_of(tree, ast.comprehension)]
    found += [part.value for part in nodes_of(tree, ast.Starred)]
    for returned in nodes_of(tree, ast.Return):
        value = returned.value
        found += (
            value.elts if isinstance(value, (ast.Tuple, ast.List)) else [value] if value else []
        )
    for call in nodes_of(tree, ast.Call):
        if isinstance(call.func, ast.Name) and call.func.id in _LISTED_BY:
            found += call.args
        elif isinstance(call.func, ast.Attribute) and call.func.attr in _MEMBERS:
            found.append(call.func.value)
    return found

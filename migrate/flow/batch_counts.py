"""Does the program look at the batches that a norm has counted? torch counts them in a buffer,
num_batches_tracked, which stands in every state dict; MindSpore does not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

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
_WORDS = (_COUNTER, "state_dict", "torch.load", *_LISTS_ALL)


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
    return among_states(listed(tree), states(tree))


def among_states(found: Iterable[ast.expr], known: Iterable[ast.expr]) -> bool:
    """One of these is a state dict, or an entry of what holds it: `checkpoint["model"]`."""
    texts = {ast.dump(state) for state in known}
    return any(ast.dump(part) in texts for one in found for part in (one, *_holders(one)))


def _holders(node: ast.expr) -> Iterator[ast.expr]:
    while isinstance(node, ast.Subscript):
        node = node.value
        yield node


def states(tree: ast.Module, *, loaded: bool = True) -> list[ast.expr]:
    """`net.state_dict()`, `torch.load(path)`, the names that they are bound to, and the parameters
    of functions of the file that are given them.
    """
    found: list[ast.expr] = [c for c in nodes_of(tree, ast.Call) if _gives_state(c.func, loaded)]
    for assigned in nodes_of(tree, ast.Assign):
        if any(value in found for value in all_nodes(assigned.value)):
            found += [_loaded(target) for target in assigned.targets]
    texts = {ast.dump(state) for state in found}
    functions = {f.name: f for f in nodes_of(tree, ast.FunctionDef)}
    for call in nodes_of(tree, ast.Call):
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        if name not in functions:
            continue
        names = [one.arg for one in functions[name].args.args if one.arg not in ("self", "cls")]
        given = dict(zip(names, call.args, strict=False))
        given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        found += [
            ast.Name(parameter, ast.Load())
            for parameter, value in given.items()
            if any(ast.dump(part) in texts for part in (value, *_holders(value)))
        ]
    return found


def _gives_state(function: ast.expr, loaded: bool) -> bool:
    if not isinstance(function, ast.Attribute):
        return False
    loads = loaded and function.attr == "load" and ast.unparse(function.value) == "torch"
    return function.attr == "state_dict" or loads


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

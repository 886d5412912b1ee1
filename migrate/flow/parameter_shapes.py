"""Does the program look at the axes of parameters that it lists? MindSpore's Conv1d keeps a weight
with a height of one, (out, in, 1, kernel): one axis more than torch's for whoever prints the shapes
of named_parameters() or of the entries of a state dict.

An optimizer, a checkpoint and an average of every value do not ask for axes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate.flow.batch_counts import among_states, listed, states
from migrate.flow.mentions import any_mentions, trees_with
from migrate.project import Project
from migrate.syntax.ast_index import all_nodes, nodes_of

_LISTS = frozenset({"parameters", "named_parameters", "get_parameter"})
_WORDS = ("state_dict", *_LISTS)
_AXES = frozenset(
    """
    shape size dim ndim ndimension numpy tolist cpu data detach unsqueeze squeeze reshape view t T
    transpose permute sum mean norm std var amax amin max min argmax chunk split
    """.split()  # noqa: SIM905
)
_KEEPS = frozenset({"list", "dict", "tuple", "print", "next", "sorted", "OrderedDict"})
_LOOPS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


def looks_at_axes(project: Project) -> bool:
    """A program with one-dimensional convolutions that asks what it lists for its axes."""
    if not any_mentions(project, "Conv1d") and not any_mentions(project, "ConvTranspose1d"):
        return False
    if any(any_mentions(project, word) for word in ("weight_norm", "spectral_norm")):
        return False  # they have classes of their own, which compute the weight
    return any(_looks(tree) for tree in trees_with(project, *_WORDS))


def _looks(tree: ast.Module) -> bool:
    if among_states(listed(tree), states(tree)):
        return True
    found = {ast.dump(state) for state in states(tree, loaded=False)}
    if any(ast.dump(one) in found for one in _by_key(tree)):
        return True
    return any(_lists(part) and _asks(part) for part in _parts(tree))


def _by_key(tree: ast.Module) -> Iterator[ast.expr]:
    """`sd` in `sd["conv.weight"]`."""
    for node in nodes_of(tree, ast.Subscript):
        yield node.value


def _parts(tree: ast.Module) -> Iterator[ast.AST]:
    """Where parameters may be listed and asked: a loop, a comprehension, a call such as list()."""
    yield from nodes_of(tree, ast.For, *_LOOPS)
    for call in nodes_of(tree, ast.Call):
        if isinstance(call.func, ast.Name) and call.func.id in _KEEPS:
            yield call
    yield from (one for one in nodes_of(tree, ast.Subscript) if isinstance(one.value, ast.Call))


def _lists(part: ast.AST) -> bool:
    calls = (n for n in all_nodes(part) if isinstance(n, ast.Call))
    return any(isinstance(c.func, ast.Attribute) and c.func.attr in _LISTS for c in calls)


def _asks(part: ast.AST) -> bool:
    if isinstance(part, (ast.Call, ast.Subscript)):
        return True
    if isinstance(part, _LOOPS) and not isinstance(part, ast.GeneratorExp):
        results = [part.key, part.value] if isinstance(part, ast.DictComp) else [part.elt]
        if any(isinstance(result, (ast.Name, ast.Tuple)) for result in results):
            return True  # what is kept may be asked anywhere
    return any(isinstance(n, ast.Attribute) and n.attr in _AXES for n in all_nodes(part))

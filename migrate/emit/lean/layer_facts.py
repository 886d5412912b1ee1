"""What the pieces for state dicts ask of a program: which layers and schedules it may have."""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrate.emit.lean.callers import Callers
from migrate.syntax.access import is_store
from migrate.syntax.ast_index import all_nodes, nodes_of

_Holds = Callable[[Callers, set[str]], bool]
_OF_NORMS = frozenset({"gamma", "beta", "moving_mean", "moving_variance"})
_PLAIN_BASES = frozenset({"object", "ABC", "NamedTuple", "Protocol", "Enum"})


def _named(*parts: str) -> _Holds:
    """Whether some name of the program has one of these in it."""
    return lambda said, words: any(part in word for word in words for part in parts)


# Layers whose weight MindSpore calls something else, and those whose parts it does.
_other_weights = _named("Embedding", "PReLU")
_other_parts = _named("BatchNorm3d", "Transformer")


def _names_by_layer(said: Callers, words: set[str]) -> bool:
    """Whether a parameter called gamma may be another than that of a norm, or a part of a layer
    have another name in torch.
    """
    if _other_weights(said, words) or _other_parts(said, words):
        return True
    classes = {one.name: one for tree in said.trees for one in nodes_of(tree, ast.ClassDef)}
    plain = {
        node
        for name, cls in classes.items()
        if _holds_no_parameters(name, classes, set())
        for node in all_nodes(cls)
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "self"
    }
    return any(
        node not in plain and _states(node)
        for tree in said.trees
        for node in nodes_of(tree, ast.Constant, ast.Attribute)
    )


def _states(node: ast.Constant | ast.Attribute) -> bool:
    """`self.gamma = ...`, `"gamma"`"""
    if isinstance(node, ast.Attribute):
        return is_store(node) and node.attr in _OF_NORMS
    return isinstance(node.value, str) and node.value in _OF_NORMS


def _holds_no_parameters(name: str, classes: dict[str, ast.ClassDef], seen: set[str]) -> bool:
    """A class of the program that derives from no layer: a schedule, a dataset of its own."""
    if name in _PLAIN_BASES:
        return True
    if name not in classes or name in seen:
        return False
    bases = [getattr(base, "id", "") for base in classes[name].bases]
    return all(_holds_no_parameters(base, classes, {*seen, name}) for base in bases)


LAYER_FACTS: dict[str, _Holds] = {
    "recurrent layers": _named("LSTM", "GRU", "RNN"),
    "weights with other names": _other_weights,
    "parts with other names": _other_parts,
    "names that depend on the layer": _names_by_layer,
    "schedules that wait": _named("Plateau"),
    "schedules of schedules": _named("SequentialLR", "Chained"),
    "schedules of functions": _named("LambdaLR", "MultiplicativeLR", "CyclicLR"),
}

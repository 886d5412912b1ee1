"""What the pieces for data ask of a program: loaders, samplers, datasets."""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrate.emit.lean.callers import Callers
from migrate.syntax.ast_index import nodes_of

_TYPED = ("Dataset", "IterableDataset", "Sampler", "VisionDataset")
_OWN_STREAMS = {"Generator", "generator", "manual_seed", "RandomSampler", "Sampler"}


def _shuffles(said: Callers, named: set[str]) -> bool:
    """Whether a loader may be told to shuffle: not where all calls say `shuffle=False`, or none
    says anything.
    """
    if "DataLoader" in said.values or "DataLoader" not in said.calls:
        return True
    return any(_may_shuffle(call) for call in said.calls["DataLoader"])


def _may_shuffle(call: ast.Call) -> bool:
    if len(call.args) > 2 or any(isinstance(one, ast.Starred) for one in call.args):
        return True
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    shuffle = given.get("shuffle")
    return None in given or not (
        shuffle is None or (isinstance(shuffle, ast.Constant) and not shuffle.value)
    )


def _own_streams(said: Callers, named: set[str]) -> bool:
    """Numbers that come from a generator of the program, or from the stream that manual_seed set
    apart; or samplers that are asked what they are.
    """
    return said.is_open or not _OWN_STREAMS.isdisjoint({*named, *said.stored})


def _replaces_samplers(said: Callers, named: set[str]) -> bool:
    """`loader.batch_sampler = ...`, or a class of loaders with a member of this name."""
    given = {*said.stored, *said.defined}
    return said.is_open or not given.isdisjoint({"sampler", "batch_sampler", "index_sampler"})


def _typed(said: Callers, named: set[str]) -> bool:
    """`Dataset[int]`"""
    subscripts = [node.value for tree in said.trees for node in nodes_of(tree, ast.Subscript)]
    return any(isinstance(value, ast.Attribute) and value.attr in _TYPED for value in subscripts)


DATA_FACTS: dict[str, Callable[[Callers, set[str]], bool]] = {
    "loaders that shuffle": _shuffles,
    "random streams of the program's own": _own_streams,
    "samplers that are replaced": _replaces_samplers,
    "data with types": _typed,
}

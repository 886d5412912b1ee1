"""Which functions of the program compute gradients, and which clear, clip or use them.

torch leaves gradients at the parameters, where every function of every file finds them. A training
step may keep them to itself only if no other function reads or changes them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import Flag, auto
from functools import lru_cache

from migrate.flow.mentions import trees_of
from migrate.project import Project, SourceFile
from migrate.syntax.ast_index import child_nodes, nodes_of

_WORDS = ("backward", "step", "zero_grad", "clip_grad_norm_", "clip_grad_value_")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Part(Flag):
    """What a function does with gradients in its own statements."""

    NOTHING = 0
    COMPUTES = auto()  # backward()
    CLEARS = auto()  # zero_grad()
    CLIPS = auto()
    STEPS = auto()
    KEEPS_ZEROS = auto()  # zero_grad(set_to_none=False): zeros are gradients, too


def gradients_cross_functions(project: Project) -> bool:
    """A function of the program steps, clips or clears gradients that another one computes."""
    return _crossing(tuple(project.files))


@lru_cache(maxsize=8)
def _crossing(files: tuple[SourceFile, ...]) -> bool:
    parts = list(_parts_of(files))
    computing = [part for part in parts if Part.COMPUTES in part]
    apart = [part for part in parts if Part.COMPUTES not in part]
    used_apart = any(part & (Part.CLIPS | Part.STEPS) for part in apart)
    keeps_zeros = any(Part.KEEPS_ZEROS in part for part in parts)
    # Who computes and does not clear leaves it to whoever clears, in whatever function.
    cleared_apart = any(Part.CLEARS not in part for part in computing) and any(
        Part.CLEARS in part for part in parts
    )
    return bool(computing) and (used_apart or keeps_zeros or cleared_apart)


def _parts_of(files: tuple[SourceFile, ...]) -> Iterator[Part]:
    trees = list(trees_of(files, *_WORDS))
    cleared = {_last(owner) for tree in trees for owner in _owners_of(tree, "zero_grad")}
    for tree in trees:
        for home in (tree, *nodes_of(tree, *_FUNCTIONS)):
            part = Part.NOTHING
            for node in _own_nodes(home):
                part |= _part(node, cleared)
            yield part


def _own_nodes(home: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a body, without those of functions that are defined in it."""
    todo = list(getattr(home, "body", []))
    while todo:
        node = todo.pop()
        if not isinstance(node, _FUNCTIONS):
            yield node
            todo += child_nodes(node)


def _owners_of(tree: ast.Module, method: str) -> Iterator[ast.expr]:
    for node in nodes_of(tree, ast.Attribute):
        if node.attr == method:
            yield node.value


def _last(node: ast.expr) -> str:
    """`optimizer` of `self.optimizer`; empty for what has no name."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _part(node: ast.AST, cleared: set[str]) -> Part:
    """What a node does; a method that is handed on as a value counts as called."""
    if isinstance(node, ast.Call):
        return _of_call(node, cleared)
    name = getattr(node, "attr", getattr(node, "id", ""))
    if name == "backward":
        return Part.COMPUTES
    if name == "zero_grad":
        return Part.CLEARS
    return Part.CLIPS if name in ("clip_grad_norm_", "clip_grad_value_") else Part.NOTHING


def _of_call(call: ast.Call, cleared: set[str]) -> Part:
    if not isinstance(call.func, ast.Attribute):
        return Part.NOTHING
    if call.func.attr == "step":
        owner = ast.unparse(call.func.value)
        if not call.args:
            steps = "opt" in owner.lower() or (_last(call.func.value) in cleared - {"", "self"})
        else:  # scaler.step(optimizer)
            steps = len(call.args) == 1 and (
                "opt" in ast.unparse(call.args[0]).lower() or "scaler" in owner.lower()
            )
        return Part.STEPS if steps else Part.NOTHING
    if call.func.attr == "zero_grad" and any(
        k.arg == "set_to_none" and isinstance(k.value, ast.Constant) and k.value.value is False
        for k in call.keywords
    ):
        return Part.KEEPS_ZEROS
    return Part.NOTHING

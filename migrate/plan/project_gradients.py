"""Programs that pass gradients from function to function, or from file to file, at the parameters:
`p.grad`, a step away from its backward pass, clipping in a function of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from migrate.plan.names import statements_below
from migrate.project import Project, ReadProblem, SourceFile

_WORDS = ("backward", "step", "zero_grad", "clip_grad_norm_", "clip_grad_value_")


def gradients_cross_functions(project: Project) -> bool:
    """A function of the program steps or clips with gradients that another one has computed."""
    return _crossing(tuple(project.files))


@lru_cache(maxsize=8)
def _crossing(files: tuple[SourceFile, ...]) -> bool:
    apart = False
    trains = False
    for called in _called_together(files):
        backward = "backward" in called
        trains |= backward
        clips = any(word.startswith("clip_grad_") for word in called)
        apart |= not backward and (clips or called.get("step", False))
        apart |= called.get("set_to_none=False", False)
    return apart and trains


def _called_together(files: tuple[SourceFile, ...]) -> Iterator[dict[str, bool]]:
    """For each function, which of the calls of a training step it has itself."""
    for file in files:
        try:
            text = file.read()
            if not any(word in text for word in _WORDS):
                continue
            tree = ast.parse(text)
        except (ReadProblem, SyntaxError, ValueError, RecursionError):
            continue
        bodies = [tree.body]
        bodies += [
            n.body for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)
        ]
        for body in bodies:
            yield _calls_in(body)


def _calls_in(body: list[ast.stmt]) -> dict[str, bool]:
    found: dict[str, bool] = {}
    for _, statement in statements_below(body):
        for part in ast.iter_child_nodes(statement):
            if isinstance(part, ast.stmt):
                continue
            for node in ast.walk(part):
                if isinstance(node, ast.Call):
                    _note(node, found)
    return found


def _note(call: ast.Call, found: dict[str, bool]) -> None:
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name not in _WORDS:
        return
    if name == "step":
        owner = ast.unparse(function.value).lower() if isinstance(function, ast.Attribute) else ""
        found["step"] = found.get("step", False) or ("opt" in owner and not call.args)
        return
    found[name] = True
    if name == "zero_grad" and any(
        k.arg == "set_to_none" and isinstance(k.value, ast.Constant) and k.value.value is False
        for k in call.keywords
    ):
        found["set_to_none=False"] = True

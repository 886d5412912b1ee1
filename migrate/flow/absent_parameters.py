"""May a norm of the program lack its weight, bias or running values? `affine=False` is one such."""

from __future__ import annotations

import ast
from functools import lru_cache

from migrate.flow.mentions import trees_with
from migrate.project import Project
from migrate.syntax.ast_index import nodes_of

_SETTINGS = frozenset({"affine", "elementwise_affine", "track_running_stats"})
_BEFORE_SETTINGS = 2  # positional arguments that no norm's constructor has a setting among


@lru_cache(maxsize=2)
def norms_may_lack_parameters(project: Project) -> bool:
    """Some call of the program gives a norm such a setting, or more than is seen here."""
    return any(_gives(tree) for tree in trees_with(project, "Norm", *_SETTINGS))


def _gives(tree: ast.Module) -> bool:
    return any(_sets(call) for call in nodes_of(tree, ast.Call))


def _sets(call: ast.Call) -> bool:
    names = {keyword.arg for keyword in call.keywords}
    if names & _SETTINGS:
        return True
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return "Norm" in name and (
        len(call.args) > _BEFORE_SETTINGS
        or "bias" in names
        or None in names
        or any(isinstance(argument, ast.Starred) for argument in call.args)
    )

"""Why a port needs its helpers: counted for the summary, so that a needless one is seen.

| reason | a helper that |
|---|---|
| passed on | is handed on as a value, to be called with torch's arguments |
| semantics | has a namesake in MindSpore that computes or checks something else |
| composition | MindSpore has no counterpart for |
| data | reads, orders or transforms samples |
| training | belongs to a step, an optimizer, a checkpoint, a device or a group of processes |
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrate.syntax.access import name_of
from migrate.syntax.ast_index import all_nodes, nodes_of
from migrate.syntax.helper_import import helper_alias
from migrate.syntax.import_planner import HELPERS
from migrate.table.entry import VERSIONS
from migrate.table.helper_pieces import helper_index
from migrate.table.mindspore_names import MindSporeNames

REASONS = ("passed on", "semantics", "composition", "data", "training")
_DATA = ("data_", "vision_presets", "vision_files")
_TRAINING = ("train_", "optim_", "checkpoint", "devices", "vision_weights")
_NAMESAKES = (
    "ops",
    "nn",
    "nn.Cell",
    "Tensor",
    "mint.nn",
    "mint.nn.functional",
    "common.initializer",
)


def reason_of(name: str, *, as_value: bool) -> str:
    """The reason of one helper, by the file of its piece and by how it is used."""
    piece = helper_index().definitions.get(name)
    if piece is not None:
        if piece.file.startswith(_DATA):
            return "data"
        if piece.file.startswith(_TRAINING):
            return "training"
    if as_value or piece is None:
        return "passed on"
    known = MindSporeNames(VERSIONS[-1])
    namesake = any(known.lists(f"mindspore.{place}.{name}") for place in _NAMESAKES)
    return "semantics" if namesake else "composition"


def reasons_of(text: str, helpers: Iterable[str]) -> dict[str, str]:
    """The reason of each helper that a ported file names."""
    values = _handed_on(ast.parse(text))
    return {name: reason_of(name, as_value=name in values) for name in helpers}


def _handed_on(tree: ast.Module) -> set[str]:
    """Helpers that are values: neither called, nor a base, a test's class or an annotation."""
    modules = {HELPERS, f"ms_{HELPERS}", helper_alias(tree)}
    elsewhere = _called_or_named(tree)
    return {
        node.attr
        for node in nodes_of(tree, ast.Attribute)
        if node not in elsewhere and name_of(node.value) in modules
    }


def _called_or_named(tree: ast.Module) -> set[ast.AST]:
    """Expressions that are called, derived from, tested for, or that annotate and decorate."""
    calls = nodes_of(tree, ast.Call)
    found: set[ast.AST] = {call.func for call in calls}
    found |= {base for cls in nodes_of(tree, ast.ClassDef) for base in cls.bases}
    parts: list[ast.AST | None] = [
        argument for call in calls if _asks_class(call) for argument in call.args
    ]
    parts += [node.annotation for node in nodes_of(tree, ast.arg, ast.AnnAssign)]
    for function in nodes_of(tree, ast.FunctionDef, ast.AsyncFunctionDef):
        parts += [*function.decorator_list, function.returns]
    return found | {node for part in parts if part is not None for node in all_nodes(part)}


def _asks_class(call: ast.Call) -> bool:
    return name_of(call.func) in ("isinstance", "issubclass")

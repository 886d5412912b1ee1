"""Ask the equivalence guard about one ported file, with what is known of it."""

from __future__ import annotations

import ast
import builtins

from migrate.emit.equivalence_guard import Touched, Version, violations
from migrate.graph_mode.compiled_functions import compiled_names
from migrate.pipeline.context import Context
from migrate.resolve.values import is_tensor
from migrate.syntax.ast_index import nodes_of
from migrate.table.entry import VERSIONS
from migrate.table.mindspore_names import MindSporeNames

_PLAIN_BASES = frozenset(dir(builtins)) | {
    "ABC",
    "Enum",
    "Generic",
    "IntEnum",
    "NamedTuple",
    "Protocol",
    "StrEnum",
    "TypedDict",
}


class NotEquivalent(Exception):
    """The port of a file is not the program that the file was."""


def check_equivalence(text: str, code: str, context: Context) -> None:
    """Raise NotEquivalent, or SyntaxError, for a port that must not be written."""
    if code == text:
        return
    after = context.ported_tree = context.ported_tree or ast.parse(code)
    names = MindSporeNames(context.table.version or VERSIONS[-1])
    before, ported = Version(text, context.tree), Version(code, after)
    found = list(violations(before, ported, _touched(context), names))
    if found:
        raise NotEquivalent("; ".join(found[:3]))


def _touched(context: Context) -> Touched:
    resolution = context.resolution
    assert resolution.scope is not None
    lines = {usage.line for usage in resolution.usages}
    lines |= {finding.line for finding in context.findings}
    lines |= context.edited_lines
    lines |= {
        node.lineno
        for node in nodes_of(context.tree, ast.Import, ast.ImportFrom)
        if _names_library(node, context)
    }
    # A function that computes with tensors uses torch, whoever made them.
    kinds = (ast.Name, ast.Subscript, ast.Call, ast.BinOp)
    lines |= {n.lineno for n in nodes_of(context.tree, *kinds) if is_tensor(context.type(n))}
    classes = _derived_classes(context)
    compiled = {name.rpartition(".")[2] for name in compiled_names(context)}
    return Touched(frozenset(lines), classes, frozenset(compiled))


def _derived_classes(context: Context) -> frozenset[str]:
    """Classes that derive from anything but plain Python: a base of torch's, or of another file
    that may be, gives methods a meaning of their own (forward, backward, __getitem__).
    """
    plain: set[str] = set(_PLAIN_BASES)
    derived: set[str] = set()
    pending: list[tuple[str, ast.stmt]] = [("", node) for node in reversed(context.tree.body)]
    while pending:
        owner, node = pending.pop()
        if isinstance(node, ast.ClassDef):
            name = f"{owner}.{node.name}" if owner else node.name
            if all(_base_name(base) in plain for base in node.bases) and owner not in derived:
                plain.add(name)
            else:
                derived.add(name)
            pending += [(name, inner) for inner in reversed(node.body)]
        elif isinstance(node, (ast.If, ast.Try)):
            inside = [*node.body, *node.orelse, *getattr(node, "finalbody", [])]
            pending += [(owner, inner) for inner in reversed(inside)]
    return frozenset(derived)


def _base_name(node: ast.expr) -> str:
    if isinstance(node, ast.Subscript):  # Generic[T]
        node = node.value
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _names_library(node: ast.Import | ast.ImportFrom, context: Context) -> bool:
    if isinstance(node, ast.Import):
        return any(context.modules.is_library(alias.name) for alias in node.names)
    module = node.module or ""
    if node.level or context.modules.is_library(module):
        return True
    # `from pkg.blocks import X` inside pkg becomes relative.
    own = context.resolution.source.package.partition(".")[0]
    return bool(own) and module.partition(".")[0] == own and context.modules.is_asked(module)

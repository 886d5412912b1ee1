"""What a piece of code reads with its gradient: `fake`, not `fake.detach()`, by its text alone."""

from __future__ import annotations

import ast

from migrate.flow.events import reads_in
from migrate.flow.tables import NUMBERS
from migrate.syntax.ast_index import all_nodes, child_nodes, remembered

# Results that carry no gradient, whatever they are computed from.
CUTTING = frozenset(
    """
    all any argmax argmin argsort bool byte char detach dim eq equal ge gt int isfinite isinf isnan
    item le long lt ne nonzero numel numpy one_hot searchsorted short size sign tolist bincount
    bernoulli multinomial floor ceil round
    """.split()  # noqa: SIM905
)
CUTTING_ATTRIBUTES = frozenset({"data", "grad", "shape", "dtype", "device", "ndim"})


def gradient_reads(node: ast.AST) -> set[str]:
    """Names that a piece of code reads with their gradients: `fake`, not `fake.detach()`."""
    return set(remembered(node, _gradient_reads))


def _gradient_reads(node: ast.AST) -> set[str]:
    return {name.id for name in reads_with_gradient(node)} & {n.id for n in reads_in(node)}


def reads_with_gradient(node: ast.AST) -> list[ast.Name]:
    """Names that an expression reads with their gradients: `fake`, not `fake.detach()`."""
    return [n for n in _with_gradient(node) if isinstance(n, ast.Name)]


def attributes_with_gradient(node: ast.AST) -> list[ast.Attribute]:
    """`self.fake`, not `self.fake.detach()`."""
    return [n for n in _with_gradient(node) if isinstance(n, ast.Attribute)]


def _cuts(node: ast.AST) -> bool:
    """`x.detach()`, `x.data`, `x > 0`: no gradient comes through."""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name):
            return node.func.id in NUMBERS
        return isinstance(node.func, ast.Attribute) and node.func.attr in CUTTING
    if isinstance(node, ast.Attribute):
        return node.attr in CUTTING_ATTRIBUTES
    return isinstance(node, (ast.Compare, ast.Lambda))


def _with_gradient(node: ast.AST) -> list[ast.Name | ast.Attribute]:
    if _cuts(node):
        return []
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return _looped(node, [(node.target, node.iter)])
    if parts := getattr(node, "generators", None):
        return _looped(node, [(part.target, part.iter) for part in parts])
    if (
        isinstance(node, ast.Call)
        and getattr(node.func, "id", "") in ("map", "filter")
        and node.args
    ):
        function, *given = node.args
        if isinstance(function, ast.Lambda):
            return [n for one in given for n in _with_gradient(one)] if _passes(function) else []
    own = isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load)
    found = [node] if own and isinstance(node, (ast.Name, ast.Attribute)) else []
    if isinstance(node, ast.Name):
        return found
    return found + [n for child in child_nodes(node) for n in _with_gradient(child)]


def _looped(
    node: ast.AST, loops: list[tuple[ast.expr, ast.expr]]
) -> list[ast.Name | ast.Attribute]:
    """`[o.detach() for o in outs]` reads outs without a gradient."""
    iterated = {part for _, sequence in loops for part in all_nodes(sequence)}
    found = [n for child in child_nodes(node) for n in _parts_with_gradient(child)]
    used = {n.id for n in found if isinstance(n, ast.Name) and n not in iterated}
    cut = {
        part
        for target, sequence in loops
        if not used & {n.id for n in all_nodes(target) if isinstance(n, ast.Name)}
        for part in all_nodes(sequence)
    }
    return [n for n in found if n not in cut]


def _parts_with_gradient(node: ast.AST) -> list[ast.Name | ast.Attribute]:
    """Of a clause `for x in y if z`, which is no expression, the parts of it."""
    if isinstance(node, ast.comprehension):
        return [n for part in (node.iter, *node.ifs) for n in _with_gradient(part)]
    return _with_gradient(node)


def _passes(function: ast.Lambda) -> bool:
    """`lambda o: o.detach()` lets no gradient through."""
    own = {argument.arg for argument in function.args.args}
    return any(isinstance(n, ast.Name) and n.id in own for n in _with_gradient(function.body))

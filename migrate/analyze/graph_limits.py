"""The limits of Graph mode that a file's compiled code meets, from the table of limits.

What `port` writes in another form is a note; what stays as it is and runs in PyNative mode is a
warning. Much of what older guides warn of compiles today and is not reported: isinstance,
f-strings, lambdas, comprehensions, raise, assert, int(tensor), branches on a tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate.analyze import branches
from migrate.analyze.model import Sign
from migrate.analyze.places import Placer
from migrate.flow.answer import Answer, Verdict
from migrate.flow.compiled_nodes import Function, compiled_code
from migrate.lower.function import CompiledFunction
from migrate.lower.limit_checks import limits_met
from migrate.resolve.module_scope import ModuleScope
from migrate.resolve.values import Value
from migrate.syntax.edits import SourceText

_BRANCHING: tuple[type[ast.If] | type[ast.While], ...] = (ast.If, ast.While)


def find(
    scope: ModuleScope, types: dict[ast.AST, Value], placer: Placer, text: str
) -> Iterator[Sign]:
    """All limits that the file's compiled code meets, each place once."""
    seen: set[ast.AST] = set()
    source = SourceText(text, scope.tree)
    for name, node, nodes in compiled_code(scope, types):
        function = CompiledFunction(source, node, name, None, Verdict(Answer.YES), types)
        function.__dict__["nodes"] = nodes
        for met in limits_met(function):
            if met.node in seen or not met.limit.message:
                continue
            seen.add(met.node)
            place, row = placer.at(met.node, name), met.limit
            severity = "warning" if row.port == "pynative" else "note"
            yield Sign(
                "control flow", met.what, place, row.code, met.message, row.step, severity, "graph"
            )
        for part in function.of_kind(*_BRANCHING):
            sign = _branch(part, types, node, placer, name)
            if sign is not None and part not in seen:
                seen.add(part)
                yield sign


def _branch(
    node: ast.If | ast.While,
    types: dict[ast.AST, Value],
    function: Function,
    placer: Placer,
    name: str,
) -> Sign | None:
    if not branches.on_tensor(node.test, types):
        return None
    what = f"{'if' if isinstance(node, ast.If) else 'while'} on a tensor"
    place = placer.at(node, name)
    reason = branches.mismatch(node, types, function)
    if reason:
        step = "make both sides alike, or use ops.where"
        message = f"{what}: {reason}"
        return Sign("control flow", what, place, "MS401", message, step, "warning", "graph")
    message = f"{what} compiles"
    return Sign("control flow", what, place, "MS401", message, "", "note", "graph")

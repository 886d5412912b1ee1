"""`rows.append(i), columns.append(j)` as a statement: the compiler drops a value that nobody uses,
and with it what its parts do. Lists, comprehensions, `a and f()` and `f() if a else g()` likewise.
"""

from __future__ import annotations

import ast

from migrate.lower.function import CompiledFunction, Line
from migrate.pipeline import becomes, declare
from migrate.syntax.access import name_of
from migrate.syntax.ast_index import all_nodes


@declare(
    phase="lower",
    unit="lowering",
    needs=["compiled"],
    examples=[
        becomes(
            "rows, columns = [], []\nrows.append(x),columns.append(y)",
            "rows, columns = ([], [])\nrows.append(x)\ncolumns.append(y)",
        ),
        becomes(
            "rows = []\n[rows.append(x * i) for i in range(3)]",
            "rows = []\nfor i in range(3):\n    rows.append(x * i)",
        ),
        becomes(
            "rows = []\nself.training and rows.append(x)",
            "rows = []\nif self.training:\n    rows.append(x)",
        ),
    ],
)
def effect_statements(function: CompiledFunction) -> None:
    """Each part with a call becomes a statement of its own."""
    for statement in function.of_kind(ast.Expr):
        if any(isinstance(node, ast.Call) for node in all_nodes(statement.value)):
            lines = _lines(statement.value, function)
            if lines:
                function.replace_statement(statement, *lines)


def _lines(value: ast.expr, function: CompiledFunction) -> list[Line]:
    if isinstance(value, (ast.Tuple, ast.List)):
        return [[part] for part in value.elts if not isinstance(part, (ast.Constant, ast.Name))]
    if isinstance(value, ast.IfExp):
        return [["if ", value.test, ":"], ["\t", value.body], "else:", ["\t", value.orelse]]
    if isinstance(value, ast.BoolOp):
        return _tested(value)
    if isinstance(value, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
        if isinstance(value, ast.GeneratorExp) or any(g.is_async for g in value.generators):
            return []
        return _loop(value, function)
    return []


def _tested(value: ast.BoolOp) -> list[Line]:
    """`a and b and f()`: the last part is done if the others let it be."""
    *tests, last = value.values
    word = " and " if isinstance(value.op, ast.And) else " or "
    test: list[str | ast.AST] = []
    for part in tests:
        test += [word, "(", part, ")"] if len(tests) > 1 else [part]
    test = test[1:] if len(tests) > 1 else test
    if isinstance(value.op, ast.Or):
        test = ["not (", *test, ")"]
    return [["if ", *test, ":"], ["\t", last]]


def _loop(value: ast.ListComp | ast.SetComp, function: CompiledFunction) -> list[Line]:
    """The loops of a comprehension; its variables must not hide others of the function."""
    inside = set(all_nodes(value))
    used = {
        node.id
        for node in all_nodes(function.node)
        if isinstance(node, ast.Name) and node not in inside
    } | {node.arg for node in all_nodes(function.node) if isinstance(node, ast.arg)}
    bound = {
        node.id
        for generator in value.generators
        for node in all_nodes(generator.target)
        if isinstance(node, ast.Name)
    }
    renamed = {name: function.fresh(f"each_{name}") for name in sorted(bound & used)}
    first = set(all_nodes(value.generators[0].iter))  # read outside of the comprehension
    for node in inside - first:
        if name_of(node) in renamed:
            function.replace(node, renamed[node.id])
    lines: list[Line] = []
    depth = ""
    for generator in value.generators:
        lines.append([f"{depth}for ", generator.target, " in ", generator.iter, ":"])
        depth += "\t"
        for test in generator.ifs:
            lines.append([f"{depth}if ", test, ":"])
            depth += "\t"
    return [*lines, [depth, value.elt]]

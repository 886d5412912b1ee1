"""`if rows.numel() == 0: continue` in a loop over layers: a `continue` that hangs on a tensor does
not compile there, and the rest of the round in an `if` of its own does.
"""

from __future__ import annotations

import ast

from migrate.lower.function import CompiledFunction
from migrate.pipeline import becomes, declare, same
from migrate.resolve.values import UNKNOWN, is_tensor
from migrate.syntax.access import attribute_of
from migrate.syntax.ast_index import all_nodes
from migrate.syntax.edits import Edit, Piece

# Questions that are answered when the graph is built.
_SETTLED = frozenset({"isinstance", "hasattr", "getattr", "len", "callable", "type"})
_MEASURES = frozenset({"numel", "shape", "size"})
_OPPOSITES = {ast.Eq: " != ", ast.NotEq: " == "}


@declare(
    phase="lower",
    unit="lowering",
    needs=["compiled", "types"],
    after={
        "split_and": "parts that are constants are settled before a `continue` hangs on them",
    },
    examples=[
        becomes(
            """
            for layer in self.layers:
                rows = layer(x)
                if rows.numel() == 0:
                    continue
                x = x + rows
            """,
            """
            for layer in self.layers:
                rows = layer(x)
                if rows.size != 0:
                    x = x + rows
            """,
        ),
        same(
            """
            for n in (1, 2):
                if n == self.skip:
                    continue
                x = x + n
            """
        ),
    ],
)
def continue_to_if(function: CompiledFunction) -> None:
    """`if rows.size != 0:` and what followed the `continue`."""
    for statement in function.of_kind(ast.If):
        block = function.block_of(statement)
        rest = block[block.index(statement) + 1 :]
        if not rest or not _ends_round(statement, function):
            continue
        if statement.orelse or not isinstance(statement.body[-1], ast.Continue):
            continue
        if not _hangs_on_tensor(statement.test, function):
            continue
        crowded = [
            one
            for one in (statement, statement.body[0], statement.body[-1], rest[0])
            if not function.begins_line(one)
        ]
        if crowded:
            function.edits += list(function.own_lines(crowded[0]))
        else:
            _nest(statement, rest, function)
        return


def _nest(statement: ast.If, rest: list[ast.stmt], function: CompiledFunction) -> None:
    """The rest of the round goes into the `if`, or into its `else`."""
    source = function.source
    left = statement.body[-1]
    start, end = source.span(left)
    first = source.text.rfind("\n", 0, start) + 1
    end = (source.text + "\n").index("\n", end)
    # What was said beside the `continue` is said of what is not skipped.
    _, mark, said = source.text[start:end].partition("#")
    if len(statement.body) > 1:
        said = f"  {mark}{said}" if mark else ""
        function.edits.append(Edit(first, end, (f"{source.indent_of(statement)}else:{said}",)))
    else:
        function.edits.append(source.replace(statement.test, *_opposite(statement.test)))
        comment = f"{source.text[first:start]}{mark}{said}" if mark else ""
        function.edits.append(Edit(first, end + (not mark), (comment,)))
    function.edits += function.indented(rest)


def _ends_round(statement: ast.stmt, function: CompiledFunction) -> bool:
    """Behind the block of the statement nothing else runs in this round."""
    block, parent = function.block_of(statement), function.parents[statement]
    if isinstance(parent, (ast.For, ast.While)):
        return block is parent.body
    if not isinstance(parent, ast.If) or function.block_of(parent)[-1] is not parent:
        return False
    return _ends_round(parent, function)


def _hangs_on_tensor(test: ast.expr, function: CompiledFunction) -> bool:
    """A tensor is read in it, or something that may be one; sizes are tensors' own, too."""
    for node in all_nodes(test):
        if not isinstance(node, ast.expr):
            continue
        value = function.value_of(node)
        if is_tensor(value):
            return True
        if attribute_of(node) in _MEASURES:
            return True
        if value is not UNKNOWN:
            continue
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") not in _SETTLED:
            return True
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            return True
    return False


def _opposite(test: ast.expr) -> list[Piece]:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return [test.operand]
    if isinstance(test, ast.Compare):
        symbol = _OPPOSITES.get(type(test.ops[0])) if len(test.ops) == 1 else None
        return [test.left, symbol, test.comparators[0]] if symbol else ["not ", test]
    plain = isinstance(test, (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
    return ["not ", test] if plain else ["not (", test, ")"]

"""A variable that only a branch or a loop makes, and that is read behind it: the compiler wants it
made before. `h = None` stands in front.
"""

from __future__ import annotations

import ast

from migrate.flow.cfg import ControlFlow
from migrate.flow.def_use import DefUse
from migrate.lower.function import CompiledFunction
from migrate.pipeline import becomes, declare, same
from migrate.syntax.access import is_read, stored_names
from migrate.syntax.ast_index import all_nodes
from migrate.syntax.edits import Edit

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_PLACES = (ast.If, *_LOOPS)


@declare(
    phase="lower",
    unit="lowering",
    needs=["compiled", "definitions"],
    after={
        "continue_to_if": "what it moves into an `if` binds names there",
        "effect_statements": "it makes branches and loops of expressions",
        "loop_else": "it makes a branch of the `else`",
        "split_and": "it makes branches of one branch",
    },
    examples=[
        becomes(
            "if self.first:\n    h = x + 1\nx = h if self.first else x",
            "h = None\nif self.first:\n    h = x + 1\nx = h if self.first else x",
        ),
        becomes(
            "for layer in self.layers:\n    h = layer(x)\nx = h + 1",
            "h = None\nfor layer in self.layers:\n    h = layer(x)\nx = h + 1",
        ),
        same("if self.first:\n    h = x + 1\nelse:\n    h = x\nx = h * 2"),
    ],
)
def init_variables(function: CompiledFunction) -> None:
    """In front of the loop around, or of the branch that does not make it on every way."""
    if not any(isinstance(node, _PLACES) for node in function.nodes):
        return
    defuse = DefUse(ControlFlow(function.node))
    wanted: dict[ast.stmt, list[str]] = {}
    branched = _made_in_branches(function)
    for read in function.of_kind(ast.Name):
        if read.id not in branched or not is_read(read):
            continue
        if not defuse.maybe_unbound(read):
            continue
        nodes = [one.statement for one in defuse.reaching(read)]
        made = [node for node in nodes if isinstance(node, ast.stmt) and node in function.parents]
        if not made:
            continue
        first = min(made, key=lambda node: (node.lineno, node.col_offset))
        place = _place(first, read, function)
        if place is not None and read.id not in wanted.setdefault(place, []):
            wanted[place].append(read.id)
    for place, names in wanted.items():
        start = function.source.span(place)[0]
        line = f"{' = '.join(names)} = None\n{function.source.indent_of(place)}"
        function.edits.append(Edit(start, start, (line,)))


def _made_in_branches(function: CompiledFunction) -> set[str]:
    """Names that no statement of the function's own block makes before a branch or a loop does."""
    known = {node.arg for node in all_nodes(function.node.args) if isinstance(node, ast.arg)}
    found: set[str] = set()
    for statement in function.node.body:
        names = stored_names(all_nodes(statement))
        if isinstance(statement, _PLACES):
            found |= names - known
        known |= names
    return found


def _place(made: ast.stmt, read: ast.Name, function: CompiledFunction) -> ast.stmt | None:
    """The outermost loop around, or the statement that holds the definition and not the read."""
    around = {read, *_above(read, function)}
    path = [made, *_above(made, function)]
    inside = [node for node in path if isinstance(node, ast.stmt) and node not in around]
    loops = [node for node in path if isinstance(node, _LOOPS)]
    place = loops[-1] if loops else inside[-1] if inside else None
    while isinstance(place, ast.If) and _is_elif(place, function):
        parent = function.parents[place]
        assert isinstance(parent, ast.stmt)
        place = parent
    if not isinstance(place, _PLACES) or not function.begins_line(place):
        return None
    return place


def _above(node: ast.AST, function: CompiledFunction) -> list[ast.AST]:
    """What stands around a node, up to the function itself."""
    found: list[ast.AST] = []
    while (node := function.parents[node]) is not function.node:
        found.append(node)
    return found


def _is_elif(branch: ast.If, function: CompiledFunction) -> bool:
    return function.source.text.startswith("elif", function.source.span(branch)[0])

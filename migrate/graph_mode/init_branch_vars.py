"""A variable that only one branch makes and that is read behind it: the compiler wants it made
before.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator, Sequence

import libcst as cst

from migrate.graph_mode.init_loop_vars import names_in_front
from migrate.pipeline import becomes, declare
from migrate.pipeline.context import Context

_LEAVES = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_OWN_SCOPE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


@declare(
    phase="graph_mode",
    unit="function",
    needs=["compiled"],
    after={
        "continue_to_if": "what it moves into an `if` binds names there",
    },
    examples=[
        becomes(
            "if self.first:\n    h = x + 1\nx = h if self.first else x",
            "h = None\nif self.first:\n    h = x + 1\nx = h if self.first else x",
        ),
    ],
)
def init_branch_vars(function: cst.FunctionDef, text: str, context: Context) -> cst.FunctionDef:
    """`if first: y = f(x)`, then `g(y if first else x)`: `y = None` stands in front of the `if`."""
    if "if " not in text:
        return function
    tree = ast.parse(textwrap.dedent(text)).body[0]
    if not isinstance(tree, ast.FunctionDef):
        return function
    before_ifs, before_loops = _made_in_branches(tree)
    if before_ifs:
        function = names_in_front(function, before_ifs, cst.If)
    return names_in_front(function, before_loops, cst.For) if before_loops else function


def _made_in_branches(
    function: ast.FunctionDef,
) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
    """Names by the number of the `if`, and of the loop around it, in source order, in front of
    which they must be made.
    """
    numbers = {**_numbered(function, ast.If), **_numbered(function, ast.For)}
    known = {argument.arg for argument in ast.walk(function) if isinstance(argument, ast.arg)}
    wanted: dict[type, dict[int, list[str]]] = {ast.If: {}, ast.For: {}}
    for statement, behind, loop in _places(function.body, [], None):
        made = _stored(statement) if not isinstance(statement, ast.For | ast.While) else []
        if isinstance(statement, ast.If):
            place = loop or statement
            names = [
                name
                for name in made
                if name not in known
                and not _makes([statement], name)
                and _reads_first(behind, name)
            ]
            if names and isinstance(place, ast.If | ast.For):
                wanted[type(place)].setdefault(numbers[id(place)], []).extend(names)
        known.update(made)
    return wanted[ast.If], wanted[ast.For]


def _numbered(function: ast.FunctionDef, kind: type[ast.If] | type[ast.For]) -> dict[int, int]:
    found = [node for node in ast.walk(function) if isinstance(node, kind)]
    found.sort(key=lambda node: (node.lineno, node.col_offset))
    return {id(node): number for number, node in enumerate(found)}


def _places(
    block: list[ast.stmt], behind: Sequence[ast.stmt], loop: ast.stmt | None
) -> Iterator[tuple[ast.stmt, list[ast.stmt], ast.stmt | None]]:
    """Each statement in source order, with what runs behind it and the outermost loop around."""
    for index, statement in enumerate(block):
        after = [*block[index + 1 :], *behind]
        yield statement, after, loop
        if isinstance(statement, ast.If):
            yield from _places(statement.body, after, loop)
            yield from _places(statement.orelse, after, loop)
        elif isinstance(statement, ast.With):
            yield from _places(statement.body, after, loop)
        elif isinstance(statement, ast.For | ast.While):
            yield from _places(statement.body, after, loop or statement)


def _makes(block: Sequence[ast.stmt], name: str) -> bool:
    """Whether the name has a value, or the function is left, once these statements have run."""
    for statement in block:
        if isinstance(statement, _LEAVES):
            return True
        if isinstance(statement, ast.If):
            if _makes(statement.body, name) and _makes(statement.orelse, name):
                return True
        elif isinstance(statement, ast.With):
            if _makes(statement.body, name):
                return True
        elif not isinstance(statement, ast.For | ast.While | ast.Try) and name in _stored(
            statement
        ):
            return True
    return False


def _reads_first(block: Sequence[ast.stmt], name: str) -> bool:
    """Whether one of these statements reads the name before all ways have given it a value."""
    for statement in block:
        if _loads(statement, name) and not _makes_before_reading(statement, name):
            return True
        if _makes([statement], name):
            return False
    return False


def _makes_before_reading(statement: ast.stmt, name: str) -> bool:
    """A branch, or a loop, that gives the name a value before it reads it."""
    if isinstance(statement, ast.If):
        if _loads(statement.test, name):
            return False
        blocks = [statement.body, statement.orelse]
    elif isinstance(statement, ast.For) and not _loads(statement.iter, name):
        blocks = [statement.body]
    else:
        return False
    return not any(_reads_first(block, name) for block in blocks)


def _stored(node: ast.AST) -> list[str]:
    names = [
        part.id
        for part in _walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    ]
    return list(dict.fromkeys(names))


def _loads(node: ast.AST, name: str) -> bool:
    return any(
        (isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Load))
        or (isinstance(part, ast.AugAssign) and getattr(part.target, "id", "") == name)
        for part in ast.walk(node)
    )


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Of this scope only; variables of comprehensions are their own."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (*_OWN_SCOPE, ast.comprehension)):
            yield from _walk(child)

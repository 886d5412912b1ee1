"""Trees are heavy: of modules looked at long ago, only what their outline needs is kept.

The bodies of functions are three quarters of a tree. They go first, and come back one by one from
the file when a call leads into them again.
"""

from __future__ import annotations

import ast

from migrate.project import ReadProblem, SourceFile
from migrate.resolve.module_index import Function, functions_in, text_of
from migrate.syntax.ast_index import forget_index


def evict_bodies(tree: ast.Module) -> int:
    """Take the bodies out; gives the number of lines they had. An empty body marks the loss."""
    lines = 0
    forget_index(tree)
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef):
            forget_index(statement)
    for function in functions_in(tree.body):
        forget_index(function)
        if function.body:
            lines += (function.end_lineno or 0) - function.body[0].lineno + 1
            function.body = []
    return lines


def restore(function: Function, source: SourceFile) -> int:
    """Read one body again; gives its number of lines. A file that changed meanwhile has none."""
    try:
        lines = text_of(source)[1][function.lineno - 1 : function.end_lineno]
        # Under an `if` the definition may be indented as it stands in the file.
        head = "if 1:\n" if function.col_offset else ""
        found = next(functions_in(ast.parse(head + "\n".join(lines)).body), None)
    except (ReadProblem, SyntaxError, ValueError):
        found = None
    forget_index(function)
    function.body = (
        found.body if found is not None and found.name == function.name else [ast.Pass()]
    )
    return len(lines) if found is not None else 0

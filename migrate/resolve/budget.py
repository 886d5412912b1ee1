"""How much interpretation a file may take, in statements and expressions: a slow machine gives the
same answer.
"""

from __future__ import annotations

import ast

from migrate.findings import make_finding
from migrate.project import ReadProblem, SourceFile
from migrate.syntax.ast_index import all_nodes

# A function is looked at a few times, and those that it calls in other files once: torchvision's
# models take 3 steps a line at most.
STEPS_AT_LEAST = 200_000
STEPS_A_LINE = 100
# One statement may hold any number of expressions; written by hand, a line has a handful.
EXPRESSIONS_AT_LEAST = 100_000
EXPRESSIONS_A_LINE = 40
_SHORTEST = 3  # characters: `a.b`, `f()`
# Large tables of numbers cost next to nothing.
_DATA = (ast.Constant, ast.Name, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.UnaryOp)


class BudgetSpent(ReadProblem):
    """What is not interpreted might use torch: the file is left as it is, and named."""

    def __init__(self, source: SourceFile) -> None:
        reason = "takes too many steps to interpret; the file was left as it is"
        step = "split the file, or leave generated code out"
        super().__init__(make_finding("MS212", source.path, reason, step))


def steps_for(lines: int) -> int:
    return max(STEPS_AT_LEAST, STEPS_A_LINE * lines)


def check_expressions(source: SourceFile, tree: ast.Module, text: str, lines: int) -> None:
    """Refuse a file with more expressions than its lines are worth."""
    most = max(EXPRESSIONS_AT_LEAST, EXPRESSIONS_A_LINE * lines)
    if len(text) < _SHORTEST * most:
        return
    nodes = (node for node in all_nodes(tree) if isinstance(node, ast.expr))
    if sum(1 for node in nodes if not isinstance(node, _DATA)) > most:
        raise BudgetSpent(source)

"""`denom = v.add_(eps).sqrt() / c`: a change in place in the middle of an expression gets a line in
front of the statement, where nothing is computed before it.
"""

from __future__ import annotations

import ast
from typing import Any

import libcst as cst

from migrate.pipeline import becomes, declare, flags
from migrate.pipeline.context import Context
from migrate.pipeline.refusal import Refusal
from migrate.resolve.values import FLOAT, INT, NUMBER, External, options_of
from migrate.rewrite.effects import Change, Effects
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.rewrite.tensors.aliases import is_read_beside, seen_by
from migrate.rewrite.tensors.changed_statements import ChangedStatements
from migrate.rewrite.tensors.mutation_scope import MutationScope
from migrate.syntax.ast_index import all_nodes, child_nodes, parents_of

_PATHS = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Slice)
_LOOKED_UP = (*_PATHS, ast.Tuple, ast.List, ast.keyword, ast.expr_context, ast.operator)
# Their parts are computed under a condition, more than once, or later.
_APART = (
    *(ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
    *(ast.IfExp, ast.BoolOp, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Compare),
)


@declare(
    phase="rewrite",
    unit="node",
    needs=["usages", "types", "aliases"],
    after={"writes": "a change that is a statement, or all of a value, is written there"},
    examples=[
        becomes("z = x.add_(y).sqrt()\nx = x + z", "x = x.add(y)\nz = x.sqrt()\nx = x + z"),
        becomes("z = y / x.add_(y)\nx = x + z", "x = x.add(y)\nz = y / x\nx = x + z"),
        flags(
            "z = x.exp() / x.add_(y)\nx = x + z",
            "changes x in place in the middle of an expression",
        ),
    ],
)
class NestedChanges(NodePass):
    """Writes, or reports, what no statement has rebound."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._effects = file.shared(Effects)
        self._scope = file.shared(MutationScope)
        self._statements = file.shared(ChangedStatements)

    def leave_SimpleStatementLine(self, original: cst.SimpleStatementLine, updated: Any) -> Any:
        changes, self._effects.in_place = self._effects.in_place, {}
        done: set[ast.AST] = set()
        for value, change in changes.items():
            if not self._matters(change):
                continue
            call = _call_of(change.place, self.context)
            alone = isinstance(updated, cst.SimpleStatementLine) and len(original.body) == 1
            first = call is not None and comes_first(call, done, self.context)
            if call is None or not (alone and first and _holds(updated, value)):
                self._flag(change)
                continue
            line = self._statements.written(change, self._effects.bare(value), cst.Expr(value))
            self._effects.lines.append(line)
            changed = self._effects.gathered.get(change.tensor, change.tensor)
            updated = updated.deep_replace(value, changed)
            done.add(call)
        return updated

    def _matters(self, change: Change) -> bool:
        """Someone reads later what the expression changes."""
        place = change.place
        return (
            isinstance(place, ast.Attribute)
            or bool(seen_by(place, self.context))
            or is_read_beside(place, self.context)
            or self._scope.is_read_later(place)
        )

    def _flag(self, change: Change) -> None:
        """`y = x.exp() + x.add_(1)`: the change would be lost to those who read x later."""
        text = ast.unparse(change.place)
        reason = f"changes {text} in place in the middle of an expression"
        usage = change.usage
        step = f"write {text} = ... on a line before"
        self.flag(change.place, Refusal(reason, step, "MS403"), usage.api if usage else "")


def _call_of(place: ast.expr, context: Context) -> ast.Call | None:
    """The outermost change of a chain: `v.mul_(b).add_(g)` of its v."""
    if not all(isinstance(node, _LOOKED_UP) for node in all_nodes(place)):
        return None
    parents = parents_of(context.tree)
    found: ast.Call | None = None
    node: ast.AST = place
    while True:
        attribute = parents.get(node)
        call = parents.get(attribute) if attribute is not None else None
        if isinstance(attribute, ast.Call) and _names_change(attribute.func):
            call = attribute if node in attribute.args[:1] else None  # `relu_(x)`
        elif not (isinstance(attribute, ast.Attribute) and attribute.attr.endswith("_")):
            return found
        if not isinstance(call, ast.Call):
            return found
        found = node = call


def _names_change(function: ast.expr) -> bool:
    name = getattr(function, "attr", getattr(function, "id", ""))
    return isinstance(name, str) and name.endswith("_")


def _holds(node: cst.CSTNode, part: cst.CSTNode) -> bool:
    return node is part or any(_holds(child, part) for child in node.children)


def comes_first(call: ast.Call, done: set[ast.AST], context: Context) -> bool:
    """Nothing that depends on tensors is computed before it in its statement."""
    parents = parents_of(context.tree)
    node: ast.AST = call
    while not isinstance(node, ast.stmt):
        parent = parents[node]
        if isinstance(parent, _APART):
            return False
        if not isinstance(parent, ast.stmt):
            before = child_nodes(parent)
            before = before[: before.index(node)]
            if not all(_is_looked_up(one, done, context) for one in before):
                return False
        node = parent
    return isinstance(node, (ast.Assign, ast.Expr, ast.Return, ast.AugAssign, ast.AnnAssign))


def _is_looked_up(node: ast.AST, done: set[ast.AST], context: Context) -> bool:
    """Names and items, whose tensors are the ones that are changed; what has gone in front; and
    what is computed from numbers.
    """
    if node in done:
        return True
    if isinstance(node, ast.Call | ast.BinOp) and _is_of_numbers(node, context):
        return True
    return isinstance(node, _LOOKED_UP) and all(
        _is_looked_up(part, done, context) for part in child_nodes(node)
    )


def _is_of_numbers(node: ast.AST, context: Context) -> bool:
    names = [name for name in all_nodes(node) if isinstance(name, ast.Name)]
    options = [option for name in names for option in options_of(context.type(name))]
    return bool(options) and all(
        option in (INT, FLOAT, NUMBER) or isinstance(option, External) for option in options
    )

"""Whether a name, or a member like `self.optimizer`, has a value at a statement of a function that
itself gives it one.
"""

from __future__ import annotations

import ast

from migrate.flow.function import FunctionFlow
from migrate.flow.names import binds
from migrate.syntax.ast_index import all_nodes


def is_made_later(name: str, statement: ast.stmt, flow: FunctionFlow) -> bool:
    """The function binds the name, but on no way to the statement."""
    known = flow.cfg.has(statement) and bool(flow.defuse.definitions(name))
    return known and not flow.defuse.reaching_at(statement, name)


def may_lack(name: str, statement: ast.stmt, flow: FunctionFlow) -> bool:
    """Some way to the statement does not bind what the function binds elsewhere."""
    if name.isidentifier():
        return flow.defuse.maybe_unbound_at(statement, name)
    makers = [node for node in _assignments(flow.cfg.scope, name) if flow.cfg.has(node)]
    return bool(makers) and flow.cfg.avoids(makers, statement)


def is_made_in(part: ast.AST, name: str) -> bool:
    """A statement below gives the name or the member a value."""
    return name in binds(part) if name.isidentifier() else bool(_assignments(part, name))


def _assignments(part: ast.AST, name: str) -> list[ast.Assign | ast.AnnAssign]:
    return [
        node
        for node in all_nodes(part)
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        and any(name == ast.unparse(target) for target in _targets(node))
    ]


def _targets(node: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [
        part
        for target in targets
        for part in (target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target])
    ]

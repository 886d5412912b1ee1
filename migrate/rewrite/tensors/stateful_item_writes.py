"""Parts of tensors that a Cell keeps: `self.queue[:, i:j] = keys` in code that may be compiled.

Graph mode ignores such a change, and keeps what is assigned to the attribute itself. The index
stays as it is written: a slice that is passed on as a value would leave the compiled graph.
"""

from __future__ import annotations

import ast
from typing import Any

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.rewrite.calls.call_sites import CallSites
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.rewrite.tensors.stateful_attrs import is_kept_tensor
from migrate.syntax.ast_index import all_nodes
from migrate.syntax.text import code

_Write = cst.Assign | cst.AugAssign


@declare(
    phase="rewrite",
    unit="node",
    needs=["types", "compiled"],
    after={"markers": "the first of the statements that it writes has the comments"},
    examples=[
        becomes(
            """
            class Queue(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.register_buffer("queue", torch.zeros(4))

                def forward(self, x):
                    self.queue[:2] = x
                    return self.queue.sum()
            """,
            """
            class Queue(nn.Cell):
                def __init__(self):
                    super().__init__()
                    self.queue = helpers.buffer(ops.zeros(4), 'queue')

                def construct(self, x):
                    queue = self.queue.value().copy()
                    queue[:2] = x
                    self.queue = queue
                    return self.queue.sum()
            """,
        ),
    ],
)
class StatefulItemWrites(NodePass):
    """Changes a copy, and puts the copy in the tensor's place."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._sites = file.shared(CallSites)

    def leave_SimpleStatementLine(
        self, original: cst.SimpleStatementLine, updated: cst.SimpleStatementLine
    ) -> Any:
        if not self._changes_part(original, updated):
            return updated
        return cst.FlattenSentinel(self._in_a_copy(updated))

    def _changes_part(
        self, original: cst.SimpleStatementLine, updated: cst.SimpleStatementLine
    ) -> bool:
        target = _target(updated)
        name = getattr(self.function, "name", "__init__")
        if not isinstance(target, cst.Subscript) or name == "__init__":
            return False
        kept = target.value
        if not isinstance(kept, cst.Attribute) or code(kept.value) != "self":
            return False
        if kept.attr.value in self._sites.stateful.values():
            return True
        statement = self.partner(original.body[0])
        if statement is None or not self.is_compiled(self.function):
            return False
        return any(
            ast.unparse(node) == code(kept) and is_kept_tensor(node, self.context)
            for node in all_nodes(statement)
            if isinstance(node, ast.Attribute)
        )

    def _in_a_copy(self, node: cst.SimpleStatementLine) -> list[Any]:
        """The three statements for one."""
        small, target = node.body[0], _target(node)
        assert isinstance(target, cst.Subscript) and isinstance(target.value, cst.Attribute)
        name = self._free_name(target.value.attr.value)
        kept = code(target.value)
        local = target.with_changes(value=cst.Name(name))
        changed = (
            small.with_changes(targets=[small.targets[0].with_changes(target=local)])
            if isinstance(small, cst.Assign)
            else small.with_changes(target=local)
        )
        first = cst.parse_statement(f"{name} = {kept}.value().copy()")
        assert isinstance(first, cst.SimpleStatementLine)
        return [
            first.with_changes(leading_lines=node.leading_lines),
            node.with_changes(body=[changed], leading_lines=[]),
            cst.parse_statement(f"{kept} = {name}"),
        ]

    def _free_name(self, wanted: str) -> str:
        """A name that the function does not use."""
        around = all_nodes(self.function or ast.Module([], []))
        used = {node.id for node in around if isinstance(node, ast.Name)}
        while wanted in used:
            wanted = f"new_{wanted}"
        return wanted


def _target(node: cst.SimpleStatementLine) -> cst.BaseExpression | None:
    small = node.body[0] if len(node.body) == 1 else None
    if isinstance(small, cst.Assign) and len(small.targets) == 1:
        return small.targets[0].target
    return small.target if isinstance(small, cst.AugAssign) else None

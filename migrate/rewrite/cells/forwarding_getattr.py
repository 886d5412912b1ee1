"""`def __getattr__(self, name)` that looks in `self.module`: before it puts the layer there,
MindSpore asks `hasattr(self, "module")`, and the method asks for it again, and again.

torch sets a layer without asking. What the method itself reads is asked of nn.Cell alone.
"""

from __future__ import annotations

import ast

import libcst as cst

from migrate.pipeline import becomes, declare, same
from migrate.rewrite.node_pass import NodePass
from migrate.syntax.access import is_read, name_of


@declare(
    phase="rewrite",
    unit="node",
    needs=["classes"],
    examples=[
        becomes(
            """
            class Wrapper(nn.Module):
                def __getattr__(self, name):
                    try:
                        return super().__getattr__(name)
                    except AttributeError:
                        return getattr(self.module, name)
            """,
            """
            class Wrapper(nn.Cell):
                def __getattr__(self, name):
                    if name == "module":  # MindSpore asks for it before it is there
                        return nn.Cell.__getattr__(self, name)
                    try:
                        return super().__getattr__(name)
                    except AttributeError:
                        return getattr(self.module, name)
            """,
        ),
        same(
            "class A:\n    def __getattr__(self, name):\n        return getattr(self.inner, name)"
        ),
    ],
)
class ForwardingGetattr(NodePass):
    """The method begins with what it must not forward."""

    def leave_FunctionDef(
        self, original: cst.FunctionDef, updated: cst.BaseStatement
    ) -> cst.BaseStatement:
        method = self.partner(original)
        if (
            original.name.value != "__getattr__"
            or not isinstance(method, ast.FunctionDef)
            or not isinstance(updated, cst.FunctionDef)
            or not isinstance(updated.body, cst.IndentedBlock)
            or len(method.args.args) != 2
            or not self.file.position.classes
            or self.file.position.classes[-1] not in self.context.module_classes
        ):
            return updated
        owner, name = (argument.arg for argument in method.args.args)
        read = _read_of(method, owner)
        if not read:
            return updated
        self.context.edited_lines.add(method.lineno)
        named = f'== "{read[0]}"' if len(read) == 1 else f"in {tuple(read)}".replace("'", '"')
        cell = self.spelling.name("mindspore.nn.Cell")
        guard = cst.parse_statement(
            f"if {name} {named}:  # MindSpore asks for it before it is there\n"
            f"    return {cell}.__getattr__({owner}, {name})\n"
        )
        body = list(updated.body.body)
        at = 1 if updated.get_docstring() is not None else 0
        return updated.with_changes(
            body=updated.body.with_changes(body=[*body[:at], guard, *body[at:]])
        )


def _read_of(method: ast.FunctionDef, owner: str) -> list[str]:
    """The attributes of the object that the method reads: not `self.__dict__`."""
    found = {
        node.attr: None
        for node in ast.walk(method)
        if isinstance(node, ast.Attribute)
        and is_read(node)
        and name_of(node.value) == owner
        and not node.attr.startswith("__")
    }
    return [name for name in found if name not in ("_parameters", "_modules", "_buffers")]

"""Uses of containers that Graph mode would get wrong.

A compiled construct iterates over no Cell, and what a Cell's `__getitem__` or `__iter__` gives is a
constant to it: a Parameter reached that way gets no gradient. Plain methods are compiled.
"""

from __future__ import annotations

import ast

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.resolve.values import Instance, ProjectClass, options_of
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.syntax.nodes import atomic, expression, one_of_list, with_parts
from migrate.syntax.text import code

_ITERATED = {
    "torch.nn.ModuleDict": "keys",
    "torch.nn.ParameterDict": "keys",
    "torch.nn.ParameterList": "values",
}
_READS_ALL = frozenset({"enumerate", "list", "reversed", "sum", "tuple", "zip"})


@declare(
    phase="rewrite",
    unit="node",
    needs=["types"],
    after={"strided_slices": "an element of a tensor is none of a container"},
    examples=[
        becomes(
            """
            class Scales(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.scales = nn.ParameterList([nn.Parameter(torch.ones(2))])

                def forward(self, x):
                    for scale in self.scales:
                        x = x * scale
                    return x + self.scales[0]
            """,
            """
            class Scales(nn.Cell):
                def __init__(self):
                    super().__init__()
                    self.scales = helpers.ParameterList([Parameter(ops.ones(2))])

                def construct(self, x):
                    for scale in self.scales.values():
                        x = x * scale
                    return x + self.scales.values()[0]
            """,
        ),
    ],
)
class ContainerUses(NodePass):
    """Reads containers by their methods."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._written_items: set[cst.CSTNode] = set()  # `p["a"]` where it is assigned to

    def leave_For(self, original: cst.For, updated: cst.For) -> cst.For:
        return with_parts(updated, iter=self._iterated(original.iter, updated.iter))

    def leave_CompFor(self, original: cst.CompFor, updated: cst.CompFor) -> cst.CompFor:
        return with_parts(updated, iter=self._iterated(original.iter, updated.iter))

    def propose_Subscript(
        self, original: cst.Subscript, updated: cst.Subscript
    ) -> cst.BaseExpression | None:
        kind = self._container(original.value)
        if kind == "torch.nn.ParameterList":
            return updated.with_changes(value=_method(updated.value, "values"))
        index = updated.slice[0].slice
        if kind == "torch.nn.ParameterDict" and isinstance(index, cst.Index):
            if original in self._written_items:
                return updated
            return _method(updated.value, "get", index.value)
        return one_of_list(updated) if original.value is not updated.value else None

    def leave_Call(self, original: cst.Call, updated: cst.BaseExpression) -> cst.BaseExpression:
        partner = self.partner(original)
        if not isinstance(partner, ast.Call) or getattr(partner.func, "id", "") not in _READS_ALL:
            return updated
        if not isinstance(updated, cst.Call) or len(updated.args) != len(original.args):
            return updated
        arguments = [
            with_parts(new, value=self._iterated(old.value, new.value))
            for old, new in zip(original.args, updated.args, strict=True)
        ]
        return with_parts(updated, args=arguments)

    def visit_AssignTarget(self, node: cst.AssignTarget) -> None:
        if isinstance(node.target, cst.Subscript):
            self._written_items.add(node.target)

    def visit_Del(self, node: cst.Del) -> None:
        if isinstance(node.target, cst.Subscript):
            self._written_items.add(node.target)

    def propose_Del(self, original: cst.Del, updated: cst.Del) -> cst.Expr | None:
        """`del net.features[-1]`: torch numbers the layers that are left, MindSpore keeps names."""
        place, new = original.target, updated.target
        if not isinstance(place, cst.Subscript) or not isinstance(new, cst.Subscript):
            return None
        kinds = options_of(self.context.type(self.partner(place.value)))
        layers = all(isinstance(k, Instance) and k.cls == "torch.nn.Sequential" for k in kinds)
        index = new.slice[0].slice
        if not kinds or not layers or len(new.slice) != 1 or not isinstance(index, cst.Index):
            return None
        function = self.spelling.name("helpers.delete_layer")
        return cst.Expr(expression(f"{function}({code(new.value)}, {code(index.value)})"))

    def _iterated(
        self, original: cst.BaseExpression, updated: cst.BaseExpression
    ) -> cst.BaseExpression:
        name = _ITERATED.get(self._container(original), "")
        return _method(updated, name) if name else updated

    def _container(self, node: cst.BaseExpression) -> str:
        """The torch class of a container, if the value is surely one."""
        found = set()
        for option in options_of(self.context.type(self.partner(node))):
            if not isinstance(option, Instance):
                return ""
            cls = option.cls
            bases = cls.library_bases() if isinstance(cls, ProjectClass) else (cls,)
            found.add(next((base for base in bases if base in _ITERATED), ""))
        return found.pop() if len(found) == 1 else ""


def _method(value: cst.BaseExpression, name: str, *arguments: cst.BaseExpression) -> cst.Call:
    return cst.Call(
        func=cst.Attribute(value=atomic(value), attr=cst.Name(name)),
        args=[cst.Arg(argument) for argument in arguments],
    )

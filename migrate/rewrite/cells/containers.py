"""Uses of containers that Graph mode would get wrong.

A compiled construct iterates over no Cell, and what a Cell's `__getitem__` or `__iter__` gives is a
constant to it: a Parameter reached that way gets no gradient. Plain methods are compiled.
"""

from __future__ import annotations

import ast

import libcst as cst

from migrate.resolve.values import Instance, ProjectClass, options_of
from migrate.rewrite.calls.rewrite import CallRewriter
from migrate.syntax.nodes import atomic, expression, one_of_list, with_parts
from migrate.syntax.text import code

_ITERATED = {
    "torch.nn.ModuleDict": "keys",
    "torch.nn.ParameterDict": "keys",
    "torch.nn.ParameterList": "values",
}
_READS_ALL = frozenset({"enumerate", "list", "reversed", "sum", "tuple", "zip"})


class ContainerUses(CallRewriter):
    """Reads containers by their methods."""

    def leave_For(self, original_node: cst.For, updated_node: cst.For) -> cst.For:
        return with_parts(updated_node, iter=self._iterated(original_node.iter, updated_node.iter))

    def leave_CompFor(self, original_node: cst.CompFor, updated_node: cst.CompFor) -> cst.CompFor:
        return with_parts(updated_node, iter=self._iterated(original_node.iter, updated_node.iter))

    def leave_Subscript(
        self, original_node: cst.Subscript, updated_node: cst.Subscript
    ) -> cst.BaseExpression:
        kind = self._container(original_node.value)
        if kind == "torch.nn.ParameterList":
            return updated_node.with_changes(value=_method(updated_node.value, "values"))
        index = updated_node.slice[0].slice
        if kind == "torch.nn.ParameterDict" and isinstance(index, cst.Index):
            if self._is_written(original_node):
                return updated_node
            return _method(updated_node.value, "get", index.value)
        if original_node.value is not updated_node.value:
            return one_of_list(updated_node)
        return updated_node

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        partner = self.partner(original_node)
        if isinstance(partner, ast.Call) and getattr(partner.func, "id", "") in _READS_ALL:
            arguments = [
                with_parts(new, value=self._iterated(old.value, new.value))
                for old, new in zip(original_node.args, updated_node.args, strict=True)
            ]
            if [a.value for a in arguments] != [a.value for a in updated_node.args]:
                updated_node = updated_node.with_changes(args=arguments)
        return super().leave_Call(original_node, updated_node)

    def visit_AssignTarget(self, node: cst.AssignTarget) -> None:
        if isinstance(node.target, cst.Subscript):
            self._written_items.add(id(node.target))

    def visit_Del(self, node: cst.Del) -> None:
        if isinstance(node.target, cst.Subscript):
            self._written_items.add(id(node.target))

    def leave_Del(
        self, original_node: cst.Del, updated_node: cst.Del
    ) -> cst.Del | cst.Expr | cst.RemovalSentinel:
        """`del net.features[-1]`: torch numbers the layers that are left, MindSpore keeps names."""
        place, new = original_node.target, updated_node.target
        if not isinstance(place, cst.Subscript) or not isinstance(new, cst.Subscript):
            return updated_node
        kinds = options_of(self.context.type(self.partner(place.value)))
        layers = all(isinstance(k, Instance) and k.cls == "torch.nn.Sequential" for k in kinds)
        index = new.slice[0].slice
        if not kinds or not layers or len(new.slice) != 1 or not isinstance(index, cst.Index):
            return updated_node
        function = self.spelling.name("helpers.delete_layer")
        return cst.Expr(expression(f"{function}({code(new.value)}, {code(index.value)})"))

    def _is_written(self, node: cst.Subscript) -> bool:
        return id(node) in self._written_items

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

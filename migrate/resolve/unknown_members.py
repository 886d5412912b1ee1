"""Members of a value that nothing is known of: what names and calls betray."""

from __future__ import annotations

import ast

from migrate.resolve.members import Members, all_ancestors
from migrate.resolve.method_calls import could_be_method
from migrate.resolve.module_names import MODULE_METHODS, says_module
from migrate.resolve.tensor_names import DISTINCTIVE, PYTHON_METHODS, says_tensor
from migrate.resolve.training_names import says_training
from migrate.resolve.values import (
    MODULE,
    PARAMETER,
    TENSOR,
    UNKNOWN,
    ListOf,
    Value,
    instance,
    is_tensor,
)
from migrate.syntax.access import name_of

_NORMS_OWN = frozenset({"running_mean", "running_var"})


def _is_self(node: ast.expr) -> bool:
    return name_of(node) == "self"


class UnknownMembers(Members):
    """The members that Members leaves open."""

    def _as_member_of(self, cls: str, kind: Value, node: ast.Attribute, form: str) -> Value:
        """Take the unknown value for one of a class from here on."""
        value, api = self.of_library(cls, node.attr, kind)
        self.believe(node.value, kind)
        self.record(node, api, "call" if form == "call" else "attribute")
        return value

    def _is_surely_tensors(self, node: ast.Attribute, called: ast.Call | None) -> bool:
        """Whether only a tensor has this member, or the call can only mean a tensor's."""
        name = node.attr
        if isinstance(node.value, ast.Name) and name in self.module.own_methods:
            return False
        if name in DISTINCTIVE:
            return True
        if called is None or not self._is_tensor_method(name):
            return False
        return says_tensor(called) or (
            self._inside_module()
            and name not in PYTHON_METHODS
            and not self._is_called_here(node.value)
        )

    def of_unknown(self, node: ast.Attribute, form: str) -> Value:
        """A method on something unknown: a tensor if only tensors have it, or if a Module's
        method says so.
        """
        name = node.attr
        if self.module.ported:
            return UNKNOWN
        if name in ("saved_tensors", "saved_variables"):
            return ListOf(TENSOR, "tuple")  # of the context of a custom gradient
        called = self.calling.get(node)
        training = says_training(node, form)
        if training:
            return self._as_member_of(training, instance(training), node, form)
        fits = called is None or self._could_be_tensors(name, called)
        if fits and self._is_surely_tensors(node, called):
            # Of an unknown value this is asked where parameters are chosen or frozen.
            asks = name == "requires_grad"
            cls, kind = ("torch.nn.Parameter", PARAMETER) if asks else ("torch.Tensor", TENSOR)
            return self._as_member_of(cls, kind, node, form)
        if name in _NORMS_OWN and isinstance(node.ctx, ast.Load) and not _is_self(node.value):
            self.record(node, f"torch.nn.Module.{name}", "attribute")  # its helper takes anything
            return UNKNOWN
        return self._of_unknown_module(node, form, fits)

    def _of_unknown_module(self, node: ast.Attribute, form: str, fits: bool) -> Value:
        """A Module's where the value is called as one; else it may be a Module's or a tensor's."""
        name = node.attr
        asked = form == "call" or name == "_modules"  # nothing else has such a member
        row = self.table.get(f"torch.nn.Module.{name}") if asked else None
        if row is not None and (self._is_called_here(node.value) or says_module(node)):
            return self._as_member_of("torch.nn.Module", MODULE, node, form)
        if row is not None and name in MODULE_METHODS:
            self.record(node, f"torch.nn.Module.{name}", "unknown")
        elif (
            form == "call" and fits and name not in PYTHON_METHODS and self._is_tensor_method(name)
        ):
            self.record(node, f"torch.Tensor.{name}", "unknown")
        return UNKNOWN

    def _could_be_tensors(self, name: str, call: ast.Call) -> bool:
        """The arguments are such that torch's method of this name could take them."""
        entry = self.table.get(f"torch.Tensor.{name}")
        if entry is None:
            return True
        if entry.kind != "method":  # `node.is_leaf()`: torch's is no method
            return False
        return could_be_method(
            entry,
            call,
            lambda given: isinstance(given, ast.Name) and is_tensor(self.lookup(given.id)[0]),
        )

    def _is_called_here(self, node: ast.expr) -> bool:
        """`model.eval()` where `model(x)` stands in the same function, or in another method of
        the class.
        """
        function = self.frame.function
        if function is None or not isinstance(node, (ast.Name, ast.Attribute)):
            return False
        around: ast.AST = function.node
        if isinstance(node, ast.Attribute) and function.owner is not None:
            around = function.owner.node
        called = self._called.get(around)
        if called is None:
            called = self._called[around] = {
                ast.unparse(part.func)
                for part in ast.walk(around)
                if isinstance(part, ast.Call) and isinstance(part.func, (ast.Name, ast.Attribute))
            }
        return ast.unparse(node) in called

    def _is_tensor_method(self, name: str) -> bool:
        return self.table.get(f"torch.Tensor.{name}") is not None

    def _inside_module(self) -> bool:
        """In a method of an nn.Module that computes: there, an unknown value with tensor methods
        is a tensor.
        """
        function = self.frame.function
        return (
            function is not None
            and function.owner is not None
            and not function.qualified.endswith("__init__")
            and "torch.nn.Module" in all_ancestors(function.owner)
        )

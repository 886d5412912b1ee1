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


class UnknownMembers(Members):
    """The members that Members leaves open."""

    def of_unknown(self, node: ast.Attribute, form: str) -> Value:
        """A method on something unknown: a tensor if only tensors have it, or if a Module's
        method says so.
        """
        name = node.attr
        if name in ("saved_tensors", "saved_variables"):
            return ListOf(TENSOR, "tuple")  # of the context of a custom gradient
        called = self.calling.get(node)
        training = says_training(node, form)
        if training:
            value, api = self.of_library(training, name, instance(training))
            self.believe(node.value, instance(training))
            self.record(node, api, "call" if form == "call" else "attribute")
            return value
        fits = called is None or self._could_be_tensors(name, called)
        if (name in DISTINCTIVE and fits) or (
            called is not None
            and fits
            and self._is_tensor_method(name)
            and (
                says_tensor(called)
                or (
                    self._inside_module()
                    and name not in PYTHON_METHODS
                    and not self._is_called_here(node.value)
                )
            )
        ):
            # Of an unknown value this is asked where parameters are chosen or frozen.
            asks = name == "requires_grad"
            cls, kind = ("torch.nn.Parameter", PARAMETER) if asks else ("torch.Tensor", TENSOR)
            self.believe(node.value, kind)
            value, api = self.of_library(cls, name, kind)
            self.record(node, api, "call" if form == "call" else "attribute")
            return value
        row = self.table.get(f"torch.nn.Module.{name}") if form == "call" else None
        if name == "_modules":  # nothing else has such a member
            row = self.table.get("torch.nn.Module._modules")
        if row is not None and (self._is_called_here(node.value) or says_module(node)):
            self.believe(node.value, MODULE)
            value, api = self.of_library("torch.nn.Module", name, MODULE)
            self.record(node, api, "call" if form == "call" else "attribute")
            return value
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
        if entry is None or entry.kind != "method":
            return True
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
        if function is None or not isinstance(node, ast.Name | ast.Attribute):
            return False
        around: ast.AST = function.node
        if isinstance(node, ast.Attribute) and function.owner is not None:
            around = function.owner.node
        called = self._called.get(around)
        if called is None:
            called = self._called[around] = {
                ast.unparse(part.func)
                for part in ast.walk(around)
                if isinstance(part, ast.Call) and isinstance(part.func, ast.Name | ast.Attribute)
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

"""Where gradients flow: which values carry one, and which code is recorded."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from migrate.flow.answer import Verdict, no, unknown, yes
from migrate.flow.events import Definition
from migrate.flow.gradient_reads import CUTTING, CUTTING_ATTRIBUTES, reads_with_gradient
from migrate.resolve.values import (
    PARAMETER,
    UNKNOWN,
    Instance,
    Known,
    ListOf,
    ProjectClass,
    ProjectFunction,
    Value,
    options_of,
)
from migrate.syntax.ast_index import all_nodes, child_nodes, nodes_of, remembered

if TYPE_CHECKING:
    from migrate.flow import Flow
    from migrate.flow.function import FunctionFlow

# Tensors made of numbers alone.
_CREATED = frozenset(
    """
    arange as_tensor empty empty_like eye from_numpy full full_like linspace logspace new_empty
    new_full new_ones new_tensor new_zeros ones ones_like rand rand_like randint randint_like randn
    randn_like randperm tensor zeros zeros_like load FloatTensor LongTensor IntTensor Tensor
    """.split()  # noqa: SIM905
)
_NO_GRAD = ("torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad")
_PLAIN = ("builtins.", "torch.dtype", "torch.device", "numpy.")
_DEEPEST = 24
BY_LAYER = yes("a layer computes it")


def _runs_backward(scope: ast.AST) -> bool:
    return any(getattr(part, "attr", "") == "backward" for part in all_nodes(scope))


class Gradient:
    """Asked by everyone who moves, cuts or rewrites differentiated code."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._carries: dict[ast.AST, Verdict] = {}
        self._depth = 0

    # Code ---------------------------------------------------------------------------------------

    def is_recorded(self, node: ast.AST) -> Verdict:
        """Do gradients flow through the results of the code at this node?"""
        if node in self._stopped:
            return no("gradients are switched off here")
        around = self._flow.around(node)
        scope = around.node if around is not None else None
        if scope is None:
            return unknown("the code is in another file")
        if scope in self._differentiated:
            return yes("a forward computes with it")
        if remembered(scope, _runs_backward):
            return yes("a training step stands in the same function")
        return unknown("whether gradients are taken of it is not known")

    @cached_property
    def _stopped(self) -> set[ast.AST]:
        """The nodes inside `with torch.no_grad()` and in functions decorated so."""
        found: set[ast.AST] = set()
        for node in nodes_of(self._flow.tree, ast.With, ast.AsyncWith):
            if any(self._switches_off(item.context_expr) for item in node.items):
                found |= {part for statement in node.body for part in all_nodes(statement)}
        for node in nodes_of(self._flow.tree, ast.FunctionDef, ast.AsyncFunctionDef):
            if any(map(self._switches_off, node.decorator_list)):
                found |= set(all_nodes(node))
        return found | self._optimizer_code()

    def _optimizer_code(self) -> set[ast.AST]:
        """The methods of an optimizer of the program: torch would refuse to record what they do to
        the weights, which are leaves.
        """
        scope = self._flow.symbols.scope
        return {
            part
            for cls in (scope.classes if scope is not None else ())
            if "torch.optim.Optimizer" in map(_public, cls.library_bases())
            for part in all_nodes(cls.node)
        }

    def _switches_off(self, node: ast.expr) -> bool:
        called = node.func if isinstance(node, ast.Call) else node
        api = self._flow.symbols.api(called)
        if api == "torch.set_grad_enabled" and isinstance(node, ast.Call) and node.args:
            return isinstance(node.args[0], ast.Constant) and node.args[0].value is False
        return api in _NO_GRAD

    @cached_property
    def _differentiated(self) -> set[ast.AST]:
        """The functions that a forward of this file runs, forward included."""
        scope = self._flow.symbols.scope
        roots = []
        for cls in scope.classes if scope is not None else ():
            forward = cls.body.get("forward")
            if isinstance(forward, ProjectFunction):
                roots.append(forward)
        return {function.node for function in self._flow.calls.reachable(roots)}

    # Values -------------------------------------------------------------------------------------

    def carries(self, node: ast.expr) -> Verdict:
        """May a gradient flow through this value?"""
        known = self._carries.get(node)
        if known is not None:
            return known
        if self._depth > _DEEPEST:
            return unknown("the value is computed in too many steps")
        self._carries[node] = no()  # a value that depends on itself adds nothing
        self._depth += 1
        try:
            known = self._find(node)
        finally:
            self._depth -= 1
        self._carries[node] = known
        return known

    def _find(self, node: ast.expr) -> Verdict:
        kind = self._flow.symbols.type(node)
        if any(option is PARAMETER for option in options_of(kind)):
            return yes(f"{ast.unparse(node)} is a Parameter")
        if node in self._stopped or isinstance(node, (ast.Constant, ast.Compare, ast.Lambda)):
            return no()
        if kind is not UNKNOWN and all(map(_is_plain, options_of(kind))):
            return no()
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.Attribute):
            if node.attr in CUTTING_ATTRIBUTES:
                return no()
            return unknown(f"{ast.unparse(node)} may carry a gradient")
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, (ast.Subscript, ast.Starred)):
            return self.carries(node.value)
        return self._any(child for child in child_nodes(node) if isinstance(child, ast.expr))

    def _any(self, nodes: Iterable[ast.expr]) -> Verdict:
        found = no()
        for node in nodes:
            one = self.carries(node)
            if one.yes:
                return one
            if one.unknown:
                found = one
        return found

    def _name(self, node: ast.Name) -> Verdict:
        around = self._flow.around(node)
        if around is None:
            return unknown(f"{node.id} is of another file")
        definitions = around.defuse.reaching(node)
        if not definitions:
            top = self._flow.function(self._flow.tree)
            definitions = top.defuse.definitions(node.id) if top is not around else ()
            around = top
        if not definitions:
            return unknown(f"{node.id} comes from elsewhere")
        found = no()
        for definition in definitions:
            one = self._definition(definition, around)
            if one.yes:
                return one
            if one.unknown:
                found = one
        return found

    def _definition(self, definition: Definition, around: FunctionFlow) -> Verdict:
        statement = definition.statement
        if definition.kind == "parameter":
            return self.of_argument(definition, around)
        if definition.value is not None:
            return self.carries(definition.value)
        if isinstance(statement, ast.Assign):
            return self.carries(statement.value)
        if isinstance(statement, ast.AugAssign):
            before = around.defuse.reaching_at(statement, definition.name)
            found = self.carries(statement.value)
            for earlier in before:
                if found.yes:
                    break
                if earlier is not definition:
                    one = self._definition(earlier, around)
                    found = found if one.no else one
            return found
        if isinstance(statement, (ast.For, ast.AsyncFor)):
            return self.carries(statement.iter)
        return unknown(f"{definition.name} is bound by {type(statement).__name__}")

    def of_argument(self, definition: Definition, around: FunctionFlow) -> Verdict:
        """Does what the callers in this file pass for an argument carry a gradient?"""
        scope = around.node
        if scope in self._differentiated:
            return yes(f"{definition.name} is an argument of a forward")
        calls = self._flow.calls.callers(scope)
        given = [argument_given(call, definition.name, scope) for call in calls]
        if not given or None in given:
            return unknown(f"who passes {definition.name} is not known")
        return self._any(node for node in given if node is not None)

    def _call(self, node: ast.Call) -> Verdict:
        api = self._flow.symbols.api(node.func)
        name = api.rpartition(".")[2] if api else getattr(node.func, "attr", "")
        learns = any(
            k.arg == "requires_grad"
            and not (isinstance(k.value, ast.Constant) and not k.value.value)
            for k in node.keywords
        )
        if learns or name == "requires_grad_":
            return yes("requires_grad")
        if name in CUTTING or (api and name in _CREATED):
            return no()
        if self._is_layer(self._flow.symbols.type(node.func)):
            return BY_LAYER
        arguments = [*node.args, *(k.value for k in node.keywords)]
        targets = self._flow.calls.targets(node)
        if targets:
            return self._of_program(targets, arguments)
        if isinstance(node.func, ast.Attribute) and (not api or api.startswith("torch.Tensor.")):
            arguments.append(node.func.value)
        return self._any(arguments)

    def _of_program(
        self, targets: tuple[ProjectFunction, ...], arguments: list[ast.expr]
    ) -> Verdict:
        found = self._any(arguments)
        if found.yes:
            return found
        for target in targets:
            for statement in self._flow.body_of(target):
                for part in all_nodes(statement):
                    if isinstance(part, ast.Return) and part.value is not None:
                        one = self.carries(part.value)
                        if one.yes:
                            return one
                        found = found if one.no else one
        return found

    def _is_layer(self, value: Value) -> bool:
        return any(
            isinstance(o, Instance)
            and (
                o.cls.startswith("torch.nn.") if isinstance(o.cls, str) else _is_module_class(o.cls)
            )
            for o in options_of(value)
        )

    def depends(self, around: FunctionFlow, loss: ast.expr, name: str) -> Verdict:
        """Does the loss depend on a value of the name, with its gradient?"""
        seen: set[Definition] = set()
        pending: list[ast.expr] = [loss]
        while pending:
            node = pending.pop()
            for read in reads_with_gradient(node):
                if read.id == name:
                    return yes()
                for definition in around.defuse.reaching(read):
                    if definition in seen:
                        continue
                    seen.add(definition)
                    value = definition.value or getattr(definition.statement, "value", None)
                    if isinstance(value, ast.expr):
                        pending.append(value)
                    if isinstance(definition.statement, ast.AugAssign):
                        pending.append(ast.copy_location(ast.Name(read.id, ast.Load()), read))
        return no()


def argument_given(call: ast.Call, name: str, scope: ast.AST) -> ast.expr | None:
    """What a call passes for a parameter; None where that is not to be seen."""
    arguments = getattr(scope, "args", None)
    if arguments is None:
        return None
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    if names[:1] == ["self"]:
        names = names[1:]
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    if name in names and names.index(name) < len(call.args):
        return call.args[names.index(name)]
    found = next((k.value for k in call.keywords if k.arg == name), None)
    if found is None and name in names:
        defaults = arguments.defaults
        at = names.index(name) - (len(names) - len(defaults))
        return defaults[at] if at >= 0 else None
    return found


def _is_plain(value: Value) -> bool:
    if isinstance(value, Known):
        return True
    if isinstance(value, ListOf):
        return value.kind == "Size"
    return isinstance(value, Instance) and (
        isinstance(value.cls, str) and value.cls.startswith(_PLAIN)
    )


def _is_module_class(cls: ProjectClass) -> bool:
    return any(base.startswith("torch.nn.") for base in cls.library_bases())


def _public(name: str) -> str:
    return name.replace("torch.optim.optimizer.", "torch.optim.")

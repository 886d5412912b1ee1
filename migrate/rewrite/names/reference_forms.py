"""What a reference to a name or member of torch's becomes, where it is not called."""

from __future__ import annotations

import ast

import libcst as cst

from migrate.flow.project_flags import trains
from migrate.pipeline.refusal import Refusal
from migrate.plan.gradient_users import is_gradient
from migrate.resolve import Usage
from migrate.resolve.hierarchy import OPTIMIZER
from migrate.resolve.values import Instance, ProjectClass, options_of
from migrate.rewrite.effects import Effects
from migrate.rewrite.names.checkpoint_guards import checkpoint_guards
from migrate.rewrite.names.conv1d_weight_rank import FLAT, flattened_weights
from migrate.rewrite.names.data_swaps import replaced_later
from migrate.rewrite.names.library_names import LibraryNames
from migrate.rewrite.node_pass import FileAccess, FileRewrite
from migrate.syntax.access import is_store, name_of
from migrate.syntax.ast_index import nodes_of
from migrate.syntax.nodes import atomic, expression, fill, is_cheap
from migrate.syntax.text import code
from migrate.table import Entry


class ReferenceForms(FileAccess):
    """Writes references, or flags them."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        tree = self.context.tree
        self._names = file.shared(LibraryNames)
        self._effects = file.shared(Effects)
        self._recompute_tests = checkpoint_guards(tree, self.context)
        self._replaced_later = replaced_later(tree)
        self._flat_weights = flattened_weights(tree, self.context)
        self.unknown_type = False  # the annotation in hand names what MindSpore does not have

    def reference(
        self, usage: Usage, node: cst.Name | cst.Attribute, receiver: cst.BaseExpression | None
    ) -> cst.BaseExpression:
        module = self._names.held_modules.get(usage.node)
        if module is not None:
            self.context.ported += 1
            return expression(self.spelling.name(module))
        try:
            if usage.alternatives and receiver is not None and is_cheap(receiver):
                self.context.ported += 1
                return self._by_type(usage, receiver, node)
            entry = self._names.row(usage)
            new = (
                self._member(usage, entry, receiver, node)
                if receiver is not None
                else self._names.named(usage, entry)
            )
        except Refusal as refusal:
            if usage.form == "annotation" and self.file.position.annotations:
                self.unknown_type = True
                return expression(usage.api)
            if usage.form == "annotation":
                return cst.SimpleString(repr(usage.api))
            self.flag(usage.node, refusal, usage.api)
            return node if receiver is not None else expression(self.spelling.keep_torch(usage.api))
        self.context.ported += 1
        return new

    def _keeps_gradient(self, node: ast.AST) -> bool:
        """`p.grad` of a parameter: a training step of this program puts it there."""
        return is_gradient(node, self.context) and trains(self.context.modules.project)

    def _is_own_optimizer(self, node: ast.AST) -> bool:
        """`self.state` in an optimizer that the program writes itself, or of such a one."""
        value = self.context.type(getattr(node, "value", None))
        return any(
            isinstance(option, Instance) and isinstance(option.cls, ProjectClass)
            for option in options_of(value)
        )

    def _by_type(
        self, usage: Usage, receiver: cst.BaseExpression, node: cst.Name | cst.Attribute
    ) -> cst.BaseExpression:
        """A member whose MindSpore name depends on the class: chosen where the program runs."""
        groups: dict[str, list[str]] = {}
        members: dict[str, cst.BaseExpression] = {}
        for api in (usage.api, *usage.alternatives):
            entry = self.table.get(api)
            if entry is None:
                raise Refusal("the mapping table does not know it", "", "MS303")
            member = self._member(usage, entry, receiver, node)
            if entry.main.emit.startswith("helpers.") and api.startswith("torch.nn.Module."):
                return member  # the helper of any Module looks for the name itself
            members[code(member)] = member
            groups.setdefault(code(member), []).append(api.rpartition(".")[0])
        # The form that most classes share goes without a test.
        texts = sorted(groups, key=lambda text: len(groups[text]))
        result = members[texts[-1]]
        for text in reversed(texts[:-1]):
            classes = [self._names.class_name(name) for name in groups[text]]
            kinds = classes[0] if len(classes) == 1 else f"({', '.join(classes)})"
            test = expression(f"isinstance({code(receiver)}, {kinds})")
            result = cst.IfExp(test=test, body=members[text], orelse=result)
        return self._effects.wrapped(result)

    def _is_inherited(self, usage: Usage) -> bool:
        """An attribute of `self` that the helper gives to the classes which derive from it."""
        owner, _, name = usage.api.rpartition(".")
        holder = getattr(usage.node, "value", None)
        own = name_of(holder) == "self"
        return own and self.context.helpers.gives(owner.rpartition(".")[2], name)

    def _is_given_here(self, node: ast.AST) -> bool:
        """`layer.type = "Conv"`: an attribute of the program's own, named like a method."""
        scope = self.context.resolution.scope
        return isinstance(node, ast.Attribute) and any(
            other.attr == node.attr and is_store(other)
            for other in (nodes_of(scope.tree, ast.Attribute) if scope else ())
        )

    def _stays(self, usage: Usage, entry: Entry) -> bool:
        """Members that what the class derives from has, or that the helpers give it."""
        return (
            (not entry.main.portable and self._is_inherited(usage))
            or (usage.api == "torch.Tensor.grad" and self._keeps_gradient(usage.node))
            or (usage.api == f"{OPTIMIZER}.state" and self._is_own_optimizer(usage.node))
            or (self.spelling.mint and self._names.is_mint_class(entry.torch.rpartition(".")[0]))
        )

    def _member(
        self,
        usage: Usage,
        entry: Entry,
        receiver: cst.BaseExpression,
        node: cst.Name | cst.Attribute,
    ) -> cst.BaseExpression:
        main = entry.main
        if usage.node in self._replaced_later:
            return cst.Call(func=cst.Attribute(value=atomic(receiver), attr=cst.Name("copy")))
        if usage.node in self._recompute_tests:
            return expression("self.training")
        if self._stays(usage, entry):
            return node
        if main.emit and entry.kind == "method":
            if self._is_given_here(usage.node):
                return node
            raise Refusal(
                "the method itself is passed on, and MindSpore has no such method",
                "pass a function that calls it",
                "MS311",
            )
        if main.emit:
            if main.emit.count("{self}") > 1 and not is_cheap(receiver):
                raise Refusal(
                    "the layer is named twice in MindSpore's form and would be computed twice",
                    "give it a name first",
                    "MS313",
                )
            member = fill(main.emit, {"self": receiver}, self.spelling.name)
            by_axes = entry.torch in FLAT and usage.node in self._flat_weights
            return expression(f"{code(member)}.squeeze(2)") if by_axes else member
        if main.mindspore and entry.kind == "attribute":
            return cst.Attribute(
                value=atomic(receiver), attr=cst.Name(main.mindspore.rpartition(".")[2])
            )
        if entry.kind == "method" and main.plain:
            # A bound method passed on: only where nothing but the name changes.
            return cst.Attribute(
                value=atomic(receiver), attr=cst.Name(main.mindspore.rpartition(".")[2])
            )
        raise Refusal(entry.note or "has no counterpart in MindSpore", entry.way, "MS301")

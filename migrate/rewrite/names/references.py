"""Names and attributes where they stand: members of tensors and modules, tests of classes."""

from __future__ import annotations

import ast

import libcst as cst

from migrate.plan.param_grad_reads import is_gradient
from migrate.plan.project_flags import trains
from migrate.resolve import Usage
from migrate.resolve.hierarchy import OPTIMIZER
from migrate.resolve.values import UNKNOWN, Instance, ProjectClass, options_of
from migrate.rewrite.calls.call import Refusal
from migrate.rewrite.context import Context
from migrate.rewrite.names.checkpoint_guards import recompute_tests
from migrate.rewrite.names.class_functions import find_class_functions
from migrate.rewrite.names.conv1d_weight_rank import FLAT, flat_weights
from migrate.rewrite.names.data_swaps import replaced_later
from migrate.rewrite.names.forward_names import has_construct, listed, written_to_unknown
from migrate.rewrite.names.getattr_tables import find_looked_up
from migrate.rewrite.names.library_names import LibraryNames
from migrate.rewrite.names.runtime_class_checks import classes_to_ask_for
from migrate.rewrite.names.type_tests import as_membership
from migrate.syntax.ast_index import all_nodes
from migrate.syntax.nodes import atomic, expression, fill, is_cheap
from migrate.syntax.text import code
from migrate.table import Entry


class References(LibraryNames):
    """Rewrites every reference that is not itself called."""

    def __init__(self, context: Context, tree: ast.Module) -> None:
        super().__init__(context, tree)
        self._recompute_tests = recompute_tests(tree, context)
        self.asked_classes = classes_to_ask_for(tree, context)
        self.looked_up = find_looked_up(tree, context)
        self._namespaces = {id(found.owner.node) for found in self.looked_up.values()}
        self._replaced_later = replaced_later(tree)
        self._flat_weights = flat_weights(tree, context)
        self._class_functions = find_class_functions(tree, context)
        self._raw_targets: set[int] = set()  # `p.data = ...`: becomes ops.assign
        self._raw_data: set[int] = (
            set()
        )  # `.data` before an in-place change: the tensor itself is meant

    # Names --------------------------------------------------------------------------------------

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        usage = self.context.usage(self.partner(original_node))
        if usage is None or usage.form == "call" or id(usage.node) in self._namespaces:
            return updated_node
        partner = self.partner(original_node)
        return self._unbound_in_class(partner, self._reference(usage, updated_node, None))

    def _unbound_in_class(
        self, partner: ast.AST | None, value: cst.BaseExpression
    ) -> cst.BaseExpression:
        if id(partner) not in self._class_functions:
            return value
        return cst.Call(func=cst.Name("staticmethod"), args=[cst.Arg(value)])

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        partner = self.partner(original_node)
        if id(original_node) in self._raw_data:
            self.context.ported += self.context.usage(partner) is not None
            return updated_node.value
        if id(original_node) in self._raw_targets:
            return updated_node
        usage = self.context.usage(partner)
        if usage is None:
            return self._plain_attribute(partner, updated_node)
        if usage.form in ("call", "unknown") or id(usage.node) in self._namespaces:
            return updated_node
        receiver = (
            updated_node.value
            if usage.form == "attribute" and not self._is_library_path(partner)
            else None
        )
        return self._unbound_in_class(partner, self._reference(usage, updated_node, receiver))

    def leave_Comparison(
        self, original_node: cst.Comparison, updated_node: cst.Comparison
    ) -> cst.BaseExpression:
        partner = self.partner(original_node)
        asked = self.context.usage(partner)
        entry = self.table.get(asked.api) if asked is not None else None
        if entry is not None and isinstance(partner, ast.Compare):  # "silu" in dir(F)
            self.context.ported += 1
            portable = any(overload.portable for overload in entry.overloads)
            return cst.Name(str(portable is isinstance(partner.ops[0], ast.In)))
        names = (self._own_class, self._value)
        test = as_membership(partner, updated_node, self.context, names)
        return listed(partner, updated_node, self.context) if test is None else test

    def _own_class(self, usage: Usage, entry: Entry) -> str:
        return self._class_name(entry.torch)

    def _is_library_path(self, node: ast.AST | None) -> bool:
        """`torch.backends.cudnn.benchmark`: a path of names that imports lead to, not a member
        of a value.
        """
        while isinstance(node, ast.Attribute):
            node = node.value
        if not isinstance(node, ast.Name):
            return False
        value = self.context.type(node)
        return type(value).__name__ == "External"

    def _plain_attribute(
        self, partner: ast.AST | None, updated: cst.Attribute
    ) -> cst.BaseExpression:
        if (
            updated.attr.value == "forward"
            and isinstance(partner, ast.Attribute)
            and has_construct(self.context.type(partner.value))
        ):
            return updated.with_changes(attr=cst.Name("construct"))
        unclear = written_to_unknown(partner, self.context)
        if unclear is not None:
            self.flag(partner, unclear)
        if id(partner) in self.asked_classes:  # m.__class__
            return self.class_asked_of(updated.value)
        if isinstance(partner, ast.Attribute) and self._may_be_setting(partner):
            setting = self.spelling.name("helpers.setting_of")
            return expression(f"{setting}({code(updated.value)}, {partner.attr!r})")
        return updated

    def _may_be_setting(self, node: ast.Attribute) -> bool:
        """`model.fc.in_features` of a model that nobody knows: MindSpore's Dense has other names.

        A plain name before it is more likely a table of options than a layer.
        """
        return (
            node.attr in ("in_features", "out_features", "num_embeddings", "embedding_dim")
            and isinstance(node.ctx, ast.Load)
            and isinstance(node.value, ast.Attribute | ast.Subscript)
            and ast.unparse(node.value).partition(".")[0] not in ("args", "cfg", "config", "opt")
            and not ast.unparse(node.value).endswith(("args", "cfg", "config", "hparams", "opt"))
            and self.context.type(node.value) is UNKNOWN
        )

    def class_asked_of(self, layer: cst.BaseExpression) -> cst.BaseExpression:
        return expression(f"{self.spelling.name('helpers.torch_class')}({code(layer)})")

    def _reference(
        self, usage: Usage, node: cst.Name | cst.Attribute, receiver: cst.BaseExpression | None
    ) -> cst.BaseExpression:
        try:
            if usage.alternatives and receiver is not None and is_cheap(receiver):
                self.context.ported += 1
                return self._by_type(usage, receiver, node)
            entry = self.row(usage)
            new = (
                self._member(usage, entry, receiver, node)
                if receiver is not None
                else self._named(usage, entry)
            )
        except Refusal as refusal:
            if usage.form == "annotation" and self._annotations:
                self._unknown_type = True
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
            members[code(member)] = member
            groups.setdefault(code(member), []).append(api.rpartition(".")[0])
        # The form that most classes share goes without a test.
        texts = sorted(groups, key=lambda text: len(groups[text]))
        result = members[texts[-1]]
        for text in reversed(texts[:-1]):
            classes = [self._class_name(name) for name in groups[text]]
            kinds = classes[0] if len(classes) == 1 else f"({', '.join(classes)})"
            test = expression(f"isinstance({code(receiver)}, {kinds})")
            result = cst.IfExp(test=test, body=members[text], orelse=result)
        return self.wrapped(result)

    def _is_inherited(self, usage: Usage) -> bool:
        """An attribute of `self` that the helper gives to the classes which derive from it."""
        owner, _, name = usage.api.rpartition(".")
        holder = getattr(usage.node, "value", None)
        own = isinstance(holder, ast.Name) and holder.id == "self"
        return own and self.context.helpers.gives(owner.rpartition(".")[2], name)

    def _is_given_here(self, node: ast.AST) -> bool:
        """`layer.type = "Conv"`: an attribute of the program's own, named like a method."""
        scope = self.context.resolution.scope
        return isinstance(node, ast.Attribute) and any(
            isinstance(other, ast.Attribute)
            and other.attr == node.attr
            and isinstance(other.ctx, ast.Store)
            for other in (all_nodes(scope.tree) if scope else ())
        )

    def _member(
        self,
        usage: Usage,
        entry: Entry,
        receiver: cst.BaseExpression,
        node: cst.Name | cst.Attribute,
    ) -> cst.BaseExpression:
        main = entry.main
        if id(usage.node) in self._replaced_later:
            return cst.Call(func=cst.Attribute(value=atomic(receiver), attr=cst.Name("copy")))
        if not main.portable and self._is_inherited(usage):
            return node
        if usage.api == "torch.Tensor.grad" and self._keeps_gradient(usage.node):
            return node
        if id(usage.node) in self._recompute_tests:
            return expression("self.training")
        if usage.api == f"{OPTIMIZER}.state" and self._is_own_optimizer(usage.node):
            return node
        if self.spelling.mint and self._is_mint_class(entry.torch.rpartition(".")[0]):
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
            by_axes = entry.torch in FLAT and id(usage.node) in self._flat_weights
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

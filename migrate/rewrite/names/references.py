"""Names and attributes where they stand: members of tensors and modules, tests of classes."""

from __future__ import annotations

import ast

import libcst as cst

from migrate.pipeline import becomes, declare, flags
from migrate.resolve import Usage
from migrate.resolve.values import UNKNOWN, Instance, ProjectClass, Value
from migrate.rewrite.cells.train_overrides import calls_override
from migrate.rewrite.effects import Effects
from migrate.rewrite.names.class_functions import find_class_functions
from migrate.rewrite.names.forward_names import has_construct, membership_test, written_to_unknown
from migrate.rewrite.names.library_names import LibraryNames
from migrate.rewrite.names.member_names import compared_with_none, unless_absent
from migrate.rewrite.names.reference_forms import ReferenceForms
from migrate.rewrite.names.runtime_choices import RuntimeChoices
from migrate.rewrite.names.type_tests import as_membership
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.syntax.access import is_read
from migrate.syntax.nodes import expression
from migrate.syntax.text import code
from migrate.table import Entry

_OPTIONS = ("args", "cfg", "config", "hparams", "opt")  # names of what holds a program's settings


@declare(
    phase="rewrite",
    unit="node",
    needs=["usages", "types"],
    after={
        "gradient_cells": "a base whose gradient is ported by hand keeps torch's name",
        "input_blocks": "a gradient that is planned is read from the plan's result",
        "recorded_tensors": "a gradient that is recorded is found at its tensor",
    },
    examples=[
        becomes(
            "dtype = torch.float32\nx = x.to(dtype)",
            "dtype = mindspore.float32\nx = x.astype(dtype)",
        ),
        becomes("f = F.relu\nx = f(x)", "f = helpers.functional_relu\nx = f(x)"),
        flags("x = torch.no_such_name", "the mapping table does not know it"),
    ],
)
class References(NodePass):
    """Rewrites every reference that is not itself called."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._names = file.shared(LibraryNames)
        self._forms = file.shared(ReferenceForms)
        self._effects = file.shared(Effects)
        self._choices = file.shared(RuntimeChoices)
        self._class_functions = find_class_functions(self.context.tree, self.context)

    # Names --------------------------------------------------------------------------------------

    def propose_Name(self, original: cst.Name, updated: cst.Name) -> cst.BaseExpression | None:
        usage = self.context.usage(self.partner(original))
        if usage is None or usage.form == "call" or usage.node in self._choices.namespaces:
            return None
        partner = self.partner(original)
        return self._unbound_in_class(partner, self._forms.reference(usage, updated, None))

    def _unbound_in_class(
        self, partner: ast.AST | None, value: cst.BaseExpression
    ) -> cst.BaseExpression:
        if partner not in self._class_functions:
            return value
        return cst.Call(func=cst.Name("staticmethod"), args=[cst.Arg(value)])

    def propose_Attribute(
        self, original: cst.Attribute, updated: cst.Attribute
    ) -> cst.BaseExpression:
        partner = self.partner(original)
        if original in self._effects.raw_data:
            self.context.ported += self.context.usage(partner) is not None
            return updated.value
        if original in self._effects.raw_targets:
            return updated
        usage = self.context.usage(partner)
        if usage is None:
            new = self._plain_attribute(partner, updated)
            if new is not updated:
                self.context.edited_lines.add(getattr(partner, "lineno", 0))
            return new
        if usage.form in ("call", "unknown") or usage.node in self._choices.namespaces:
            return updated
        receiver = (
            updated.value
            if usage.form == "attribute" and not self._names.is_library_path(partner)
            else None
        )
        return self._unbound_in_class(partner, self._forms.reference(usage, updated, receiver))

    def propose_Comparison(
        self, original: cst.Comparison, updated: cst.Comparison
    ) -> cst.BaseExpression:
        partner = self.partner(original)
        asked = self.context.usage(partner)
        entry = self.table.get(asked.api) if asked is not None else None
        if entry is not None and isinstance(partner, ast.Compare):  # "silu" in dir(F)
            self.context.ported += 1
            portable = any(overload.portable for overload in entry.overloads)
            return cst.Name(str(portable is isinstance(partner.ops[0], ast.In)))
        if compared_with_none(partner, self.context):
            return unless_absent(updated, self.spelling.name("helpers.unless_absent"))
        names = (self._own_class, self._names.value)
        test = as_membership(partner, updated, self.context, names)
        return membership_test(partner, updated, self.context) if test is None else test

    def _own_class(self, usage: Usage, entry: Entry) -> str:
        return self._names.class_name(entry.torch)

    def _plain_attribute(
        self, partner: ast.AST | None, updated: cst.Attribute
    ) -> cst.BaseExpression:
        if (
            updated.attr.value == "forward"
            and isinstance(partner, ast.Attribute)
            and has_construct(self.context.type(partner.value))
        ):
            return updated.with_changes(attr=cst.Name("construct"))
        if (
            updated.attr.value == "train"
            and isinstance(partner, ast.Attribute)
            and calls_override(self.context.type(partner.value))
        ):
            return updated.with_changes(attr=cst.Name("set_train"))
        unclear = written_to_unknown(partner, self.context)
        if unclear is not None:
            self.flag(partner, unclear)
        if partner in self._choices.asked_classes:  # m.__class__
            return self._choices.class_of(updated.value)
        if isinstance(partner, ast.Attribute) and self._may_be_setting(partner):
            setting = self.spelling.name("helpers.setting_of")
            return expression(f"{setting}({code(updated.value)}, {partner.attr!r})")
        return updated

    def _may_be_setting(self, node: ast.Attribute) -> bool:
        """`model.fc.in_features` of a model that nobody knows: MindSpore's Dense has other names.

        A plain name before an embedding's size is more likely a table of options than a layer.
        """
        dense = node.attr in ("in_features", "out_features")
        if not (dense or node.attr in ("num_embeddings", "embedding_dim")) or not is_read(node):
            return False
        owner, spelled = self.context.type(node.value), ast.unparse(node.value)
        if spelled.partition(".")[0] in _OPTIONS or spelled.endswith(_OPTIONS):
            return False
        if owner is not UNKNOWN:
            return _looks_up_itself(owner) and self.context.type(node) is UNKNOWN
        return isinstance(node.value, (ast.Attribute, ast.Subscript)) or dense


def _looks_up_itself(value: Value) -> bool:
    """An instance of a class with `__getattr__`, which may give a layer's settings as its own."""
    cls = value.cls if isinstance(value, Instance) else None
    return isinstance(cls, ProjectClass) and any(
        "__getattr__" in base.body for base in cls.lineage() if isinstance(base, ProjectClass)
    )

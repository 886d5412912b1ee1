"""Calls of what is not torch's: layers called by torch's parameter names, classes asked for, state
dicts of unknown objects.
"""

from __future__ import annotations

import ast

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.resolve.hierarchy import is_module
from migrate.resolve.members import is_module_value
from migrate.resolve.values import UNKNOWN, Instance, options_of
from migrate.rewrite.calls.call_sites import CallSites
from migrate.rewrite.effects import Effects
from migrate.rewrite.names.forward_names import by_name, written_to_unknown
from migrate.rewrite.names.member_names import member_helper
from migrate.rewrite.names.runtime_choices import RuntimeChoices
from migrate.rewrite.names.runtime_class_checks import class_check_helper
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.syntax.nodes import expression
from migrate.syntax.text import code

_QUIETING = (
    "warnings.catch_warnings",
    "warnings.filterwarnings",
    "warnings.simplefilter",
)


@declare(
    phase="rewrite",
    unit="node",
    needs=["usages", "types"],
    after={
        "step_calls": "the calls of a step have forms of their own",
        "compiled_code": "what Graph mode refuses has a form of its own",
        "compiled_numbers": "what Graph mode refuses has a form of its own",
    },
    examples=[
        becomes("x = self.layers[0](input=x)", "x = self.layers[0](x)"),
        becomes(
            """
            def save(thing):
                return thing.state_dict()

            x = torch.zeros(2)
            """,
            """
            def save(thing):
                return helpers.state_dict(thing)

            x = ops.zeros(2)
            """,
        ),
    ],
)
class ProjectCalls(NodePass):
    """Rewrites calls without a row of the table."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._sites = file.shared(CallSites)
        self._effects = file.shared(Effects)
        self._choices = file.shared(RuntimeChoices)

    def propose_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression | None:
        partner = self.partner(original)
        if not isinstance(partner, ast.Call) or partner in self._choices.getattr_tables:
            return None
        if self.context.usage(partner) is not None or self.context.usage(partner.func) is not None:
            return None
        if self._is_quieting(partner):
            self._effects.removed.add(updated)
            return updated
        new = self._form(partner, updated)
        if new is not updated:
            self.context.edited_lines.add(partner.lineno)
        return new

    def _is_quieting(self, partner: ast.Call) -> bool:
        """Warnings switched off in compiled code: a graph has none, and cannot compile it."""
        return self.is_compiled(self.function) and ast.unparse(partner.func) in _QUIETING

    def _form(self, partner: ast.Call, updated: cst.Call) -> cst.BaseExpression:
        if partner in self._choices.asked_classes:  # type(m)
            return self._choices.class_of(updated.args[0].value)
        if self._is_anyones_state(partner) and isinstance(updated.func, cst.Attribute):
            self.context.edited_lines.add(partner.lineno)
            function = expression(self.spelling.name(f"helpers.{updated.func.attr.value}"))
            return updated.with_changes(
                func=function, args=[cst.Arg(updated.func.value), *updated.args]
            )
        if partner in self._sites.first_members:
            return _first_item(updated.args[0].value)
        helper = class_check_helper(partner, self.context) or member_helper(partner, self.context)
        if helper:
            return updated.with_changes(func=expression(self.spelling.name(f"helpers.{helper}")))
        if self._replaces_child(partner):
            return updated.with_changes(func=expression(self.spelling.name("helpers.set_child")))
        unclear = written_to_unknown(partner, self.context)
        if unclear is not None:
            self.flag(partner, unclear)
        return self._by_position(partner, by_name(partner, updated, self.context))

    def _replaces_child(self, partner: ast.Call) -> bool:
        """`setattr(parent, name, nn.Identity())`: a SequentialCell calls the layers it lists."""
        if not isinstance(partner.func, ast.Name) or partner.func.id != "setattr":
            return False
        if len(partner.args) != 3 or ast.unparse(partner.args[0]) == "self":
            return False
        return is_module_value(self.context.type(partner.args[2]))

    def _is_anyones_state(self, partner: ast.Call) -> bool:
        """`thing.state_dict()` of something unknown, which may be a model: the helpers ask."""
        function = partner.func
        return (
            isinstance(function, ast.Attribute)
            and (function.attr, len(partner.args)) in (("state_dict", 0), ("load_state_dict", 1))
            and self.context.type(function.value) is UNKNOWN
            and not any(keyword.arg != "strict" for keyword in partner.keywords)
        )

    def _by_position(self, partner: ast.Call, updated: cst.Call) -> cst.Call:
        """`layer(input=x)`: torch's layers call their input so, MindSpore's each as they like."""
        lone = len(updated.args) == 1 and updated.args[0].keyword is not None
        if not lone or partner.keywords[0].arg != "input":
            return updated
        kinds = options_of(self.context.type(partner.func))
        if not all(
            isinstance(k, Instance) and isinstance(k.cls, str) and is_module(k.cls) for k in kinds
        ):
            return updated
        return updated.with_changes(
            args=[updated.args[0].with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT)]
        )


def _first_item(members: cst.BaseExpression) -> cst.Subscript:
    """`helpers.parameters_of(net)[0]` for `next(iter(net.parameters()))`."""
    if isinstance(members, cst.Call) and code(members.func) == "iter":
        members = members.args[0].value
    return cst.Subscript(members, [cst.SubscriptElement(cst.Index(cst.Integer("0")))])

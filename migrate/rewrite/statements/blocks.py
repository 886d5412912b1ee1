"""Statements: branches decided, blocks unwrapped, calls without effect removed."""

from __future__ import annotations

import ast
from typing import Any

import libcst as cst

from migrate.flow.project_flags import imported_names
from migrate.pipeline import becomes, declare
from migrate.rewrite.cells.train_overrides import overridden_train
from migrate.rewrite.effects import Effects
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.rewrite.statements.optional_imports import settled_try
from migrate.rewrite.statements.suites import (
    decided_elif,
    decided_if,
    is_emptied,
    is_pure,
    truth_of,
    two_targets,
    unwrapped,
    with_comments_inside,
)
from migrate.syntax.access import is_read
from migrate.syntax.ast_index import nodes_of
from migrate.syntax.nodes import comment_line, with_parts
from migrate.syntax.text import code, comments


@declare(
    phase="rewrite",
    unit="node",
    needs=["usages"],
    after={
        "markers": "a block that is unwrapped hands its comments on",
        "amp_nograd_blocks": "it says which contexts go",
        "containers": "the head of a loop is rewritten first",
    },
    examples=[
        becomes("if torch.cuda.is_available():\n    x = x.cuda()", ""),
        becomes("with torch.cuda.device(0):\n    x = x + 1", "x = x + 1"),
    ],
)
class Blocks(NodePass):
    """Rewrites statements, after the expressions in them."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._effects = file.shared(Effects)
        self._elifs: set[cst.CSTNode] = set()

    def leave_For(self, original: cst.For, updated: cst.For) -> cst.For:
        return two_targets(updated)

    def leave_With(
        self, original: cst.With, updated: cst.With
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        node = updated
        items = [item for item in node.items if item.item not in self._effects.removed]
        if len(items) == len(node.items):
            return node
        if items:
            items[-1] = items[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
            return node.with_changes(items=items)
        return cst.FlattenSentinel([*self._bound(original), *unwrapped(node)])

    def _bound(self, original: cst.With) -> list[cst.BaseStatement]:
        """`with torch.no_grad() as context:`: such contexts bind None, which may be read."""
        names = {
            item.asname.name.value
            for item in original.items
            if item.asname is not None and isinstance(item.asname.name, cst.Name)
        }
        read = {n.id for n in nodes_of(self.context.tree, ast.Name) if is_read(n)}
        return [cst.parse_statement(f"{name} = None") for name in sorted(names & read)]

    def leave_Try(self, original: cst.Try, updated: cst.Try) -> Any:
        return settled_try(original, updated, self.partner(original), self._is_needed)

    def _is_needed(self, name: str) -> bool:
        """A name that another file imports, or that this one uses as more than torch's."""
        if name in imported_names(self.context.modules.project):
            return True
        scope = self.context.resolution.scope
        return scope is not None and any(
            node.id == name and is_read(node) and self.context.usage(node) is None
            for node in nodes_of(scope.tree, ast.Name)
        )

    def visit_If(self, node: cst.If) -> None:
        if isinstance(node.orelse, cst.If):
            self._elifs.add(node.orelse)

    def leave_If(self, original: cst.If, updated: cst.If) -> Any:
        node = updated
        if is_emptied(original.body, node.body) and is_pure(node.test):
            if is_emptied(original.orelse, node.orelse):
                node = node.with_changes(orelse=None)
            if node.orelse is None:
                return self._decided(original, node, False)
        elif is_emptied(original.orelse, node.orelse):
            node = with_comments_inside(node)
        if original.test is updated.test:
            return node
        decided = truth_of(node.test)
        if decided is None or truth_of(original.test) is not None:
            return node
        return self._decided(original, node, decided)

    def _decided(self, original: cst.If, node: cst.If, truth: bool) -> Any:
        decide = decided_elif if original in self._elifs else decided_if
        return decide(node, truth)

    def leave_BooleanOperation(
        self, original: cst.BooleanOperation, updated: cst.BooleanOperation
    ) -> cst.BaseExpression:
        """`True and x` and `False or x`, where the constant stands for a torch call, are just x."""
        if updated.left is original.left or updated.lpar:
            return updated
        neutral = "True" if isinstance(updated.operator, cst.And) else "False"
        if isinstance(updated.left, cst.Name) and updated.left.value == neutral:
            return updated.right
        return updated

    def leave_IfExp(self, original: cst.IfExp, updated: cst.IfExp) -> cst.BaseExpression:
        """`net.cuda() if on_gpu else net` is just the net."""
        node = with_parts(
            updated,
            body=self._effects.bare(updated.body),
            test=self._effects.bare(updated.test),
            orelse=self._effects.bare(updated.orelse),
        )
        alike = _are_alike(node.body, node.orelse) and is_pure(node.test)
        if not alike or _are_alike(original.body, original.orelse):
            return node
        return node.body.with_changes(
            lpar=[*node.lpar, *node.body.lpar], rpar=[*node.body.rpar, *node.rpar]
        )

    def propose_Decorator(
        self, original: cst.Decorator, updated: cst.Decorator
    ) -> cst.RemovalSentinel | None:
        value = updated.decorator
        gone = isinstance(value, cst.Name) and value.value == "None"
        return cst.RemoveFromParent() if gone else None

    def leave_FunctionDef(
        self, original: cst.FunctionDef, updated: cst.FunctionDef
    ) -> cst.FunctionDef:
        node = updated
        if self.context.becomes_construct(self.partner(original)):
            node = _with_receiver(node.with_changes(name=cst.Name("construct")))
        elif self._overrides_train(original):
            node = node.with_changes(name=cst.Name("set_train"))
        return self._with_decorator_comments(original, node)

    def _overrides_train(self, original: cst.FunctionDef) -> bool:
        partner = self.partner(original)
        return original.name.value == "train" and any(
            overridden_train(cls) is partner for cls in self.context.module_classes.values()
        )

    def _with_decorator_comments(
        self, original: cst.FunctionDef, node: cst.FunctionDef
    ) -> cst.FunctionDef:
        """What stood beside a decorator that is gone stands above the function."""
        if len(original.decorators) == len(node.decorators):
            return node
        kept = [text for decorator in node.decorators for text in comments(decorator)]
        lost = []
        for decorator in original.decorators:
            for text in comments(decorator):
                if text in kept:
                    kept.remove(text)
                else:
                    lost.append(comment_line(text))
        return node.with_changes(leading_lines=[*node.leading_lines, *lost])


def _are_alike(left: cst.BaseExpression, right: cst.BaseExpression) -> bool:
    """The same text: asked of every arm of a long chain, where they are hardly ever of a kind."""
    return type(left) is type(right) and code(left) == code(right)


def _with_receiver(function: cst.FunctionDef) -> cst.FunctionDef:
    """`@staticmethod def forward(x)`: a compiled construct must have its `self`."""
    others = [d for d in function.decorators if code(d.decorator) != "staticmethod"]
    if len(others) == len(function.decorators):
        return function
    parameters = [cst.Param(cst.Name("self")), *function.params.params]
    return function.with_changes(
        decorators=others, params=function.params.with_changes(params=parameters)
    )

"""Statements: branches decided, blocks unwrapped, calls without effect removed."""

from __future__ import annotations

import ast
from typing import Any

import libcst as cst

from migrate.rewrite.cells.gradient_cells import GradientCells
from migrate.rewrite.names.project_imports import imported_names
from migrate.rewrite.statements.optional_imports import settled_try
from migrate.rewrite.statements.suites import (
    decided_elif,
    decided_if,
    is_emptied,
    is_pure,
    tidied,
    truth_of,
    unwrapped,
    with_comments_inside,
)
from migrate.syntax.ast_index import nodes_of
from migrate.syntax.nodes import comment_line, with_parts
from migrate.syntax.text import code, comments


class BlockRewriter(GradientCells):
    """Rewrites statements, after the expressions in them."""

    def visit_With(self, node: cst.With) -> None:
        super().visit_With(node)
        self._marks.append([])

    def leave_With(
        self, original_node: cst.With, updated_node: cst.With
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        node = self._marked(updated_node)
        items = [item for item in node.items if id(item.item) not in self.vanished]
        if len(items) == len(node.items):
            return node
        if items:
            items[-1] = items[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
            return node.with_changes(items=items)
        return unwrapped(node)

    def leave_Try(self, original_node: cst.Try, updated_node: cst.Try) -> Any:
        node = super().leave_Try(original_node, updated_node)
        return settled_try(original_node, node, self.partner(original_node), self._is_needed)

    def _is_needed(self, name: str) -> bool:
        """A name that another file imports, or that this one uses as more than torch's."""
        if name in imported_names(self.context.modules.project):
            return True
        scope = self.context.resolution.scope
        return scope is not None and any(
            node.id == name and isinstance(node.ctx, ast.Load) and self.context.usage(node) is None
            for node in nodes_of(scope.tree, ast.Name)
        )

    def visit_If(self, node: cst.If) -> None:
        super().visit_If(node)
        self._marks.append([])
        if isinstance(node.orelse, cst.If):
            self._elifs.add(id(node.orelse))

    def leave_If(self, original_node: cst.If, updated_node: cst.If) -> Any:
        node = self._marked(updated_node)
        if is_emptied(original_node.body, node.body) and is_pure(node.test):
            if is_emptied(original_node.orelse, node.orelse):
                node = node.with_changes(orelse=None)
            if node.orelse is None:
                return self._decided(original_node, node, False)
        elif is_emptied(original_node.orelse, node.orelse):
            node = with_comments_inside(node)
        if original_node.test is updated_node.test:
            return node
        decided = truth_of(node.test)
        if decided is None or truth_of(original_node.test) is not None:
            return node
        return self._decided(original_node, node, decided)

    def _decided(self, original: cst.If, node: cst.If, truth: bool) -> Any:
        decide = decided_elif if id(original) in self._elifs else decided_if
        return decide(node, truth)

    def leave_BooleanOperation(
        self, original_node: cst.BooleanOperation, updated_node: cst.BooleanOperation
    ) -> cst.BaseExpression:
        """`True and x` and `False or x`, where the constant stands for a torch call, are just x."""
        if updated_node.left is original_node.left or updated_node.lpar:
            return updated_node
        neutral = "True" if isinstance(updated_node.operator, cst.And) else "False"
        if isinstance(updated_node.left, cst.Name) and updated_node.left.value == neutral:
            return updated_node.right
        return updated_node

    def leave_IfExp(self, original_node: cst.IfExp, updated_node: cst.IfExp) -> cst.IfExp:
        return with_parts(
            updated_node,
            body=self.bare(updated_node.body),
            test=self.bare(updated_node.test),
            orelse=self.bare(updated_node.orelse),
        )

    def leave_Decorator(
        self, original_node: cst.Decorator, updated_node: cst.Decorator
    ) -> cst.Decorator | cst.RemovalSentinel:
        value = updated_node.decorator
        gone = isinstance(value, cst.Name) and value.value == "None"
        return cst.RemoveFromParent() if gone else updated_node

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        super().visit_FunctionDef(node)
        self._marks.append([])
        self._functions.append(self.partner(node))

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        self._functions.pop()
        node = self._marked(updated_node)
        if id(self.partner(original_node)) in self.context.forwards:
            node = _with_receiver(node.with_changes(name=cst.Name("construct")))
        return self._with_decorator_comments(original_node, node)

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

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        updated_node = super().leave_IndentedBlock(original_node, updated_node)
        return tidied(updated_node)


def _with_receiver(function: cst.FunctionDef) -> cst.FunctionDef:
    """`@staticmethod def forward(x)`: a compiled construct must have its `self`."""
    others = [d for d in function.decorators if code(d.decorator) != "staticmethod"]
    if len(others) == len(function.decorators):
        return function
    parameters = [cst.Param(cst.Name("self")), *function.params.params]
    return function.with_changes(
        decorators=others, params=function.params.with_changes(params=parameters)
    )

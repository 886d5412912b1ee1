"""Statements: in-place changes rebound, calls without effect removed, blocks unwrapped, markers
placed.
"""

from __future__ import annotations

import ast
from typing import Any, TypeVar

import libcst as cst

from migrate.port.aliases import alias_could_see
from migrate.port.call import Refusal
from migrate.port.calls import CallRewriter, is_data
from migrate.port.nodes import code, comment_line, comments
from migrate.port.suites import (
    GONE,
    assigns_itself,
    decided_elif,
    decided_if,
    truth_of,
    two_targets,
    unwrapped,
    without_empty,
)

Compound = TypeVar(
    "Compound",
    cst.SimpleStatementLine,
    cst.If,
    cst.For,
    cst.While,
    cst.With,
    cst.Try,
    cst.FunctionDef,
    cst.ClassDef,
)


class BlockRewriter(CallRewriter):
    """Rewrites statements, after the expressions in them."""

    @property
    def function(self) -> ast.AST | None:
        """The innermost function around the node in hand."""
        return self._functions[-1] if self._functions else None

    # Markers: one list of comments for each open statement
    # -----------------------------------------

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> None:
        self._marks.append([])

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine:
        if not updated_node.body:
            updated_node = updated_node.with_changes(body=[GONE])
        updated_node = self._keep_comments(original_node, updated_node)
        return self._marked(updated_node)

    def visit_Try(self, node: cst.Try) -> None:
        super().visit_Try(node)
        self._marks.append([])

    def leave_Try(self, original_node: cst.Try, updated_node: cst.Try) -> cst.Try:
        return self._marked(updated_node)

    def visit_While(self, node: cst.While) -> None:
        super().visit_While(node)
        self._marks.append([])

    def leave_While(self, original_node: cst.While, updated_node: cst.While) -> cst.While:
        return self._marked(updated_node)

    def visit_For(self, node: cst.For) -> None:
        super().visit_For(node)
        self._marks.append([])

    def leave_For(self, original_node: cst.For, updated_node: cst.For) -> cst.For:
        return self._marked(two_targets(updated_node))

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        super().visit_ClassDef(node)
        self._marks.append([])

    def leave_ClassDef(
        self, original_node: cst.ClassDef, updated_node: cst.ClassDef
    ) -> cst.ClassDef:
        return self._marked(updated_node)

    def _marked(self, node: Compound) -> Compound:
        marks = self._marks.pop()
        present = {line.comment.value for line in node.leading_lines if line.comment}
        added: list[cst.EmptyLine] = [
            comment_line(text) for text in dict.fromkeys(marks) if text not in present
        ]
        return node.with_changes(leading_lines=[*node.leading_lines, *added]) if added else node

    def _keep_comments(
        self, original: cst.SimpleStatementLine, updated: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine:
        """A comment inside an argument that went away moves above the statement."""
        if original is updated or not self._has_inner_comment(original):
            return updated
        present = comments(updated)
        lost: list[cst.EmptyLine] = []
        for text in comments(original):
            if text in present:
                present.remove(text)
            else:
                lost.append(comment_line(text))
        return (
            updated.with_changes(leading_lines=[*updated.leading_lines, *lost]) if lost else updated
        )

    def _has_inner_comment(self, statement: cst.SimpleStatementLine) -> bool:
        """Only a statement of several lines can hold a comment that a rewriting loses."""
        first = self.partner(statement.body[0]) if statement.body else None
        start, end = getattr(first, "lineno", 1), getattr(first, "end_lineno", 10**9)
        return end > start and any("#" in line for line in self.context.lines[start - 1 : end])

    # In-place -------------------------------------------------------------------------------------

    def leave_Expr(
        self, original_node: cst.Expr, updated_node: cst.Expr
    ) -> cst.BaseSmallStatement | cst.RemovalSentinel:
        value = updated_node.value
        if id(value) in self.vanished:
            return cst.RemoveFromParent()
        if self.bare(value) is not value and id(value) not in self.changed_in_place:
            return updated_node.with_changes(value=self.bare(value))
        if id(value) not in self.changed_in_place:
            return updated_node
        changed, place, usage = self.changed_in_place.pop(id(value))
        if self.is_parameter(place):
            target = cst.Attribute(value=changed, attr=cst.Name("set_data"))
            return updated_node.with_changes(value=cst.Call(func=target, args=[cst.Arg(value)]))
        if isinstance(changed, cst.Name | cst.Subscript):
            seen = alias_could_see(place, self.function)
            if seen:
                self.flag(
                    place,
                    Refusal(
                        f"changes {code(changed)} in place, and {seen} could see it",
                        "copy the value first, or use the result",
                        "MS403",
                    ),
                    usage.api,
                )
            return cst.Assign(targets=[cst.AssignTarget(changed)], value=value)
        if isinstance(changed, cst.Attribute):
            return cst.Assign(targets=[cst.AssignTarget(changed)], value=value)
        # The receiver is a value nobody else holds: changing it has no effect that anyone sees.
        self.flag(
            place,
            Refusal(
                "changes a temporary value in place",
                "assign the result to the tensor that is meant",
                "MS403",
            ),
            usage.api,
        )
        return updated_node

    def leave_Assign(
        self, original_node: cst.Assign, updated_node: cst.Assign
    ) -> cst.BaseSmallStatement | cst.RemovalSentinel:
        value = updated_node.value
        if id(value) in self.changed_in_place:
            changed, place, _usage = self.changed_in_place.pop(id(value))
            targets = [code(target.target) for target in updated_node.targets]
            if (
                isinstance(changed, cst.Name | cst.Attribute)
                and code(changed) not in targets
                and self.is_read_later(place)
            ):
                extra = cst.AssignTarget(changed)
                return updated_node.with_changes(targets=[*updated_node.targets, extra])
        if id(value) in self.vanished:
            return updated_node
        if self.bare(value) is not value:
            updated_node = updated_node.with_changes(value=self.bare(value))
        if isinstance(updated_node.targets[0].target, cst.Attribute) and self._sets_data(
            original_node
        ):
            return self._set_data(updated_node)
        if assigns_itself(updated_node) and not assigns_itself(original_node):
            return cst.RemoveFromParent()  # x = x.to(device)
        partner = self.partner(original_node)
        if isinstance(partner, ast.Assign) and all(map(self._is_dropped_setting, partner.targets)):
            self.context.ported += 1
            return cst.RemoveFromParent()
        return updated_node

    def _sets_data(self, node: cst.Assign) -> bool:
        """`p.data = value`, where p is a tensor or may be one."""
        target = node.targets[0].target
        return (
            len(node.targets) == 1
            and is_data(target)
            and self.context.usage(self.partner(target)) is not None
        )

    def _set_data(self, node: cst.Assign) -> cst.Expr:
        target = node.targets[0].target
        # The row for .data may have written more around it; the tensor itself is meant here.
        owner = target.value if isinstance(target, cst.Attribute) else target
        function = cst.Attribute(value=owner, attr=cst.Name("set_data"))
        return cst.Expr(cst.Call(func=function, args=[cst.Arg(node.value)]))

    def visit_Assign(self, node: cst.Assign) -> None:
        super().visit_Assign(node)
        partner = self.partner(node)
        assert isinstance(partner, ast.Assign)
        for target, place in zip(node.targets, partner.targets, strict=True):
            if is_data(target.target) or self._is_dropped_setting(place):
                self._raw_targets.add(id(target.target))

    def _is_dropped_setting(self, place: ast.expr) -> bool:
        """`torch.backends.cudnn.benchmark = True`: a switch that MindSpore does not have."""
        usage = self.context.usage(place)
        entry = self.table.get(usage.api) if usage else None
        if usage is None or entry is None or not self._is_library_path(usage.node):
            return False
        return entry.main.emit == "None" or "remove_statement" in entry.main.rules

    def is_read_later(self, place: ast.expr) -> bool:
        return alias_could_see(place, self.function, only_later_reads=True) != ""

    def leave_Return(self, original_node: cst.Return, updated_node: cst.Return) -> cst.Return:
        if updated_node.value is None:
            return updated_node
        self.changed_in_place.pop(id(updated_node.value), None)
        bare = self.bare(updated_node.value)
        return updated_node if bare is updated_node.value else updated_node.with_changes(value=bare)

    def leave_AugAssign(
        self, original_node: cst.AugAssign, updated_node: cst.AugAssign
    ) -> cst.AugAssign:
        partner = self.partner(original_node)
        if isinstance(partner, ast.AugAssign) and isinstance(partner.target, ast.Name):
            from migrate.resolve.values import is_tensor

            if is_tensor(self.context.type(partner.target)):
                seen = alias_could_see(partner.target, self.function)
                if seen:
                    name = partner.target.id
                    reason = f"changes {name} in place in torch, which {seen} could see"
                    self.flag(
                        partner,
                        Refusal(
                            reason,
                            f"write {name} = {name} ... if nothing relies on it",
                            "MS403",
                        ),
                    )
        return updated_node

    # Blocks ---------------------------------------------------------------------------------------

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

    def visit_If(self, node: cst.If) -> None:
        super().visit_If(node)
        self._marks.append([])
        if isinstance(node.orelse, cst.If):
            self._elifs.add(id(node.orelse))

    def leave_If(self, original_node: cst.If, updated_node: cst.If) -> Any:
        node = self._marked(updated_node)
        if original_node.test is updated_node.test:
            return node
        decided = truth_of(node.test)
        if decided is None or truth_of(original_node.test) is not None:
            return node
        return (
            decided_elif(node, decided)
            if id(original_node) in self._elifs
            else decided_if(node, decided)
        )

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
        return updated_node.with_changes(
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
        node = self._with_decorator_comments(original_node, node)
        if id(self.partner(original_node)) in self.context.forwards:
            node = node.with_changes(name=cst.Name("construct"))
        return node

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
        body, rest = without_empty(updated_node.body)
        if not body:
            body = [cst.SimpleStatementLine([cst.Pass()], leading_lines=rest)]
            rest = []
        return updated_node.with_changes(body=body, footer=[*rest, *updated_node.footer])

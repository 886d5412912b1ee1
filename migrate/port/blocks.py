"""Statements: in-place changes rebound, calls without effect removed, blocks unwrapped, markers
placed.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, TypeVar

import libcst as cst

from migrate.port.aliases import alias_could_see
from migrate.port.call import Refusal
from migrate.port.calls import CallRewriter, is_data
from migrate.port.nodes import code, comment_line, comments, literal

# Stands for a statement that lost everything until its block is put together; libcst would drop
# its comments.
GONE = cst.Expr(cst.Name("ms_migrate_gone"))

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
        return self._marked(_two_targets(updated_node))

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
        if _assigns_itself(updated_node) and not _assigns_itself(original_node):
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
        return _unwrapped(node)

    def visit_If(self, node: cst.If) -> None:
        super().visit_If(node)
        self._marks.append([])
        if isinstance(node.orelse, cst.If):
            self._elifs.add(id(node.orelse))

    def leave_If(self, original_node: cst.If, updated_node: cst.If) -> Any:
        node = self._marked(updated_node)
        if original_node.test is updated_node.test:
            return node
        decided = _truth(node.test)
        if decided is None or _truth(original_node.test) is not None:
            return node
        return (
            _decided_elif(node, decided)
            if id(original_node) in self._elifs
            else _decided(node, decided)
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
        if id(self.partner(original_node)) in self.context.forwards:
            node = node.with_changes(name=cst.Name("construct"))
        return node

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        body, rest = without_empty(updated_node.body)
        if not body:
            body = [cst.SimpleStatementLine([cst.Pass()], leading_lines=rest)]
            rest = []
        return updated_node.with_changes(body=body, footer=[*rest, *updated_node.footer])


def without_empty(
    body: Sequence[cst.BaseStatement | cst.BaseSmallStatement],
) -> tuple[list[cst.BaseStatement], list[cst.EmptyLine]]:
    """Drop statements that lost everything.

    Their comments go to the next statement, or are handed back.
    """
    kept: list[cst.BaseStatement] = []
    carried: list[cst.EmptyLine] = []
    for statement in body:
        if is_gone(statement):
            assert isinstance(statement, cst.SimpleStatementLine)
            carried += [line for line in statement.leading_lines if line.comment]
            if statement.trailing_whitespace.comment:
                carried.append(cst.EmptyLine(comment=statement.trailing_whitespace.comment))
            continue
        if carried:
            lines = [*carried, *getattr(statement, "leading_lines", ())]
            statement = statement.with_changes(leading_lines=lines)
            carried = []
        kept.append(statement)  # type: ignore[arg-type]
    return kept, carried


def is_gone(statement: cst.CSTNode) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and list(statement.body) in ([], [GONE])


def _unwrapped(node: cst.With) -> cst.FlattenSentinel[cst.BaseStatement]:
    """The body of a block whose context has no meaning here."""
    if isinstance(node.body, cst.SimpleStatementSuite):
        return cst.FlattenSentinel(
            [cst.SimpleStatementLine(node.body.body, leading_lines=node.leading_lines)]
        )
    body = list(node.body.body)
    head = [*node.leading_lines]
    if isinstance(node.body, cst.IndentedBlock) and node.body.header.comment:
        head.append(cst.EmptyLine(comment=node.body.header.comment))
    first = body[0]
    body[0] = first.with_changes(leading_lines=[*head, *getattr(first, "leading_lines", ())])
    footer = node.body.footer if isinstance(node.body, cst.IndentedBlock) else ()
    tail = [line for line in footer if line.comment]
    if tail:
        body.append(cst.SimpleStatementLine([GONE], leading_lines=tail))
    return cst.FlattenSentinel(body)  # type: ignore[arg-type]


def _truth(test: cst.BaseExpression) -> bool | None:
    """The value of a condition that became constant."""
    text = literal(test)
    if text in ("True", "False"):
        return text == "True"
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        inner = _truth(test.expression)
        return None if inner is None else not inner
    if isinstance(test, cst.BooleanOperation):
        left, right = _truth(test.left), _truth(test.right)
        if isinstance(test.operator, cst.And):
            return False if left is False or right is False else (True if left and right else None)
        return (
            True
            if left is True or right is True
            else (False if left is False and right is False else None)
        )
    return None


def _decided(
    node: cst.If, truth: bool
) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement] | cst.RemovalSentinel:
    """Only the branch that MindSpore can take."""
    if truth:
        return _flat(node.body, node)
    if node.orelse is None:
        return cst.SimpleStatementLine([GONE], leading_lines=node.leading_lines)
    if isinstance(node.orelse, cst.If):
        return node.orelse.with_changes(
            leading_lines=[*node.leading_lines, *node.orelse.leading_lines]
        )
    return _flat(node.orelse.body, node)


def _decided_elif(node: cst.If, truth: bool) -> cst.If | cst.Else | cst.RemovalSentinel:
    """The same behind an `if`, where only an `else` can take its place."""
    if truth:
        return cst.Else(body=node.body, leading_lines=node.leading_lines)
    if node.orelse is None:
        return cst.RemoveFromParent()
    return node.orelse.with_changes(leading_lines=[*node.leading_lines, *node.orelse.leading_lines])


def _flat(body: cst.BaseSuite, node: cst.If) -> cst.FlattenSentinel[cst.BaseStatement]:
    if isinstance(body, cst.SimpleStatementSuite):
        return cst.FlattenSentinel(
            [cst.SimpleStatementLine(body.body, leading_lines=node.leading_lines)]
        )
    statements = list(body.body)
    first = statements[0]
    statements[0] = first.with_changes(
        leading_lines=[*node.leading_lines, *getattr(first, "leading_lines", ())]
    )
    return cst.FlattenSentinel(statements)  # type: ignore[arg-type]


def _assigns_itself(node: cst.Assign) -> bool:
    if len(node.targets) != 1 or not isinstance(node.value, cst.Name | cst.Attribute | cst.Tuple):
        return False
    return code(node.targets[0].target) == code(node.value)


def _two_targets(node: cst.For) -> cst.For:
    """`for m in (cell for _, cell in net.cells_and_names())` reads better as `for _, m in
    net.cells_and_names()`.
    """
    iterable = node.iter
    if not isinstance(iterable, cst.GeneratorExp) or not isinstance(node.target, cst.Name):
        return node
    inner = iterable.for_in
    element, target = iterable.elt, inner.target
    if (
        inner.ifs
        or inner.inner_for_in
        or not isinstance(target, cst.Tuple)
        or not isinstance(element, cst.Name)
    ):
        return node
    names = [part.value.value for part in target.elements if isinstance(part.value, cst.Name)]
    if len(names) != 2 or element.value not in names:
        return node
    renamed = [
        part.with_changes(value=node.target if part.value.value == element.value else part.value)  # type: ignore[attr-defined]
        for part in target.elements
    ]
    return node.with_changes(target=cst.Tuple(renamed, lpar=[], rpar=[]), iter=inner.iter)

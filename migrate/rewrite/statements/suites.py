"""Bodies of blocks: statements that went away, branches that are decided, contexts unwrapped."""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst

from migrate.syntax.children import code_nodes
from migrate.syntax.nodes import comment_line, literal, with_parts
from migrate.syntax.text import code, comments

_DEVICES = re.compile(r"(?i)\b(?:gpus?|cuda|cudnn|devices?|pinned|non_blocking|nccl)\b")
# Stands for a statement that lost everything until its block is put together; libcst would drop
# its comments.
GONE = cst.Expr(cst.Name("ms_migrate_gone"))


def without_empty(
    body: Sequence[cst.BaseStatement | cst.BaseSmallStatement],
) -> tuple[list[cst.BaseStatement], list[cst.EmptyLine]]:
    """Drop statements that lost everything.

    Their comments go to the next statement, or are handed back; those about devices go with them.
    """
    kept: list[cst.BaseStatement] = []
    carried: list[cst.EmptyLine] = []
    for statement in body:
        if is_gone(statement):
            assert isinstance(statement, cst.SimpleStatementLine)
            lines = [line for line in statement.leading_lines if line.comment]
            if statement.trailing_whitespace.comment:
                lines.append(cst.EmptyLine(comment=statement.trailing_whitespace.comment))
            carried += [line for line in lines if not _is_about_devices(line)]
            continue
        if carried:
            lines = [*carried, *getattr(statement, "leading_lines", ())]
            statement = statement.with_changes(leading_lines=lines)
            carried = []
        kept.append(statement)  # type: ignore[arg-type]
    return kept, carried


def _is_about_devices(line: cst.EmptyLine) -> bool:
    """`# move the model to the GPU`, whose code MindSpore does not need."""
    return line.comment is not None and bool(_DEVICES.search(line.comment.value))


def is_gone(statement: cst.CSTNode) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and list(statement.body) in ([], [GONE])


def unwrapped(node: cst.With) -> cst.FlattenSentinel[cst.BaseStatement]:
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


_HARMLESS = (
    *("get_context", "isinstance", "issubclass", "hasattr", "getattr", "len", "callable"),
    *("is_tensor", "device_type", "startswith", "endswith"),
)


def is_pure(test: cst.BaseExpression) -> bool:
    """A condition that only looks: whether it is computed makes no difference."""
    parts = list(code_nodes(test))
    names = [part.func for part in parts if isinstance(part, cst.Call)]
    acts = any(isinstance(part, (cst.NamedExpr, cst.Await, cst.Yield)) for part in parts)
    return not acts and all(code(name).rpartition(".")[2] in _HARMLESS for name in names)


def is_emptied(
    original: cst.BaseSuite | cst.If | cst.Else | None,
    new: cst.BaseSuite | cst.If | cst.Else | None,
) -> bool:
    """All that a branch did went away, and `pass` stands in its place."""
    if isinstance(original, cst.Else) and isinstance(new, cst.Else):
        return is_emptied(original.body, new.body)
    return (
        isinstance(new, cst.IndentedBlock)
        and isinstance(original, cst.IndentedBlock)
        and _is_pass(new)
        and not _is_pass(original)
    )


def _is_pass(body: cst.IndentedBlock) -> bool:
    line = body.body[0] if len(body.body) == 1 else None
    return (
        isinstance(line, cst.SimpleStatementLine)
        and len(line.body) == 1
        and isinstance(line.body[0], cst.Pass)
    )


def with_comments_inside(node: cst.If) -> cst.If:
    """Without its `else`, whose comments close the branch before it."""
    assert isinstance(node.orelse, cst.Else) and isinstance(node.body, cst.IndentedBlock)
    footer = [*node.body.footer, *_comment_lines(node.orelse)]
    return node.with_changes(orelse=None, body=node.body.with_changes(footer=footer))


def truth_of(test: cst.BaseExpression) -> bool | None:
    """The value of a condition that became constant."""
    text = literal(test)
    if text in ("True", "False"):
        return text == "True"
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        inner = truth_of(test.expression)
        return None if inner is None else not inner
    if isinstance(test, cst.BooleanOperation):
        left, right = truth_of(test.left), truth_of(test.right)
        if isinstance(test.operator, cst.And):
            return False if left is False or right is False else (True if left and right else None)
        return (
            True
            if left is True or right is True
            else (False if left is False and right is False else None)
        )
    return None


def decided_if(
    node: cst.If, truth: bool
) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement] | cst.RemovalSentinel:
    """Only the branch that MindSpore can take; what the other one says stays as comments."""
    head = list(node.leading_lines)
    if truth:
        return flat(node.body, [*head, *_comment_lines(node.orelse)])
    head += _comment_lines(node.body)
    if node.orelse is None:
        return cst.SimpleStatementLine([GONE], leading_lines=head)
    if isinstance(node.orelse, cst.If):
        return node.orelse.with_changes(leading_lines=[*head, *node.orelse.leading_lines])
    return flat(node.orelse.body, [*head, *node.orelse.leading_lines])


def decided_elif(node: cst.If, truth: bool) -> cst.If | cst.Else | cst.RemovalSentinel:
    """The same behind an `if`, where only an `else` can take its place."""
    head = list(node.leading_lines)
    if truth:
        lines = [*head, *_comment_lines(node.orelse)]
        return cst.Else(body=node.body, leading_lines=lines)
    if node.orelse is None:
        return cst.RemoveFromParent()
    lines = [*head, *_comment_lines(node.body), *node.orelse.leading_lines]
    return node.orelse.with_changes(leading_lines=lines)


def _comment_lines(node: cst.CSTNode | None) -> list[cst.EmptyLine]:
    return [comment_line(text) for text in comments(node)] if node is not None else []


def flat(
    body: cst.BaseSuite, head: Sequence[cst.EmptyLine]
) -> cst.FlattenSentinel[cst.BaseStatement]:
    if isinstance(body, cst.SimpleStatementSuite):
        return cst.FlattenSentinel([cst.SimpleStatementLine(body.body, leading_lines=head)])
    statements = list(body.body)
    lines = [*head]
    if isinstance(body, cst.IndentedBlock) and body.header.comment:
        lines.append(cst.EmptyLine(comment=body.header.comment))
    first = statements[0]
    statements[0] = first.with_changes(leading_lines=[*lines, *getattr(first, "leading_lines", ())])
    tail = [line for line in getattr(body, "footer", ()) if line.comment]
    if tail:
        statements.append(cst.SimpleStatementLine([GONE], leading_lines=tail))
    return cst.FlattenSentinel(statements)  # type: ignore[arg-type]


def assigns_itself(node: cst.Assign) -> bool:
    if len(node.targets) != 1 or not isinstance(node.value, (cst.Name, cst.Attribute, cst.Tuple)):
        return False
    return code(node.targets[0].target) == code(node.value)


def two_targets(node: cst.For) -> cst.For:
    """`for m in (cell for _, cell in net.cells_and_names())` reads better as `for _, m in
    net.cells_and_names()`.
    """
    iterable = node.iter
    if not isinstance(iterable, (cst.GeneratorExp, cst.ListComp)) or not isinstance(
        node.target, cst.Name
    ):
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


def tidied(block: cst.IndentedBlock) -> cst.IndentedBlock:
    """A block without the statements that went away; `pass` where none is left."""
    body, rest = without_empty(block.body)
    if not body:
        body, rest = [cst.SimpleStatementLine([cst.Pass()], leading_lines=rest)], []
    return with_parts(block, body=body, footer=[*rest, *block.footer])

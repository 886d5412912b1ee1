"""`f = partial(kernel, matrix=m)`, called twice: written out, as calls of the function itself.

MindSpore 2.10 compiles all calls of one partial with the keywords of the last: `f(q, flag=True)` in
front of `f(k, flag=False)` computes with False, and nothing says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.pipeline.context import Context
from migrate.syntax.nodes import with_parts
from migrate.syntax.text import code
from migrate.syntax.walk import transform_lazily

_PARTIAL = ("partial", "functools.partial")


@declare(
    phase="graph_mode",
    unit="function",
    needs=["compiled"],
    examples=[
        becomes(
            "f = partial(self.kernel, matrix=y)\nx = f(x, on=True) + f(x, on=False)",
            "x = self.kernel(x, on=True, matrix=y) + self.kernel(x, on=False, matrix=y)",
        ),
    ],
)
def inline_partials(function: cst.FunctionDef, text: str, context: Context) -> cst.FunctionDef:
    """Only where all that the partial holds still has the same value at its calls."""
    if "partial(" not in text:
        return function
    return transform_lazily(function, _Blocks(function))


class _Blocks(cst.CSTTransformer):
    def __init__(self, function: cst.FunctionDef) -> None:
        super().__init__()
        self._function = function

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        body = list(updated_node.body)
        place = 0
        while place < len(body):
            found = _partial(body[place])
            if found is not None and self._fits(*found, body[place + 1 :]):
                written = _WriteOut(*found)
                body[place:] = [transform_lazily(s, written) for s in body[place + 1 :]]
            else:
                place += 1
        return with_parts(updated_node, body=body)

    def _fits(self, name: str, partial: cst.Call, after: Sequence[cst.BaseStatement]) -> bool:
        """Called at least twice with keywords, used for nothing else, and made of lasting names."""
        calls = [call for statement in after for call in _calls(statement, name)]
        inside = [n.value for statement in after for n in _names(statement)]
        stored = {n.value for statement in after for n in _stored(statement)}
        held = {n.value for argument in partial.args for n in _names(argument.value)}
        return (
            sum(any(a.keyword for a in call.args) for call in calls) > 1
            and inside.count(name) == len(calls)
            and name not in stored
            and not held & stored
            and not self._is_read_outside(name, partial, after)
            and all(_is_lasting(argument) for argument in partial.args)
        )

    def _is_read_outside(
        self, name: str, partial: cst.Call, after: Sequence[cst.BaseStatement]
    ) -> bool:
        """Behind the block; another block may have a partial of the same name for itself."""
        rest = code(self._function.body).partition(code(partial))[2]
        here = sum(part.value == name for statement in after for part in _names(statement))
        return len(re.findall(rf"\b{name}\b", rest)) > here


class _WriteOut(cst.CSTTransformer):
    def __init__(self, name: str, partial: cst.Call) -> None:
        super().__init__()
        self._name = name
        self._partial = partial

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        if not isinstance(updated_node.func, cst.Name) or updated_node.func.value != self._name:
            return updated_node
        function, *held = self._partial.args
        own = {a.keyword.value for a in updated_node.args if a.keyword is not None}
        first = [a for a in held if a.keyword is None]
        last = [a for a in held if a.keyword is not None and a.keyword.value not in own]
        arguments = [a.with_changes(comma=cst.MaybeSentinel.DEFAULT) for a in updated_node.args]
        last = [a.with_changes(comma=cst.MaybeSentinel.DEFAULT) for a in last]
        return updated_node.with_changes(func=function.value, args=[*first, *arguments, *last])


def _partial(statement: cst.BaseStatement) -> tuple[str, cst.Call] | None:
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return None
    assign = statement.body[0]
    if not isinstance(assign, cst.Assign) or len(assign.targets) != 1:
        return None
    target, value = assign.targets[0].target, assign.value
    if not isinstance(target, cst.Name) or not isinstance(value, cst.Call) or not value.args:
        return None
    return (target.value, value) if code(value.func) in _PARTIAL else None


def _is_lasting(argument: cst.Arg) -> bool:
    """A name, an attribute or a constant: reading it again costs nothing and does nothing."""
    value = argument.value
    while isinstance(value, cst.Attribute):
        value = value.value
    return not argument.star and isinstance(value, cst.Name | cst.BaseNumber | cst.SimpleString)


def _walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    yield node
    for child in node.children:
        if isinstance(node, cst.Arg) and child is node.keyword:
            continue
        if isinstance(node, cst.Attribute) and child is node.attr:
            continue
        yield from _walk(child)


def _names(node: cst.CSTNode) -> list[cst.Name]:
    return [part for part in _walk(node) if isinstance(part, cst.Name)]


def _calls(node: cst.CSTNode, name: str) -> list[cst.Call]:
    return [
        part
        for part in _walk(node)
        if isinstance(part, cst.Call)
        and isinstance(part.func, cst.Name)
        and part.func.value == name
    ]


def _stored(node: cst.CSTNode) -> list[cst.Name]:
    targets: list[cst.CSTNode] = []
    for part in _walk(node):
        if isinstance(part, cst.AssignTarget | cst.AnnAssign | cst.AugAssign | cst.For):
            targets.append(part.target)
    return [
        name
        for target in targets
        if isinstance(target, cst.Name | cst.Tuple | cst.List)
        for name in _names(target)
    ]

"""`self.features = f(x)`, read again behind it: compiled, what is read has no gradient, and nothing
says so. A variable of its own has.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Sequence
from functools import lru_cache

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.pipeline.context import Context
from migrate.syntax.ast_index import nodes_of
from migrate.syntax.nodes import with_parts
from migrate.syntax.text import code
from migrate.syntax.walk import transform_lazily

_WRITTEN = re.compile(r"^\s*self\.\w+ = ", re.MULTILINE)
_CONSTANTS = (cst.BaseNumber, cst.SimpleString)


@lru_cache(maxsize=1)
def multi_writer_attrs(tree: ast.Module) -> frozenset[str]:
    """Attributes of self that more than one method beside `__init__` gives a value: a call between
    the write and the read may change them. Buffers are Parameters, and are read as copies.
    """
    writers: dict[str, set[int]] = {}
    for method in nodes_of(tree, ast.FunctionDef):
        assert isinstance(method, ast.FunctionDef)
        for node in ast.walk(method) if method.name != "__init__" else ():
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                writers.setdefault(node.attr, set()).add(id(method))
    many = {name for name, methods in writers.items() if len(methods) > 1}
    registered = {
        call.args[0].value
        for call in nodes_of(tree, ast.Call)
        if isinstance(call, ast.Call)
        and getattr(call.func, "attr", "") in ("register_buffer", "register_parameter")
        and call.args
        and isinstance(call.args[0], ast.Constant)
    }
    return frozenset(many | {name for name in registered if isinstance(name, str)})


@declare(
    phase="graph_mode",
    unit="function",
    needs=["compiled"],
    examples=[
        becomes(
            "self.features = x + 1\nx = self.features * 2",
            "features = x + 1\nself.features = features\nx = features * 2",
        ),
    ],
)
def localize_self_attr(function: cst.FunctionDef, text: str, context: Context) -> cst.FunctionDef:
    """`features = f(x)`, `self.features = features`, and the variable from there on."""
    if not _WRITTEN.search(text):
        return function
    of_many = multi_writer_attrs(context.tree)
    return transform_lazily(function, _Blocks(set(re.findall(r"\w+", text)), of_many))


class _Blocks(cst.CSTTransformer):
    def __init__(self, taken: set[str], of_many: Collection[str]) -> None:
        super().__init__()
        self._taken = taken
        self._of_many = of_many

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        body = list(updated_node.body)
        place = 0
        while place < len(body):
            found = _written(body[place])
            if found is not None and found[0] not in self._of_many:
                body[place:] = self._named(body[place], found[0], found[1], body[place + 1 :])
            place += 1
        return with_parts(updated_node, body=body)

    def _named(
        self,
        line: cst.BaseStatement,
        attribute: str,
        value: cst.BaseExpression,
        after: Sequence[cst.BaseStatement],
    ) -> list[cst.BaseStatement]:
        again = [i for i, statement in enumerate(after) if _writes(statement, attribute)]
        end = again[0] if again else len(after)
        if not any(_reads(statement, attribute) for statement in after[:end]):
            return [line, *after]
        name = attribute if not self._is_variable(attribute, [line, *after]) else ""
        number = 1
        while not name:
            number += 1
            wish = f"{attribute}_{number}"
            name = "" if wish in self._taken else wish
        self._taken.add(name)
        assert isinstance(line, cst.SimpleStatementLine)
        first = line.with_changes(
            body=[cst.Assign([cst.AssignTarget(cst.Name(name))], value)],
            trailing_whitespace=cst.TrailingWhitespace(),
        )
        kept = cst.Assign(
            [cst.AssignTarget(cst.Attribute(cst.Name("self"), cst.Name(attribute)))],
            cst.Name(name),
        )
        second = line.with_changes(body=[kept], leading_lines=[])
        reader = _Read(attribute, name)
        return [first, second, *(transform_lazily(s, reader) for s in after[:end]), *after[end:]]

    def _is_variable(self, name: str, statements: Sequence[cst.BaseStatement]) -> bool:
        """Whether it may stand for something else here; as an attribute's name it does not."""
        texts = "\n".join(map(code, statements))
        return name in self._taken and bool(re.search(rf"(?<![\w.]){name}\b", texts))


class _Read(cst.CSTTransformer):
    def __init__(self, attribute: str, name: str) -> None:
        super().__init__()
        self._attribute = attribute
        self._name = name

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        own = code(updated_node.value) == "self" and updated_node.attr.value == self._attribute
        return cst.Name(self._name) if own else updated_node


def _written(statement: cst.BaseStatement) -> tuple[str, cst.BaseExpression] | None:
    """Attribute and value of `self.features = f(x)`."""
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return None
    assign = statement.body[0]
    if not isinstance(assign, cst.Assign) or len(assign.targets) != 1:
        return None
    target = assign.targets[0].target
    if not isinstance(target, cst.Attribute) or code(target.value) != "self":
        return None
    if isinstance(assign.value, _CONSTANTS):
        return None
    if isinstance(assign.value, cst.Name) and assign.value.value in ("None", "True", "False"):
        return None
    return target.attr.value, assign.value


def _writes(statement: cst.BaseStatement, attribute: str) -> bool:
    """Also of a part of it, or in one of its blocks: `self.features[0] = y`."""
    own = rf"\bself\.{attribute}\b"
    changes = r"(?:\[[^\n]*\])? *(?:[-+*/@%&|^]|//|\*\*)?=[^=]"
    grows = r"\.(?:append|extend|insert|pop|update|clear|\w+_)\("
    return re.search(f"{own}(?:{changes}|{grows})", code(statement)) is not None


def _reads(statement: cst.BaseStatement, attribute: str) -> bool:
    return re.search(rf"\bself\.{attribute}\b", code(statement)) is not None

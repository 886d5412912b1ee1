"""Constants in a piece, and what follows from them: tests that are decided, branches that go."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from operator import is_
from types import MappingProxyType

import libcst as cst

from migrate.emit.lean.shapes import actions_in, is_name, is_own_attribute, only_statement

Statement = cst.BaseStatement
_CONSTANTS = {"True": True, "False": False, "None": None}
_TYPES = {"bool": bool, "int": int, "float": float, "str": str, "tuple": tuple, "list": list}
_ENDS = (cst.Return, cst.Raise, cst.Continue, cst.Break)
USES = "uses"  # uses("DistributedDataParallel"): whether that piece is in the module


class Unknown:
    """No constant."""


UNKNOWN = Unknown()


def value_of(node: cst.CSTNode) -> object:
    """The constant that an expression is."""
    if isinstance(node, cst.Name):
        return _CONSTANTS.get(node.value, UNKNOWN)
    if isinstance(node, (cst.Integer, cst.Float)):
        return node.evaluated_value
    if isinstance(node, cst.SimpleString) and isinstance(node.evaluated_value, str):
        return node.evaluated_value
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        inner = value_of(node.expression)
        return -inner if isinstance(inner, (int, float)) else UNKNOWN
    return UNKNOWN


def literal(value: object) -> cst.BaseExpression:
    text = f'"{value}"' if isinstance(value, str) and '"' not in value else repr(value)
    return cst.parse_expression(text)


class Folder(cst.CSTTransformer):
    """Puts constants in the place of names and of the receiver's attributes, and decides tests.

    `gone` are classes without instances, `there` the pieces of the module, `results` what functions
    return that do nothing else.
    """

    def __init__(
        self,
        names: Mapping[str, object],
        attributes: Mapping[str, object],
        gone: Collection[str],
        there: Collection[str],
        results: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        super().__init__()
        self._names = names
        self._attributes = attributes
        self._gone = gone
        self._there = there
        self._results = results

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        name = original_node.value
        return literal(self._names[name]) if name in self._names else updated_node

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        if updated_node.keyword is original_node.keyword:
            return updated_node
        return updated_node.with_changes(keyword=original_node.keyword)

    def leave_AssignTarget(
        self, original_node: cst.AssignTarget, updated_node: cst.AssignTarget
    ) -> cst.AssignTarget:
        return original_node if not self._indexes(original_node) else updated_node

    def _indexes(self, target: cst.AssignTarget) -> bool:
        return isinstance(target.target, cst.Subscript)

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        name = original_node.attr.value
        if is_own_attribute(original_node) and name in self._attributes:
            return literal(self._attributes[name])
        if updated_node.attr is original_node.attr:
            return updated_node
        return updated_node.with_changes(attr=original_node.attr)

    def leave_FormattedStringExpression(
        self,
        original_node: cst.FormattedStringExpression,
        updated_node: cst.FormattedStringExpression,
    ) -> cst.BaseFormattedStringContent:
        """A constant in an f-string is text: its quotes may be those around it."""
        value = value_of(updated_node.expression)
        if value is UNKNOWN or value_of(original_node.expression) is not UNKNOWN:
            return updated_node
        if updated_node.format_spec or updated_node.conversion or updated_node.equal:
            return original_node
        return cst.FormattedStringText(str(value).replace("{", "{{").replace("}", "}}"))

    def leave_UnaryOperation(
        self, original_node: cst.UnaryOperation, updated_node: cst.UnaryOperation
    ) -> cst.BaseExpression:
        value = value_of(updated_node.expression)
        if isinstance(updated_node.operator, cst.Not) and value is not UNKNOWN:
            return literal(not value)
        return updated_node

    def leave_Comparison(
        self, original_node: cst.Comparison, updated_node: cst.Comparison
    ) -> cst.BaseExpression:
        if len(updated_node.comparisons) != 1:
            return updated_node
        (test,) = updated_node.comparisons
        left, right = value_of(updated_node.left), value_of(test.comparator)
        if isinstance(test.comparator, cst.Tuple) and left is not UNKNOWN:
            among = [value_of(one.value) for one in test.comparator.elements]
            if UNKNOWN not in among and isinstance(test.operator, (cst.In, cst.NotIn)):
                return literal((left in among) is isinstance(test.operator, cst.In))
        if left is UNKNOWN or right is UNKNOWN:
            return updated_node
        same = left == right
        if isinstance(test.operator, (cst.Is, cst.IsNot)):
            same = same and type(left) is type(right)
        if isinstance(test.operator, (cst.Is, cst.Equal)):
            return literal(same)
        if isinstance(test.operator, (cst.IsNot, cst.NotEqual)):
            return literal(not same)
        return updated_node

    def leave_BooleanOperation(
        self, original_node: cst.BooleanOperation, updated_node: cst.BooleanOperation
    ) -> cst.BaseExpression:
        value, last = value_of(updated_node.left), value_of(updated_node.right)
        if value is UNKNOWN:
            neutral = last is isinstance(updated_node.operator, cst.And)
            return updated_node.left if neutral and _is_bool(updated_node.left) else updated_node
        goes_on = bool(value) == isinstance(updated_node.operator, cst.And)
        return updated_node.right if goes_on else updated_node.left

    def leave_IfExp(self, original_node: cst.IfExp, updated_node: cst.IfExp) -> cst.BaseExpression:
        test = truth(updated_node.test)
        if test is None:
            return updated_node
        return updated_node.body if test else updated_node.orelse

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        called, args = original_node.func, updated_node.args
        if not isinstance(called, cst.Name):
            return updated_node
        if called.value == USES and len(args) == 1:
            return literal(value_of(args[0].value) in self._there)
        if called.value in self._results and all(is_pure(arg.value) for arg in args):
            return literal(self._results[called.value])
        if called.value == "isinstance" and len(args) == 2:
            return self._asked(updated_node)
        return updated_node

    def _asked(self, call: cst.Call) -> cst.BaseExpression:
        kinds = call.args[1].value
        listed = [e.value for e in kinds.elements] if isinstance(kinds, cst.Tuple) else [kinds]
        names = [one.value if isinstance(one, cst.Name) else "" for one in listed]
        value = value_of(call.args[0].value)
        if value is None and "" not in names and "object" not in names:
            return literal(False)
        if value is not UNKNOWN and all(name in _TYPES for name in names):
            return literal(isinstance(value, tuple(_TYPES[name] for name in names)))
        left = [one for one, name in zip(listed, names, strict=True) if name not in self._gone]
        if len(left) == len(listed):
            return call
        if not left:
            return literal(False)
        kind = left[0] if len(left) == 1 else cst.Tuple([cst.Element(one) for one in left])
        return call.with_changes(args=[call.args[0], call.args[1].with_changes(value=kind)])

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        body = decided(updated_node.body)
        same = len(body) == len(updated_node.body) and all(map(is_, body, updated_node.body))
        return updated_node if same else updated_node.with_changes(body=body)


def _is_bool(node: cst.BaseExpression) -> bool:
    """`x is None and True` is `x is None`."""
    if isinstance(node, cst.Comparison):
        return isinstance(node.comparisons[0].operator, (cst.Is, cst.IsNot, cst.In, cst.NotIn))
    return isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not)


def truth(test: cst.BaseExpression) -> bool | None:
    """How a test ends, where that is known: `x.ndim and False` does not, `False` does."""
    value = value_of(test)
    if value is not UNKNOWN:
        return bool(value)
    if isinstance(test, cst.BooleanOperation):
        right = truth(test.right)
        left = truth(test.left)
        decides = isinstance(test.operator, cst.Or)
        if left is decides or (right is decides and is_pure(test.left)):
            return decides
    return None


def is_pure(node: cst.CSTNode) -> bool:
    """Whether leaving an expression out changes nothing else."""
    return all(
        isinstance(one, cst.Call) and is_name(one.func, "isinstance", "len", "hasattr", "getattr")
        for one in actions_in(node)
    )


def decided(body: Sequence[Statement]) -> list[Statement]:
    """Statements without branches that are never taken, and without what follows a return."""
    found: list[Statement] = []
    for statement in body:
        found += _taken(statement) if isinstance(statement, cst.If) else [statement]
        last = found[-1] if found else None
        if isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], _ENDS):
            break
    return found


def _taken(node: cst.If) -> list[Statement]:
    test = truth(node.test)
    if test is True:
        return _statements(node.body, node.leading_lines)
    orelse = _rest(node.orelse)
    if test is None:
        if not _statements(node.body) and orelse is None and is_pure(node.test):
            return []
        new = _bare(_without_constants(node.test))
        if new is node.test and orelse is node.orelse:
            return [node]
        return [node.with_changes(orelse=orelse, test=new)]
    if isinstance(orelse, cst.If):
        return [orelse.with_changes(leading_lines=node.leading_lines)]
    return [] if orelse is None else _statements(orelse.body, node.leading_lines)


def _rest(orelse: cst.If | cst.Else | None) -> cst.If | cst.Else | None:
    """An elif or else, with what is known of it."""
    if not isinstance(orelse, cst.If):
        return orelse
    test = truth(orelse.test)
    if test is True:
        return cst.Else(orelse.body)
    rest = _rest(orelse.orelse)
    if test is False:
        return rest
    return orelse if rest is orelse.orelse else orelse.with_changes(orelse=rest)


def _without_constants(test: cst.BaseExpression) -> cst.BaseExpression:
    """`x and True` is a test of x."""
    if isinstance(test, cst.BooleanOperation):
        left, right = _without_constants(test.left), _without_constants(test.right)
        neutral = isinstance(test.operator, cst.And)
        if value_of(right) is not UNKNOWN and bool(value_of(right)) is neutral:
            return left
        if left is not test.left or right is not test.right:
            return test.with_changes(left=left, right=right)
    return test


def _bare(test: cst.BaseExpression) -> cst.BaseExpression:
    """A test without brackets of its own, which one part of it may have had."""
    multiline = isinstance(test, cst.BooleanOperation) and test.lpar
    if multiline and "\n" not in cst.Module([]).code_for_node(test):
        return test.with_changes(lpar=[], rpar=[])
    return test


def _statements(block: cst.BaseSuite, leading: Sequence[cst.EmptyLine] = ()) -> list[Statement]:
    if not isinstance(block, cst.IndentedBlock):
        small = [one for one in block.body if isinstance(one, cst.BaseSmallStatement)]
        return [cst.SimpleStatementLine(small)]
    body = [one for one in block.body if not isinstance(only_statement(one), cst.Pass)]
    comments = [line for line in leading if line.comment]
    if body and comments:
        first = body[0]
        body[0] = first.with_changes(leading_lines=[*comments, *first.leading_lines])  # type: ignore[attr-defined]
    return body

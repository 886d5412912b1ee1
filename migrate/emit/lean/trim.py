"""One piece without what nobody asks of it: parameters, methods, attributes, unread locals."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from operator import is_
from typing import NamedTuple

import libcst as cst

from migrate.emit.lean.fold import UNKNOWN, Folder, decided, is_pure, value_of
from migrate.emit.lean.shapes import (
    is_base_constructor,
    is_own_attribute,
    only_statement,
    only_target,
)
from migrate.emit.lean.signature import signed
from migrate.syntax.access import is_read
from migrate.syntax.collapse_lines import on_one_line
from migrate.syntax.text import code
from migrate.syntax.walk import transform_lazily


@dataclass(frozen=True, slots=True)
class Cut:
    """What is known of a piece."""

    parameters: Mapping[str, object] = field(default_factory=dict)  # never given: their defaults
    methods: Collection[str] = ()  # and attributes of the class, that nobody names
    attributes: Mapping[str, object] = field(default_factory=dict)  # of the receiver, constant
    unread: Collection[str] = ()  # attributes that nobody else reads
    gone: Collection[str] = ()  # classes without instances
    there: Collection[str] = ()  # pieces of the module
    results: Mapping[str, object] = field(default_factory=dict)  # functions that return constants
    flags: Mapping[str, object] = field(default_factory=dict)  # variables that are True or False


class Known(NamedTuple):
    """What callers of another piece need not say."""

    places: list[str]  # its parameters by position
    defaults: Mapping[str, object]
    fixed: Collection[str]  # parameters that it has no longer


Defaults = Callable[[str], Known | None]  # by the name of the piece


def trimmed(source: str, cut: Cut, defaults: Defaults) -> str:
    """The source of a piece after the cut."""
    module = cst.parse_module(source)
    piece = module.body[-1]
    if isinstance(piece, cst.ClassDef):
        new: cst.BaseStatement = _class(piece, cut, defaults)
    elif isinstance(piece, cst.FunctionDef):
        new = _function(piece, cut, cut.parameters, defaults)
    elif isinstance(only_statement(piece), cst.Assign):
        new = transform_lazily(piece, Folder({}, {}, cut.gone, cut.there))
    else:
        return source
    text = code(module.with_changes(body=[*module.body[:-1], new])).strip("\n")
    if text == source.strip("\n"):
        return source
    return text if ast.dump(ast.parse(text)) != ast.dump(ast.parse(source)) else source


def _function(
    function: cst.FunctionDef, cut: Cut, parameters: Mapping[str, object], defaults: Defaults
) -> cst.FunctionDef:
    """Fold constants until no more follow. A generator stays one."""
    constant, text, shown = parameters, "", "?"
    function = transform_lazily(function, _Calls(defaults, first=True))
    whole, yields = function, _yields(_parsed(_code(function)))
    while text != shown:
        text = shown
        names = {**cut.flags, **constant}
        folder = Folder(names, cut.attributes, cut.gone, cut.there, cut.results)
        body = transform_lazily(function.body, folder)
        new = transform_lazily(function.with_changes(body=body), _Calls(defaults))
        before = _code(new)
        tree = _parsed(before)
        function = transform_lazily(new, _Locals(_names(tree)))
        shown = _code(function)
        if shown != before:
            tree = _parsed(shown)
        constant = _constant_locals(tree)
    return signed(function, set(parameters)) if _yields(tree) == yields else whole


def _yields(function: ast.FunctionDef) -> bool:
    return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in ast.walk(function))


def _code(function: cst.FunctionDef) -> str:
    return code(function.with_changes(leading_lines=[], lines_after_decorators=[]))


def _parsed(text: str) -> ast.FunctionDef:
    (tree,) = ast.parse(text).body
    assert isinstance(tree, ast.FunctionDef)
    return tree


def _class(node: cst.ClassDef, cut: Cut, defaults: Defaults) -> cst.ClassDef:
    body: list[cst.BaseStatement] = []
    for part in _class_body(node, cut):
        if _class_attribute(part) in cut.methods:
            continue
        if isinstance(part, cst.FunctionDef):
            if part.name.value in cut.methods:
                continue
            made = part.name.value == "__init__"
            part = _function(part, cut, cut.parameters if made else {}, defaults)
            if made:
                part = part.with_changes(body=_without_unread(part.body, cut))
        body.append(part)
    if not body:
        body = [cst.SimpleStatementLine([cst.Pass()])]
    return node.with_changes(body=node.body.with_changes(body=body))


def _class_body(node: cst.ClassDef, cut: Cut) -> list[cst.BaseStatement]:
    """The statements of a class, with those that stand under `if uses(...):` if that holds."""
    body = [one for one in node.body.body if isinstance(one, cst.BaseStatement)]
    if not any(isinstance(one, cst.If) for one in body):
        return body
    folder = Folder(cut.flags, {}, cut.gone, cut.there)
    return decided([_tested(one, folder) if isinstance(one, cst.If) else one for one in body])


def _tested(node: cst.If, folder: Folder) -> cst.If:
    return node.with_changes(test=transform_lazily(node.test, folder))


def _class_attribute(line: cst.CSTNode) -> str:
    """`a` of the line `a = ...`"""
    target = only_target(line)
    return target.value if isinstance(target, cst.Name) else ""


def _without_unread(body: cst.BaseSuite, cut: Cut) -> cst.BaseSuite:
    """A constructor without attributes that are constant, and that nobody else reads."""
    if not isinstance(body, cst.IndentedBlock):
        return body
    constant = {name for name in cut.unread if name in cut.attributes}
    kept = [line for line in body.body if _own_attribute_set(line) not in constant]
    return body.with_changes(body=kept)


def _own_attribute_set(line: cst.CSTNode) -> str:
    """`a` of the line `self.a = ...`"""
    target = only_target(line)
    if isinstance(target, cst.Attribute) and is_own_attribute(target):
        return target.attr.value
    return ""


class _Calls(cst.CSTTransformer):
    """Calls of other pieces without arguments that are what the parameter is anyway."""

    def __init__(self, defaults: Defaults, *, first: bool = False) -> None:
        """The `first` time, arguments go whose parameters are gone; the calls have others then."""
        super().__init__()
        self._defaults = defaults
        self._first = first

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        called = "super" if is_base_constructor(updated_node.func) else ""
        called = updated_node.func.value if isinstance(updated_node.func, cst.Name) else called
        known = self._defaults(called) if called else None
        if known is None or any(arg.star for arg in updated_node.args):
            return updated_node
        if not self._first:
            left = [place for place in known.places if place not in known.fixed]
            known = Known(left, known.defaults, ())
        args = _needed(updated_node.args, known)
        if len(args) == len(updated_node.args):
            return updated_node
        if args:
            args[-1] = args[-1].with_changes(comma=updated_node.args[-1].comma)
            if "\n" not in code(updated_node.with_changes(args=args)):
                args[-1] = args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        shorter = on_one_line(updated_node.with_changes(args=args))
        if not isinstance(shorter, cst.Call) or not shorter.args:
            return updated_node.with_changes(args=args)
        *others, last = shorter.args
        if "\n" not in code(shorter):
            last = last.with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return shorter.with_changes(args=[*others, last])


def _needed(given: Sequence[cst.Arg], known: Known) -> list[cst.Arg]:
    """Arguments whose parameters are there, and have another value without them."""
    places, values, fixed = known
    if len([arg for arg in given if arg.keyword is None]) > len(places):
        return list(given)
    named = [arg.keyword.value if arg.keyword else places[i] for i, arg in enumerate(given)]
    args = [
        arg
        for arg, name in zip(given, named, strict=True)
        if name not in fixed
        and (arg.keyword is None or not _is_default(arg, values.get(name, known)))
    ]
    places = [place for place in places if place not in fixed]
    while args and args[-1].keyword is None and len(args) <= len(places):
        if not _is_default(args[-1], values.get(places[len(args) - 1], known)):
            break
        args.pop()
    return args


def _is_default(arg: cst.Arg, default: object) -> bool:
    value = value_of(arg.value)
    return type(value) is type(default) and value == default


class _Locals(cst.CSTTransformer):
    """Locals that nobody reads, where making them does nothing else; pairs one by one."""

    def __init__(self, read: Counter[str]) -> None:
        super().__init__()
        self._read = read
        self._depth = 0

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        self._depth += 1

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef | cst.RemovalSentinel:
        self._depth -= 1
        name = original_node.name.value
        if self._depth and not original_node.decorators and self._read[name] == 1:
            return cst.RemoveFromParent()
        return updated_node

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.BaseStatement | cst.RemovalSentinel | cst.FlattenSentinel[cst.BaseStatement]:
        (assign,) = updated_node.body if len(updated_node.body) == 1 else [None]
        if not isinstance(assign, cst.Assign) or len(assign.targets) != 1:
            return updated_node
        target = assign.targets[0].target
        if isinstance(target, cst.Name):
            if isinstance(assign.value, cst.Name) and assign.value.value == target.value:
                return cst.RemoveFromParent()
            unread = self._depth and self._read[target.value] == 1
            return cst.RemoveFromParent() if unread and is_pure(assign.value) else updated_node
        pairs = _pairs(target, assign.value)
        if pairs is None:
            return updated_node
        lines = [cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(t)], v)]) for t, v in pairs]
        lines[0] = lines[0].with_changes(leading_lines=updated_node.leading_lines)
        return cst.FlattenSentinel(lines)

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        body = decided(updated_node.body)
        same = len(body) == len(updated_node.body) and all(map(is_, body, updated_node.body))
        return updated_node if same else updated_node.with_changes(body=body)


def _names(tree: ast.AST) -> Counter[str]:
    """How often each name is written in a piece; a nested function's own name once for its def."""
    found: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found[node.id] += 1
        elif isinstance(node, ast.FunctionDef):
            found[node.name] += 1
        elif isinstance(node, (ast.Nonlocal, ast.Global)):
            found.update(node.names)
    return found


def _bound_otherwise(function: ast.FunctionDef) -> set[str]:
    """Parameters, and names of other scopes."""
    taken: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.arguments):
            taken |= {a.arg for a in (*node.posonlyargs, *node.args, *node.kwonlyargs)}
        elif isinstance(node, (ast.Nonlocal, ast.Global)):
            taken |= set(node.names)
    return taken


def _constant_locals(function: ast.FunctionDef) -> dict[str, object]:
    """Locals that are set once, to a constant, before all that reads them."""
    found: dict[str, object] = {}
    stored = Counter(
        node.id for node in ast.walk(function) if isinstance(node, ast.Name) and not is_read(node)
    )
    taken = _bound_otherwise(function)
    bodies = [node.body for node in ast.walk(function) if isinstance(node, ast.FunctionDef)]
    for line in [line for body in bodies for line in body]:
        if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant):
            target = line.targets[0]
            if isinstance(target, ast.Name) and stored[target.id] == 1 and target.id not in taken:
                found[target.id] = line.value.value
    return {name: v for name, v in found.items() if isinstance(v, bool | int | float | str | None)}


def _pairs(
    target: cst.BaseExpression, value: cst.BaseExpression
) -> list[tuple[cst.BaseAssignTargetExpression, cst.BaseExpression]] | None:
    """`self.a, self.b = None, x` as two assignments, where one of the values is a constant."""
    if not isinstance(target, cst.Tuple) or not isinstance(value, cst.Tuple):
        return None
    left = [one.value for one in target.elements]
    right = [one.value for one in value.elements]
    simple = (cst.Name, cst.Integer, cst.Float, cst.SimpleString)
    if len(left) != len(right) or not all(map(is_own_attribute, left)):
        return None
    constant = [value_of(one) is not UNKNOWN for one in right]
    if not any(constant) or not all(isinstance(one, simple) for one in right):
        return None
    return list(zip(left, right, strict=True))  # type: ignore[arg-type]

"""Lists that compiled code changes: `skip = skips.pop()`, `outs.extend(more)`, `outs[0] += x`.

The compiler leaves most of that to Python, and what comes back is of unknown type and has, without
a word, no gradient. A list that a function keeps to itself can be made anew instead.
"""

from __future__ import annotations

import ast
import re
import textwrap

import libcst as cst

from migrate.port.syntax.text import code
from migrate.port.syntax.walk import walked

# What may read a list as a whole without keeping it.
_READERS = frozenset(
    {"cat", "concat", "enumerate", "len", "list", "reversed", "stack", "sum", "zip"}
)
_METHODS = ("copy", "extend", "insert", "pop", "reverse")
_ADDING = ("append", "extend", "insert")
_ADDS_TO_ITEM = re.compile(r"\] ?[^\s=!<>]{1,2}= ")
_KEPT = {"": ("-1", ":-1"), "-1": ("-1", ":-1"), "0": ("0", "1:")}


def list_changes_written_out(function: cst.FunctionDef, text: str) -> cst.FunctionDef:
    """`skip = skips[-1]` and `skips = skips[:-1]`, for a list that the function keeps to itself."""
    if not any(f".{method}(" in text for method in _METHODS) and not _ADDS_TO_ITEM.search(text):
        return function
    tree = ast.parse(textwrap.dedent(text)).body[0]
    lists = _own_lists(tree)
    if not lists:
        return function
    return walked(function, _Changes(lists, {name for name in lists if _holds_its_own(name, tree)}))


class _Changes(cst.CSTTransformer):
    def __init__(self, lists: set[str], unshared: set[str]) -> None:
        super().__init__()
        self._lists = lists
        self._unshared = unshared  # their items have no other name

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        method, name = self._method(updated_node)
        if method != "copy":
            return updated_node
        return cst.Call(func=cst.Name("list"), args=[cst.Arg(cst.Name(name))])

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine | cst.FlattenSentinel[cst.SimpleStatementLine]:
        small = updated_node.body[0]
        if len(updated_node.body) != 1:
            return updated_node
        if isinstance(small, cst.AugAssign):
            return self._added_to_item(updated_node, small)
        if not isinstance(small, cst.Assign | cst.Expr):
            return updated_node
        method, name = self._method(small.value)
        if not isinstance(small.value, cst.Call) or not method:
            return updated_node
        if method == "pop":
            return _popped(updated_node, small, small.value, name)
        new = _new_list(method, name, [a.value for a in small.value.args])
        if not new or not isinstance(small, cst.Expr):
            return updated_node
        return _with_line(updated_node, new)

    def _method(self, call: cst.BaseExpression) -> tuple[str, str]:
        """The method of one of the lists that is called, and the list's name."""
        if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute):
            method, name = call.func.attr.value, call.func.value
            if method in _METHODS and isinstance(name, cst.Name) and name.value in self._lists:
                return method, name.value
        return "", ""

    def _added_to_item(
        self, line: cst.SimpleStatementLine, change: cst.AugAssign
    ) -> cst.SimpleStatementLine:
        """`outs[0] += x` as `outs[0] = outs[0] + x`: compiled, it would count twice."""
        place = change.target
        if (
            not isinstance(place, cst.Subscript)
            or not isinstance(place.value, cst.Name)
            or place.value.value not in self._unshared
        ):
            return line
        operator = code(change.operator).strip().removesuffix("=")
        target = code(place)
        value = code(change.value)
        plain = isinstance(change.value, cst.Name | cst.Call | cst.Attribute | cst.Subscript)
        return _with_line(
            line, f"{target} = {target} {operator} {value if plain else f'({value})'}"
        )


def _new_list(method: str, name: str, given: list[cst.BaseExpression]) -> str:
    """The assignment that takes the place of the change; empty for a form nobody knows."""
    if method == "reverse" and not given:
        return f"{name} = {name}[::-1]"
    if method == "extend" and len(given) == 1:
        more = given[0]
        if isinstance(more, cst.GeneratorExp):
            more = cst.ListComp(elt=more.elt, for_in=more.for_in)
        written = isinstance(more, cst.List | cst.ListComp)
        return f"{name} = {name} + {code(more) if written else f'list({code(more)})'}"
    if method == "insert" and len(given) == 2:
        place, item = (code(part) for part in given)
        if place == "0":
            return f"{name} = [{item}] + {name}"
        if isinstance(given[0], cst.Name | cst.Integer):
            return f"{name} = {name}[:{place}] + [{item}] + {name}[{place}:]"
    return ""


def _with_line(line: cst.SimpleStatementLine, text: str) -> cst.SimpleStatementLine:
    new = cst.parse_statement(text)
    assert isinstance(new, cst.SimpleStatementLine)
    return line.with_changes(body=new.body)


def _popped(
    line: cst.SimpleStatementLine, small: cst.Assign | cst.Expr, call: cst.Call, name: str
) -> cst.SimpleStatementLine | cst.FlattenSentinel[cst.SimpleStatementLine]:
    place = ", ".join(code(argument.value) for argument in call.args)
    if place not in _KEPT:
        return line
    index, rest = _KEPT[place]
    shorter = cst.parse_statement(f"{name} = {name}[{rest}]")
    assert isinstance(shorter, cst.SimpleStatementLine)
    if isinstance(small, cst.Expr):
        return shorter.with_changes(leading_lines=line.leading_lines)
    taken = small.with_changes(value=cst.parse_expression(f"{name}[{index}]"))
    return cst.FlattenSentinel([line.with_changes(body=[taken]), shorter])


def _holds_its_own(name: str, function: ast.AST) -> bool:
    """No item of the list has a name of its own, by which a change of it could be seen."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            given = any(getattr(target, "id", "") == name for target in node.targets)
            if given and not _is_of_new_items(node.value, name):
                return False
            taken = isinstance(node.value, ast.Subscript) and not given
            if taken and getattr(node.value.value, "id", "") == name:  # type: ignore[attr-defined]
                return False
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _ADDING:
            held = getattr(node.func, "value", None)
            items = node.args[-1:] if getattr(held, "id", "") == name else []
            if any(isinstance(item, ast.Name | ast.Starred) for item in items):
                return False
    return True


def _is_of_new_items(value: ast.expr, name: str) -> bool:
    """A list written out, or what is left of the same one; its items are computed in place."""
    if isinstance(value, ast.BinOp):
        return all(_is_of_new_items(side, name) for side in (value.left, value.right))
    if isinstance(value, ast.ListComp):
        return not isinstance(value.elt, ast.Name)
    if isinstance(value, ast.List):
        return not any(isinstance(item, ast.Name | ast.Starred) for item in value.elts)
    held = value.value if isinstance(value, ast.Subscript) else value
    return isinstance(held, ast.Name) and held.id == name


def _makes_list(value: ast.expr, name: str) -> bool:
    """A list written out or copied, or a part of the same one: `skips = skips[::-1]`."""
    if isinstance(value, ast.Call):
        called = value.func
        return getattr(called, "id", "") == "list" or getattr(called, "attr", "") == "copy"
    if isinstance(value, ast.Subscript):
        return isinstance(value.slice, ast.Slice) and getattr(value.value, "id", "") == name
    return isinstance(value, ast.List | ast.ListComp)


def _own_lists(function: ast.AST) -> set[str]:
    """Variables that only ever hold a list made here, which nobody else is given to keep."""
    made: dict[str, bool] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            made[node.arg] = False
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                for part in ast.walk(target):
                    if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                        own = part is target and len(node.targets) == 1
                        own = own and _makes_list(node.value, part.id)
                        made[part.id] = made.get(part.id, True) and own
    fine: set[int] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute | ast.Subscript):
            fine.add(id(node.value))
        elif isinstance(node, ast.For | ast.comprehension):
            fine.add(id(node.iter))
        elif isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name in _READERS:
                fine |= {id(argument) for argument in node.args}
    shared = {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in fine
    }
    inner = {
        part.id
        for node in ast.walk(function)
        if isinstance(node, ast.FunctionDef | ast.Lambda) and node is not function
        for part in ast.walk(node)
        if isinstance(part, ast.Name)
    }
    return {name for name, own in made.items() if own} - shared - inner

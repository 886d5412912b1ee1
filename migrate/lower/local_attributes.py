"""`self.features = f(x)`, read again behind it: compiled, what is read has no gradient, and nothing
says so. A variable has, so the method works with one, and the attribute follows it.
"""

from __future__ import annotations

import ast
import builtins
import keyword
from collections.abc import Iterator

from migrate.lower.function import FUNCTIONS, CompiledFunction
from migrate.pipeline import becomes, declare, same
from migrate.resolve.values import Instance, is_tensor, options_of
from migrate.syntax.access import is_read, is_store
from migrate.syntax.ast_index import all_nodes, nodes_of
from migrate.syntax.edits import Edit, Piece

_REGISTER = ("register_buffer", "register_parameter", "add_module", "register_module")
_LIST_METHODS = frozenset({"append", "extend", "insert", "pop", "clear", "sort", "reverse"})
_FIRST = "__init__"


@declare(
    phase="lower",
    unit="lowering",
    needs=["compiled", "types"],
    examples=[
        becomes(
            "self.features=x + 1\nx = self.features*2",
            "features = x + 1\nself.features = features\nx = features * 2",
        ),
        becomes(
            "self.a, self.b = x + 1, y\nx = self.a * self.b",
            "a, b = (x + 1, y)\nself.b = b\nself.a = a\nx = a * b",
        ),
        becomes(
            "if y is None:\n    self.features = x\nelse:\n    self.features = x * 2\n"
            "x = self.features + 1",
            "if y is None:\n    features = x\n    self.features = features\n"
            "else:\n    features = x * 2\n    self.features = features\nx = features + 1",
        ),
        same("self.count = 1\nx = x * self.count"),
    ],
)
def local_attributes(function: CompiledFunction) -> None:
    if function.owner is None or not function.node.args.args:
        return
    receiver = function.node.args.args[0].arg
    for attribute in _attributes(function, receiver):
        places = [
            node
            for node in function.of_kind(ast.Attribute)
            if node.attr == attribute and getattr(node.value, "id", "") == receiver
        ]
        if _is_fit(attribute, places, function):
            _localize(attribute, places, receiver, function)
            return  # one at a time: statements may bind several


def _attributes(function: CompiledFunction, receiver: str) -> list[str]:
    """Those that the method assigns, and reads in statements of their own."""
    found: dict[str, None] = {}
    for node in function.of_kind(ast.Attribute):
        if is_store(node) and getattr(node.value, "id", "") == receiver:
            found[node.attr] = None
    return list(found)


def _is_worth_a_local(attribute: str, statements: list[ast.stmt]) -> bool:
    """Plain assignments, at least one of them of something that must be computed."""
    if not all(isinstance(s, (ast.Assign, ast.AnnAssign, ast.AugAssign)) for s in statements):
        return False
    return not all(_is_done(s, attribute) or _keeps_number(s) for s in statements)


def _is_fit(attribute: str, places: list[ast.Attribute], function: CompiledFunction) -> bool:
    if any(function.scope_of(place) is not function.node for place in places):
        return False
    stores = [place for place in places if is_store(place)]
    reads = [place for place in places if is_read(place)]
    if not reads or any(isinstance(place.ctx, ast.Del) for place in places):
        return False
    if not _is_worth_a_local(attribute, [function.statement_of(place) for place in stores]):
        return False
    if any(_changes_in_place(place, function) for place in reads):
        return False
    if attribute in _registered(function) or attribute in _written_elsewhere(function):
        return False
    return _first_is_store(places, function) or attribute in _of_constructor(function)


def _is_done(statement: ast.stmt, attribute: str) -> bool:
    """`self.features = features`, as this pass leaves it."""
    return (
        isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Name)
        and statement.value.id.startswith(_local(attribute))
    )


def _keeps_number(statement: ast.stmt) -> bool:
    """A flag, a number or a text: state of Python's, without a gradient."""
    value = getattr(statement, "value", None)
    if isinstance(statement, ast.AugAssign):
        return isinstance(value, ast.Constant)
    return value is None or isinstance(value, ast.Constant)


def _changes_in_place(read: ast.Attribute, function: CompiledFunction) -> bool:
    """`self.cache[0] = y`, `self.mean.mul_(m)`: changes of what the attribute holds."""
    parent = function.parents[read]
    if isinstance(parent, ast.Subscript):
        return not is_read(parent)
    if isinstance(parent, ast.Attribute):
        name = parent.attr
        return (name.endswith("_") and not name.endswith("__")) or name == "data"
    return False


def _registered(function: CompiledFunction) -> set[str]:
    """Buffers, Parameters and layers of any class in the file."""
    found: set[str] = set()
    for node in nodes_of(function.source.tree, ast.Call, ast.Assign):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _REGISTER and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                found.add(first.value)
        elif isinstance(node, ast.Assign):
            called = node.value.func if isinstance(node.value, ast.Call) else None
            layer = any(
                isinstance(option, Instance) and not is_tensor(option)
                for option in options_of(function.value_of(node.value))
            )
            if layer or (called is not None and ast.unparse(called).endswith("Parameter")):
                found.update(t.attr for t in node.targets if isinstance(t, ast.Attribute))
    return found


def _methods(function: CompiledFunction) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    assert function.owner is not None
    return (node for node in function.owner.body if isinstance(node, FUNCTIONS))


def _written_elsewhere(function: CompiledFunction) -> set[str]:
    """Attributes that other methods assign: a call may change them between write and read."""
    return {
        node.attr
        for cls in _related(function)
        for method in cls.body
        if isinstance(method, FUNCTIONS) and method is not function.node and method.name != _FIRST
        for node in all_nodes(method)
        if isinstance(node, ast.Attribute) and is_store(node)
    }


def _related(function: CompiledFunction) -> list[ast.ClassDef]:
    """The class, and those of the file that it derives from or that derive from it."""
    assert function.owner is not None
    classes = nodes_of(function.source.tree, ast.ClassDef)
    found = {function.owner.name}
    while True:
        bases = {base for cls in classes if cls.name in found for base in _base_names(cls)}
        derived = {cls.name for cls in classes if found & _base_names(cls)}
        if bases | derived <= found:
            return [cls for cls in classes if cls.name in found]
        found |= bases | derived


def _base_names(cls: ast.ClassDef) -> set[str]:
    """Plain names only: `nn.Module` relates no two classes."""
    return {base.id for base in cls.bases if isinstance(base, ast.Name)}


def _of_constructor(function: CompiledFunction) -> set[str]:
    return {
        node.attr
        for method in _methods(function)
        if method.name == _FIRST
        for node in all_nodes(method)
        if isinstance(node, ast.Attribute) and is_store(node)
    }


def _first_is_store(places: list[ast.Attribute], function: CompiledFunction) -> bool:
    """Whether every way to a read leads through a write: the first write is met by all of them."""
    return _assigns(function.node.body, set(places), function) is not False


def _assigns(
    block: list[ast.stmt], places: set[ast.Attribute], function: CompiledFunction
) -> bool | None:
    """True: assigned on every way through; False: read before that; None: neither."""
    for statement in block:
        inside = [node for node in all_nodes(statement) if node in places]
        if not inside:
            if isinstance(statement, (ast.Return, ast.Raise, ast.Continue, ast.Break)):
                return True
            continue
        if isinstance(statement, ast.If):
            if any(node in places for node in all_nodes(statement.test)):
                return False
            sides = [
                _assigns(part, places, function) for part in (statement.body, statement.orelse)
            ]
            if False in sides:
                return False
            if sides == [True, True]:
                return True
            continue
        if isinstance(statement, (ast.Assign, ast.AnnAssign)):
            value = statement.value
            return value is None or not any(node in places for node in all_nodes(value))
        if isinstance(statement, ast.With):
            held = _assigns(statement.body, places, function)
            if held is not None:
                return held
            continue
        return False
    return None


def _local(attribute: str) -> str:
    return attribute.strip("_") or attribute


def _localize(
    attribute: str, places: list[ast.Attribute], receiver: str, function: CompiledFunction
) -> None:
    statements = [function.statement_of(place) for place in places if is_store(place)]
    crowded = [s for s in statements if not function.source.stands_alone(s)]
    if crowded:
        function.replace_statement(crowded[0])
        return
    name = _name(_local(attribute), function)
    for statement in dict.fromkeys(statements):
        indent = function.source.indent_of(statement)
        end = function.source.span(statement)[1]
        line: tuple[Piece, ...] = (f"\n{indent}{receiver}.{attribute} = {name}",)
        function.edits.append(Edit(end, end, line))
    for place in places:
        function.replace(place, name)
    if not _first_is_store(places, function):
        _read_at_start(f"{name} = {receiver}.{attribute}", function)


def _read_at_start(line: str, function: CompiledFunction) -> None:
    body = function.node.body
    first = body[0]
    has_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    first = body[1] if has_text and len(body) > 1 else first
    start = function.source.span(first)[0]
    indent = function.source.indent_of(first)
    function.edits.append(Edit(start, start, (f"{line}\n{indent}",)))


def _name(wish: str, function: CompiledFunction) -> str:
    """A variable that the method does not use for something else."""
    used = {node.id for node in all_nodes(function.node) if isinstance(node, ast.Name)}
    used |= {node.arg for node in all_nodes(function.node) if isinstance(node, ast.arg)}
    used |= {*dir(builtins), *keyword.kwlist}
    name, number = wish, 1
    while name in used:
        number += 1
        name = f"{wish}_{number}"
    return name

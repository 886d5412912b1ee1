"""What Graph mode's compiler rejects inside forward; each entry was tried on MindSpore 2.10.0.

Much of what older guides warn of compiles today and is not reported: isinstance, f-strings,
lambdas, comprehensions, list and dict changes, raise, assert, int(tensor), branches on a tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from migrate.analyze.branches import check_branch
from migrate.analyze.compiled import Function, compiled_functions
from migrate.analyze.model import Place, Sign
from migrate.analyze.places import Placer
from migrate.resolve.modules import ModuleScope
from migrate.resolve.values import UNKNOWN, ListOf, Value, is_tensor

# Syntax that the compiler refuses wherever it stands, even in a branch that is never taken.
_REFUSED: dict[type[ast.AST], tuple[str, str]] = {
    ast.Try: ("try", "test for the condition instead, or move the try to the caller"),
    ast.TryStar: ("try", "test for the condition instead, or move the try to the caller"),
    ast.With: ("with", "open the context around the call of the network"),
    ast.AsyncWith: ("with", "open the context around the call of the network"),
    ast.Delete: ("del", "leave it out: the compiler frees values itself"),
    ast.Nonlocal: ("nonlocal", "return the value from the inner function"),
    ast.ClassDef: ("class definition", "define the class at the top of the module"),
    ast.Import: ("import", "import at the top of the module"),
    ast.ImportFrom: ("import", "import at the top of the module"),
    ast.Yield: ("yield", "return a list"),
    ast.YieldFrom: ("yield", "return a list"),
    ast.NamedExpr: (":= assignment", "assign on a line of its own"),
    ast.Set: ("set display", "use a tuple"),
    ast.SetComp: ("set comprehension", "use a list comprehension"),
    ast.Match: ("match", "use if and elif"),
    ast.AsyncFunctionDef: ("async def", "use a plain function"),
    ast.Await: ("await", "use a plain call"),
    ast.AsyncFor: ("async for", "use a plain loop"),
}


def find(scope: ModuleScope, types: dict[int, Value], placer: Placer) -> Iterator[Sign]:
    """All signs of the file, function by function; nested functions belong to their outer one."""
    seen: set[int] = set()
    for name, function in compiled_functions(scope, types):
        for node in _inside(function):
            if id(node) in seen:
                continue
            seen.add(id(node))
            for check in _CHECKS.get(type(node), ()):
                sign = check(node, types, placer.at(node, name), function)
                if sign is not None:
                    yield sign


def _inside(function: Function) -> Iterator[ast.AST]:
    """The body without docstrings, decorators and annotations, none of which is compiled."""
    pending: list[ast.AST] = list(reversed(function.body))
    while pending:
        node = pending.pop()
        yield node
        skipped = _not_compiled(node)
        for child in ast.iter_child_nodes(node):
            if id(child) not in skipped:
                pending.append(child)


def _not_compiled(node: ast.AST) -> set[int]:
    if isinstance(node, ast.AnnAssign):
        return {id(node.annotation)}
    if isinstance(node, ast.FunctionDef):
        return {id(node.returns), *(id(d) for d in node.decorator_list)}
    if isinstance(node, ast.arg):
        return {id(node.annotation)}
    return set()


def _refused(
    node: ast.AST, types: dict[int, Value], place: Place, function: Function
) -> Sign | None:
    what, step = _REFUSED[type(node)]
    message = f"Graph mode does not compile {what}"
    return graph_sign("MS402", what, place, message, step)


def _loop_else(
    node: ast.AST, types: dict[int, Value], place: Place, function: Function
) -> Sign | None:
    if isinstance(node, ast.For) and node.orelse:
        step = "set a flag in the loop and test it afterwards"
        return graph_sign("MS402", "for-else", place, "Graph mode does not compile for-else", step)
    return None


def _range_of_tensor(
    node: ast.AST, types: dict[int, Value], place: Place, function: Function
) -> Sign | None:
    """range(n) with a tensor n: the number of rounds must be known when the graph is built."""
    if not isinstance(node, ast.Call) or getattr(node.func, "id", "") != "range":
        return None
    if any(is_tensor(types.get(id(argument), UNKNOWN)) for argument in node.args):
        message = "range() over a tensor does not compile"
        return graph_sign("MS401", "range(tensor)", place, message, "use while with a tensor test")
    return None


def _dict_pop(
    node: ast.AST, types: dict[int, Value], place: Place, function: Function
) -> Sign | None:
    if not isinstance(node, ast.Call) or getattr(node.func, "attr", "") != "pop":
        return None
    owner = types.get(id(node.func.value), UNKNOWN)  # type: ignore[attr-defined]
    if isinstance(owner, ListOf) and owner.kind == "dict":
        message = "pop() on a dict does not compile"
        return graph_sign("MS406", "dict.pop()", place, message, "build the dict without the key")
    return None


def graph_sign(
    code: str, what: str, place: Place, message: str, step: str, severity: str = "warning"
) -> Sign:
    return Sign("control flow", what, place, code, message, step, severity, mode="graph")


_Check = Callable[[ast.AST, dict[int, Value], Place, Function], Sign | None]
_CHECKS: dict[type[ast.AST], tuple[_Check, ...]] = {
    **dict.fromkeys(_REFUSED, (_refused,)),
    ast.For: (_loop_else,),
    ast.Call: (_range_of_tensor, _dict_pop),
    ast.If: (check_branch,),
    ast.While: (check_branch,),
}

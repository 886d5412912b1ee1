"""What each function of a file refers to, as far as its text shows: the nodes of the graph in which
`flow.compiled` looks for functions that are compiled.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from migrate.project import SourceFile
from migrate.resolve.import_binding import absolute_name
from migrate.syntax.ast_index import all_nodes, nodes_of

_JIT = frozenset({"jit", "script", "trace", "compile"})
_PYTHON_ONLY: dict[type[ast.AST], str] = {
    ast.Try: "try",
    ast.Yield: "yield",
    ast.YieldFrom: "yield",
    ast.Nonlocal: "nonlocal",
}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(slots=True)
class Function:
    """What a function refers to, inner functions included."""

    names: set[str] = field(default_factory=set)  # f
    members: set[tuple[str, str]] = field(default_factory=set)  # module.f, self.f
    attributes: set[str] = field(default_factory=set)  # anything.f
    trains: bool = False
    jitted: bool = False
    python_only: str = ""  # a statement that no pass lowers
    decorators: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Outline:
    """One file: functions by their dotted names, classes with their bases, imports."""

    source: SourceFile
    functions: dict[str, Function] = field(default_factory=dict)
    classes: dict[str, list[str]] = field(default_factory=dict)
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)  # name -> module, name there
    jitted: set[str] = field(default_factory=set)  # passed to a jit call


def definitions(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """(dotted name, definition) of the functions and methods of a file; not of inner functions."""
    pending: list[tuple[str, ast.stmt]] = [("", statement) for statement in tree.body]
    while pending:
        prefix, node = pending.pop()
        if isinstance(node, _FUNCTIONS):
            yield f"{prefix}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            pending += [(f"{prefix}{node.name}.", statement) for statement in node.body]
        elif isinstance(node, (ast.If, ast.Try, ast.With)):
            for block in ("body", "orelse", "finalbody"):
                pending += [(prefix, statement) for statement in getattr(node, block, ())]


def outline(source: SourceFile, tree: ast.Module) -> Outline:
    """What a file defines and refers to."""
    found = Outline(source)
    for node in nodes_of(tree, ast.Import, ast.ImportFrom, ast.Call):
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound = alias.asname or alias.name.partition(".")[0]
                found.imports[bound] = (alias.name if alias.asname else bound, "")
        elif isinstance(node, ast.ImportFrom):
            module = absolute_name(node, source)
            for alias in node.names:
                found.imports[alias.asname or alias.name] = (module, alias.name)
        elif isinstance(node, ast.Call) and _last(node.func) in _JIT and node.args:
            found.jitted.add(_last(node.args[0]))
    _outline_body(tree.body, "", found)
    return found


def _outline_body(body: Iterable[ast.stmt], prefix: str, found: Outline) -> None:
    for node in body:
        if isinstance(node, _FUNCTIONS):
            found.functions[f"{prefix}{node.name}"] = _function(node)
        elif isinstance(node, ast.ClassDef):
            found.classes[f"{prefix}{node.name}"] = [ast.unparse(base) for base in node.bases]
            _outline_body(node.body, f"{prefix}{node.name}.", found)
        elif isinstance(node, (ast.If, ast.Try, ast.With)):
            for block in ("body", "orelse", "finalbody"):
                _outline_body(getattr(node, block, ()), prefix, found)


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Function:
    result = Function()
    result.jitted = any(_last(_called(one)) in _JIT for one in node.decorator_list)
    result.decorators = [ast.unparse(_called(one)) for one in node.decorator_list]
    for part in all_nodes(node):
        if part.__class__ in _PYTHON_ONLY:
            result.python_only = f"Graph mode does not compile {_PYTHON_ONLY[part.__class__]}"
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            result.names.add(part.id)
        elif isinstance(part, ast.Attribute):
            if isinstance(part.value, ast.Name):
                result.members.add((part.value.id, part.attr))
            result.attributes.add(part.attr)
            result.trains = result.trains or part.attr == "backward"
    return result


def _called(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")

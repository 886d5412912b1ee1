"""Who uses the pieces of a helper module, and how: calls, classes handed on, attributes set."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

from migrate.syntax.access import is_read
from migrate.syntax.ast_index import nodes_of
from migrate.syntax.helper_import import helper_alias
from migrate.syntax.import_planner import HELPER_MODULE, HELPERS

_ASKS = ("isinstance", "issubclass")
_SETS = ("setattr", "__setattr__")
_OPEN = (*_SETS, "getattr", "vars", "globals", "locals", "eval", "exec", "methodcaller")
_WRITES = (*_SETS, "globals", "eval", "exec")


@dataclass(slots=True)
class Callers:
    """What a piece of code says of helpers and of attributes."""

    calls: dict[str, list[ast.Call]] = field(default_factory=lambda: defaultdict(list))
    values: set[str] = field(default_factory=set)  # named, but not called
    noted: set[str] = field(default_factory=set)  # named in annotations of a file
    bases: set[str] = field(default_factory=set)  # of the piece
    asked: set[str] = field(default_factory=set)  # named in isinstance alone
    stored: Counter[str] = field(default_factory=Counter)  # attributes that are assigned
    words: Counter[str] = field(default_factory=Counter)  # attributes and strings that name one
    keywords: set[str] = field(default_factory=set)  # names of arguments in calls
    defined: set[str] = field(default_factory=set)  # functions, methods and classes
    imports: set[str] = field(default_factory=set)  # modules, by the first part of their names
    is_open: bool = False  # sets attributes, or looks names up, in ways that are not seen here
    sets_any: bool = False  # sets attributes in such ways
    trees: list[ast.Module] = field(default_factory=list)  # of files

    def add(self, other: Callers) -> None:
        for name, calls in other.calls.items():
            self.calls[name] += calls
        self.values |= other.values
        self.noted |= other.noted
        self.asked |= other.asked
        self.stored.update(other.stored)
        self.words.update(other.words)
        self.keywords |= other.keywords
        self.defined |= other.defined
        self.imports |= other.imports
        self.is_open = self.is_open or other.is_open
        self.sets_any = self.sets_any or other.sets_any


def in_ported(texts: Iterable[str]) -> Callers | None:
    """Of ported files, where pieces are members of the helper module; None where they may be
    reached in another way.
    """
    found = Callers()
    for text in texts:
        try:
            tree = ast.parse(text)
        except SyntaxError:  # a notebook, or a file that could not be ported
            return None
        modules = {HELPERS, f"ms_{HELPERS}", helper_alias(tree)}
        walk = _Walk(partial(_member, modules))
        walk.visit(tree)
        if walk.other & modules or _takes_names(tree):
            return None
        found.add(walk.found)
        found.trees.append(tree)
    return found


def in_piece(tree: ast.AST) -> Callers:
    """Of a piece itself, where others are plain names. A constructor calls that of its base."""
    walk = _Walk(lambda node: node.id if isinstance(node, ast.Name) else "")
    for part in ast.iter_child_nodes(tree) if base_of(tree) else [tree]:
        if not (isinstance(part, ast.Name) and part in getattr(tree, "bases", ())):
            walk.visit(part)
    base = base_of(tree)
    if base:
        walk.found.calls[base] += calls_of_base(tree)
        walk.found.bases.add(base)
    return walk.found


def base_of(tree: ast.AST) -> str:
    """The only base of a class, where that is a plain name."""
    bases = tree.bases if isinstance(tree, ast.ClassDef) else []
    return bases[0].id if len(bases) == 1 and isinstance(bases[0], ast.Name) else ""


def calls_of_base(tree: ast.AST) -> list[ast.Call]:
    """`super().__init__(...)`"""
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "__init__"
        and isinstance(node.func.value, ast.Call)
        and isinstance(node.func.value.func, ast.Name)
        and node.func.value.func.id == "super"
    ]


def _member(modules: set[str], node: ast.AST) -> str:
    """The name of a helper: `helpers.max_pool2d`."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.attr if node.value.id in modules else ""
    return ""


def _takes_names(tree: ast.Module) -> bool:
    return any(
        (node.module or "").endswith(HELPER_MODULE) for node in nodes_of(tree, ast.ImportFrom)
    )


class _Walk(ast.NodeVisitor):
    def __init__(self, name_of: Callable[[ast.AST], str]) -> None:
        self.found = Callers()
        self.other: set[str] = set()  # names read, except where a helper is named
        self._name_of = name_of
        self._imported: set[str] = set()

    def visit_Call(self, node: ast.Call) -> None:
        called = self._name_of(node.func)
        asks = isinstance(node.func, ast.Name) and node.func.id in _ASKS
        self._look_up(node)
        self.found.keywords |= {keyword.arg for keyword in node.keywords if keyword.arg}
        if called:
            self.found.calls[called].append(node)
        else:
            self.visit(node.func)
        for place, part in enumerate([*node.args, *(k.value for k in node.keywords)]):
            if asks and place == 1:
                self._ask(part)
            else:
                self.visit(part)

    def _look_up(self, node: ast.Call) -> None:
        """`setattr(layer, name, value)` and the like: what they do is seen where the name is."""
        called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        called = node.func.id if isinstance(node.func, ast.Name) else called
        name = node.args[-2 if called in _SETS else 1] if len(node.args) > 1 else None
        of_module = bool(node.args) and _is_name(node.args[0], self._imported)
        if called in _SETS and isinstance(name, ast.Constant):
            self.found.stored[str(name.value)] += 1
        elif called in _OPEN and not isinstance(name, ast.Constant) and not of_module:
            self.found.is_open = True
            self.found.sets_any = self.found.sets_any or called in _WRITES

    def _ask(self, kinds: ast.expr) -> None:
        for kind in kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]:
            name = self._name_of(kind)
            if name:
                self.found.asked.add(name)
            else:
                self.visit(kind)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        name = self._name_of(node)
        if name:
            self.found.values.add(name)
            return
        if is_read(node):
            self.found.words[node.attr] += 1
        else:
            self.found.stored[node.attr] += 1
        self.visit(node.value)

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        names = {(one.asname or one.name).partition(".")[0] for one in node.names}
        self._imported |= names
        self.found.defined |= names
        module = getattr(node, "module", None) or ""
        paths = [module, *(one.name for one in node.names)]
        self.found.imports |= _first_parts(node)
        self.found.words.update({word for path in paths for word in path.split(".")})

    visit_ImportFrom = visit_Import

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.found.defined.add(node.name)
        for part in (*node.decorator_list, node.args, *node.body):
            self.visit(part)
        self._annotation(node.returns)

    def _annotation(self, node: ast.expr | None) -> None:
        """What is named there is not called, and not handed on."""
        before = set(self.found.values)
        if node is not None:
            self.visit(node)
        self.found.noted |= self.found.values - before
        self.found.values = before

    def visit_arg(self, node: ast.arg) -> None:
        self._annotation(node.annotation)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.visit(node.target)
        self._annotation(node.annotation)
        if node.value is not None:
            self.visit(node.value)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for line in node.body:  # an attribute of the class may stand for one of its objects
            targets = (
                line.targets if isinstance(line, ast.Assign) else [getattr(line, "target", None)]
            )
            self.found.stored.update({one.id for one in targets if isinstance(one, ast.Name)})
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if self._name_of(node):
            self.found.values.add(node.id)
        elif node.id == "next":  # reads an iterator, which a compiled step would do once
            self.found.words["next"] += 1
        self.other.add(node.id)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            if node.value.isidentifier():
                self.found.words[node.value] += 1
            elif f"{HELPERS}." in node.value:  # a quoted annotation
                words = node.value.replace("[", " ").replace("]", " ").split()
                self.found.values |= {word.rpartition(".")[2] for word in words}


def _first_parts(node: ast.Import | ast.ImportFrom) -> set[str]:
    """`from . import net` may take a file or a name of the package itself."""
    if isinstance(node, ast.Import):
        return {alias.name.partition(".")[0] for alias in node.names}
    return {node.module.partition(".")[0]} if node.module else {"__init__"}


def _is_name(node: ast.expr, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names

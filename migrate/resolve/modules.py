"""Modules of the program: what their imports mean, loaded when a name of theirs is first needed."""

from __future__ import annotations

import ast
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from migrate.project import Project, ReadProblem, SourceFile, parse
from migrate.resolve.budget import check_expressions
from migrate.resolve.evict_bodies import evict_bodies, restore
from migrate.resolve.frames import Frame
from migrate.resolve.own_methods import own_methods
from migrate.resolve.run_words import may_run_text
from migrate.resolve.values import (
    UNKNOWN,
    External,
    ProjectClass,
    ProjectFunction,
    ProjectModule,
    Value,
    external,
)
from migrate.syntax.ast_index import forget_index
from migrate.syntax.helper_import import is_ported
from migrate.syntax.import_planner import HELPER_MODULE

if TYPE_CHECKING:
    from migrate.table import Table

# Trees take about 1 kB a line: keep those of recently used modules whole.
_LINES_KEPT = 30_000
_OUTLINE = 3  # lines of a module without its bodies that weigh as much as one line of a whole tree


class Lazy(Value):
    """A name imported from a project module, not looked up yet."""

    __slots__ = ("module", "name")

    def __init__(self, module: str, name: str) -> None:
        self.module = module
        self.name = name


_USUAL_LINE = 50  # characters; lines that are longer count as several


class ModuleScope:
    """One parsed module and what its top level binds."""

    __slots__ = (
        "_own_methods",
        "classes",
        "digest",
        "executed",
        "frame",
        "functions",
        "lines",
        "may_run_text",
        "ported",
        "source",
        "tree",
    )

    def __init__(self, source: SourceFile, tree: ast.Module, text: str) -> None:
        self.source = source
        self.tree = tree
        self.digest = hash(text)  # port may have the file in hand in another form
        self.frame = Frame(None, "")
        self.functions: list[ProjectFunction] = []
        self.classes: list[ProjectClass] = []
        self.executed = False
        self._own_methods: frozenset[str] | None = None
        lines = tree.body[-1].end_lineno or 0 if tree.body else 0
        check_expressions(source, tree, text, lines)
        self.lines = max(lines, len(text) // _USUAL_LINE)  # as memory and time count them
        self.may_run_text = may_run_text(text)
        named = "mindspore" in text or HELPER_MODULE in text
        self.ported = named and is_ported(tree)

    @property
    def own_methods(self) -> frozenset[str]:
        if self._own_methods is None:
            self._own_methods = own_methods(self.tree)
        return self._own_methods

    def dismantle(self) -> None:
        frames = [self.frame, *(function.frame for function in self.functions)]
        for value in self.frame.locals.values():
            if isinstance(value, ProjectClass):
                frames += [m.frame for m in value.body.values() if isinstance(m, ProjectFunction)]
                value.clear()
        for frame in frames:
            frame.locals.clear()
            frame.imports.clear()
        for cls in self.classes:
            cls.clear()
        self.functions.clear()
        self.classes.clear()


class Modules:
    """The program's modules by dotted name."""

    def __init__(self, project: Project, table: Table) -> None:
        self.project = project
        self.table = table
        self._asked = {file.module for file in project.files}
        self._loaded: dict[str, ModuleScope | None] = {}
        self._whole: OrderedDict[str, int] = OrderedDict()  # path -> lines, oldest first
        self._lines = 0
        self._lines_loaded = 0  # of all modules, whole or not
        self._held: set[str] = set()  # paths of files that are being worked on
        # Of a class of another file; asked of the interpreter that works now.
        self.bases_of: Callable[[ProjectClass, Frame], list[Value]] = lambda cls, frame: []
        # See migrate.flow: which functions are compiled, and files resolved for their calls.
        self.compiled: object | None = None
        self.resolved_for_calls: object | None = None

    @property
    def weight(self) -> int:
        """Of all modules in memory, in lines of whole trees: what a long run can let go of."""
        return self._lines + (self._lines_loaded - self._lines) // _OUTLINE

    def is_asked(self, name: str) -> bool:
        """A module that the user wants to port."""
        return name in self._asked

    def is_library(self, name: str) -> bool:
        """Below a package that the table is about, and no part of what the user wants to port."""
        return name.partition(".")[0] in self.table.roots and name not in self._asked

    def reference(self, name: str, near: SourceFile) -> Value:
        """What `import name` gives."""
        if name.rpartition(".")[2] == HELPER_MODULE:
            return external(HELPER_MODULE)
        if self.is_library(name) or self.project.find(name, near) is None:
            return external(name)
        return ProjectModule(name)

    def load(self, name: str, near: SourceFile | None = None) -> ModuleScope | None:
        """The module's tree and frame; None when there is no such file or it cannot be read."""
        source = self.project.find(name, near)
        if source is None:
            return None
        key = str(source.path)
        if key in self._loaded:
            if key in self._whole:
                self._whole.move_to_end(key)
            return self._loaded[key]
        try:
            text = source.read()
            scope = ModuleScope(source, parse(source, text), text)
        except ReadProblem:
            scope = None
        self.keep(source, scope)
        return scope

    def tree_of(self, source: SourceFile, text: str) -> ast.Module | None:
        """The tree of this text, if another file's imports have led here before and it is still
        whole.
        """
        scope = self._loaded.get(str(source.path))
        fits = scope is not None and scope.digest == hash(text) and str(source.path) in self._whole
        return scope.tree if scope and fits else None

    def hold(self, source: SourceFile) -> None:
        """Its tree is being worked on: it keeps its bodies."""
        self._held.add(str(source.path))

    def let_go(self, source: SourceFile) -> None:
        self._held.discard(str(source.path))

    def keep(self, source: SourceFile, scope: ModuleScope | None) -> None:
        """Remember a module; those that were not asked about for longest lose their bodies."""
        key = str(source.path)
        before = self._loaded.get(key)
        self._lines_loaded += (scope.lines if scope else 0) - (before.lines if before else 0)
        self._loaded[key] = scope
        self._lines -= self._whole.pop(key, 0)
        if scope is None:
            return
        self._whole[key] = scope.lines
        self._lines += scope.lines
        for oldest in [path for path in self._whole if path != key and path not in self._held]:
            if self._lines <= _LINES_KEPT:
                break
            self._lines -= self._whole.pop(oldest)
            dropped = self._loaded[oldest]
            if dropped is not None:
                evict_bodies(dropped.tree)
                dropped.functions.clear()

    def dismantle(self) -> None:
        """Forget all modules. Circles between scopes and functions are broken first, so that most
        is freed without a search.
        """
        for scope in self._loaded.values():
            if scope is not None:
                scope.dismantle()
        self._loaded.clear()
        self._whole.clear()
        self._held.clear()
        self._lines = self._lines_loaded = 0
        self.compiled = self.resolved_for_calls = None
        self.bases_of = lambda cls, frame: []

    def body_of(self, function: ProjectFunction) -> list[ast.stmt]:
        """The statements of a function, read again if they were given up."""
        node = function.node
        assert not isinstance(node, ast.Lambda)
        if not node.body:
            restore(node, function.module.source)
            forget_index(function.module.tree)
        return node.body

    def lacks_bodies(self, scope: ModuleScope) -> bool:
        """Its tree has given up the bodies of its functions, but for those read again since."""
        path = str(scope.source.path)
        return self._loaded.get(path) is scope and path not in self._whole


def bind_import(node: ast.Import, frame: Frame, modules: Modules, source: SourceFile) -> None:
    for alias in node.names:
        if alias.asname:
            frame.bind_import(alias.asname, modules.reference(alias.name, source))
        else:
            head = alias.name.partition(".")[0]
            frame.bind_import(head, modules.reference(head, source))


def bind_import_from(
    node: ast.ImportFrom, frame: Frame, modules: Modules, source: SourceFile
) -> list[tuple[str, Value]]:
    """Bind the names; gives them back for a star import, whose names the source does not spell."""
    name = absolute_name(node, source)
    star: list[tuple[str, Value]] = []
    for alias in node.names:
        if alias.name == "*":
            star = star_names(name, modules, source)
            for bound, value in star:
                frame.bind_import(bound, value)
            continue
        bound = alias.asname or alias.name
        frame.bind_import(bound, imported(name, alias.name, modules, source))
    return star


def imported(module: str, name: str, modules: Modules, source: SourceFile) -> Value:
    """What `from module import name` gives."""
    full = f"{module}.{name}" if module else name
    if name == HELPER_MODULE:
        return external(name)
    if modules.is_asked(full):
        return ProjectModule(full)
    parent = modules.reference(module, source) if module else UNKNOWN
    if isinstance(parent, External):
        return external(full)
    return Lazy(module, name)


def absolute_name(node: ast.ImportFrom, source: SourceFile) -> str:
    """The module of a from-import, relative dots resolved."""
    if not node.level:
        return node.module or ""
    parts = source.package.split(".") if source.package else []
    climbed = parts[: len(parts) - (node.level - 1)]
    return ".".join([*climbed, *([node.module] if node.module else [])])


def star_names(
    module: str, modules: Modules, source: SourceFile, seen: frozenset[str] = frozenset()
) -> list[tuple[str, Value]]:
    """All names a star import binds: a library's rows, or a project module's public names."""
    parent = modules.reference(module, source)
    if isinstance(parent, External):
        rows = modules.table.children(module)
        names = {name.rpartition(".")[2] for name in rows}
        return [
            (name, external(f"{module}.{name}"))
            for name in sorted(names)
            if not name.startswith("_")
        ]
    scope = modules.load(module, source)
    if scope is None or module in seen:
        return []
    public = _declared_all(scope.tree)
    if public is None:
        public = [name for name in _top_level_names(scope.tree) if not name.startswith("_")]
        # A package that star-imports its modules passes their names on.
        for inner in _star_imports(scope.tree):
            name = absolute_name(inner, scope.source)
            public += [
                bound for bound, _ in star_names(name, modules, scope.source, seen | {module})
            ]
    return [(name, Lazy(module, name)) for name in dict.fromkeys(public)]


def _declared_all(tree: ast.Module) -> list[str] | None:
    """The names of `__all__`, or None where it is missing or computed."""
    found: list[str] | None = None
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                found = _names_in(value)
            case (
                ast.AugAssign(target=ast.Name(id="__all__"), value=value)
                | ast.Expr(
                    value=ast.Call(
                        func=ast.Attribute(value=ast.Name(id="__all__"), attr="extend"),
                        args=[value],
                    )
                )
            ):
                more = _names_in(value)
                if found is None or more is None:
                    return None
                found += more
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="__all__")))):
                return None
    return found


def _names_in(value: ast.expr) -> list[str] | None:
    if not isinstance(value, (ast.List, ast.Tuple)):
        return None
    if not all(isinstance(element, ast.Constant) for element in value.elts):
        return None
    return [str(element.value) for element in value.elts if isinstance(element, ast.Constant)]


def _top_level_names(tree: ast.Module) -> list[str]:
    names: list[str] = []
    for statement in _top_level(tree):
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.append(statement.name)
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            names += [
                a.asname or a.name.partition(".")[0] for a in statement.names if a.name != "*"
            ]
        elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.For)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            names += [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
    return list(dict.fromkeys(names))


def _star_imports(tree: ast.Module) -> Iterator[ast.ImportFrom]:
    for statement in _top_level(tree):
        if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
            yield statement


def _top_level(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements of the module's own scope, also those below `if`, `try` and `with`."""
    pending: list[ast.stmt] = list(tree.body)
    while pending:
        statement = pending.pop(0)
        yield statement
        if isinstance(statement, (ast.If, ast.Try, ast.With)):
            inner = [s for s in ast.iter_child_nodes(statement) if isinstance(s, ast.stmt)]
            pending = inner + pending

"""How is a class called that a program hands on as a value? `norm_layer=nn.BatchNorm2d`, and later
`norm_layer(width)`.

The value is followed by names over all files: to parameters with this default, to parameters that
are given it, to variables and attributes that hold it. What else is called so is taken along, which
can only make the answer more careful. Unknown where the value goes anywhere else: into a list, to a
library, through a text.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache

from migrate.project import Project, ReadProblem, SourceFile, shared_tree
from migrate.syntax.access import is_read
from migrate.syntax.ast_index import all_nodes, parents_of

_MOST_FILES = 200
_ASKS = ("isinstance", "issubclass")
_LOOKS_UP = ("getattr", "vars", "locals", "globals", "eval", "exec")
_LOOK_UP_MEMBERS = ("__dict__", "__getattribute__", "attrgetter", "methodcaller")
# Libraries that hold no classes of networks.
_WITHOUT_LAYERS = {"torch", "torchvision", "numpy", "PIL", "tqdm", "matplotlib", "yaml", "scipy"}
_TAKE_NOTHING = ("Module", "object", "ABC", "Enum", "Dataset", "Protocol", "Exception")
_Read = tuple[ast.Module, ast.expr]
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class _Elsewhere(Exception):
    """The value goes where it is not followed."""


def calls_of_class(project: Project, name: str) -> list[ast.Call] | None:
    """All calls of variables that may hold the class of this name; None where that is unknown."""
    files = tuple(project.files)
    if len(files) > _MOST_FILES:
        return None
    return _calls(files, name)


@lru_cache(maxsize=64)
def _calls(files: tuple[SourceFile, ...], name: str) -> list[ast.Call] | None:
    try:
        program = _program(files)
        return _Value(program, name).calls()
    except (_Elsewhere, ReadProblem):
        return None


@lru_cache(maxsize=2)
def _program(files: tuple[SourceFile, ...]) -> _Program:
    return _Program([shared_tree(file) for file in files], files)


class _Program:
    """Reads by name, definitions, and what makes names hard to follow, of all files."""

    def __init__(self, trees: list[ast.Module], files: Iterable[SourceFile]) -> None:
        self.reads: dict[str, list[_Read]] = defaultdict(list)
        self.functions: dict[str, list[_Function | None]] = defaultdict(list)
        self.lambdas: list[_Function] = []
        self.texts: set[str] = set()
        self.renamed: dict[str, set[str]] = defaultdict(set)
        self.annotations: set[ast.AST] = set()
        self.libraries: dict[ast.Module, set[str]] = {}
        self.looks_up = False
        self.own = {part for file in files for part in file.module.split(".")}
        self.closed = True
        for tree in trees:
            self._add(tree)

    def _add(self, tree: ast.Module) -> None:
        self.libraries[tree] = set()
        for node in all_nodes(tree):
            if isinstance(node, ast.Name | ast.Attribute):
                if is_read(node):
                    self.reads[_word(node)].append((tree, node))
                self.looks_up |= _looks_up(node) and not _is_plain(node, tree)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                self.texts.add(node.value)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                self._import(node, tree)
            else:
                self._define(node)
            self.annotations |= _annotated(node)

    def _define(self, node: ast.AST) -> None:
        if isinstance(node, ast.ClassDef):
            self.functions[node.name] += _constructor(node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self.functions[node.name] += [node] if _is_bare(node) else _decorated(node)
        elif isinstance(node, ast.Lambda):
            self.lambdas.append(node)
        elif isinstance(node, ast.Call) and _word(node.func) == "partial":
            self.closed &= len(node.args) == 1  # others would shift the places

    def _import(self, node: ast.Import | ast.ImportFrom, tree: ast.Module) -> None:
        for alias in node.names:
            base = node.module or "" if isinstance(node, ast.ImportFrom) else alias.name
            relative = isinstance(node, ast.ImportFrom) and node.level > 0
            root = base.partition(".")[0]
            bound = (alias.asname or alias.name).partition(".")[0]
            if not (relative or root in self.own):
                self.libraries[tree].add(bound)
                known = root in sys.stdlib_module_names or root in _WITHOUT_LAYERS
                models = f"{base}.{alias.name}".startswith(("torchvision.models", "torch.hub"))
                self.closed &= known and not models and alias.name != "*"
            if alias.asname and isinstance(node, ast.ImportFrom):
                self.renamed[alias.name].add(alias.asname)

    def named(self, name: str) -> set[str]:
        return {name} | self.renamed[name]

    def handed_on(self) -> Iterator[_Function | None]:
        """Functions and classes of the program that are named, but not called there."""
        yield from self.lambdas
        for name, made in self.functions.items():
            for tree, node in self.reads[name]:
                if not _is_called(node, tree) and node not in self.annotations:
                    yield from made
                    break


class _Value:
    """A class on its way."""

    def __init__(self, program: _Program, name: str) -> None:
        self._program = program
        self._start = program.named(name)
        self._names: list[str] = []
        self._found: list[ast.Call] = []

    def calls(self) -> list[ast.Call]:
        if self._start & self._program.texts:
            raise _Elsewhere
        for name in sorted(self._start):
            for tree, node in self._program.reads[name]:
                if not (_is_called(node, tree) or self._is_type(node, tree)):
                    self._follow(node, tree)
        for name in self._names:  # grows on the way
            for tree, node in self._program.reads[name]:
                if _is_called(node, tree):
                    call = parents_of(tree)[node]
                    assert isinstance(call, ast.Call)
                    self._found.append(call)
                elif node not in self._program.annotations:
                    self._follow(node, tree)
        return self._found

    def _add(self, name: str) -> None:
        if name in self._start or name in self._program.texts:
            raise _Elsewhere
        for one in sorted(self._program.named(name)):
            if one not in self._names:
                self._names.append(one)

    def _is_type(self, node: ast.expr, tree: ast.Module) -> bool:
        """In an annotation, as a base, in isinstance."""
        parents = parents_of(tree)
        parent = parents[node]
        if node in self._program.annotations or isinstance(parent, ast.ClassDef | ast.alias):
            return True
        parent = parents[parent] if isinstance(parent, ast.Tuple) else parent
        return isinstance(parent, ast.Call) and _word(parent.func) in _ASKS

    def _follow(self, node: ast.expr, tree: ast.Module) -> None:
        """To the names that hold it next."""
        parent = parents_of(tree)[node]
        if isinstance(parent, ast.IfExp | ast.BoolOp):
            if getattr(parent, "test", None) is not node:
                self._follow(parent, tree)
        elif isinstance(parent, ast.Assign | ast.AnnAssign):
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            for target in targets:
                if not isinstance(target, ast.Name | ast.Attribute):
                    raise _Elsewhere
                self._hold(target)
        elif isinstance(parent, ast.arguments):
            self._add(_parameter_with_default(parent, node))
        elif isinstance(parent, ast.keyword):
            self._give_by_name(parent, tree)
        elif isinstance(parent, ast.Call):
            self._give_by_place(parent, node, tree)
        elif not (_only_asks(parent) or isinstance(parent, ast.If | ast.While | ast.Expr)):
            raise _Elsewhere

    def _hold(self, target: ast.Name | ast.Attribute) -> None:
        if isinstance(target, ast.Attribute) and self._program.looks_up:
            raise _Elsewhere
        self._add(_word(target))

    def _give_by_name(self, keyword: ast.keyword, tree: ast.Module) -> None:
        call = parents_of(tree)[keyword]
        if keyword.arg is None or not isinstance(call, ast.Call):
            raise _Elsewhere
        for function in self._receivers(call, tree):
            if function is not None and not _hands_keywords_on(function):
                raise _Elsewhere
        self._add(keyword.arg)

    def _give_by_place(self, call: ast.Call, node: ast.expr, tree: ast.Module) -> None:
        place = call.args.index(node) if node in call.args else -1
        if place < 0 or any(isinstance(one, ast.Starred) for one in call.args[:place]):
            raise _Elsewhere
        for function in self._receivers(call, tree):
            if function is None:
                raise _Elsewhere
            listed = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
            listed = listed[1:] if listed[:1] in (["self"], ["cls"]) else listed
            if place < len(listed):
                self._add(listed[place])
            elif function.args.vararg is not None:
                raise _Elsewhere

    def _receivers(self, call: ast.Call, tree: ast.Module) -> list[_Function | None]:
        """What may be called here: by its name, or whatever of the program is handed on."""
        name, root = _word(call.func), _root(call.func)
        if root == "super" and isinstance(call.func, ast.Attribute):
            return self._program.functions[name]
        if not root or root in self._program.libraries[tree] or hasattr(builtins, root):
            raise _Elsewhere
        if root in self._program.functions and root != name:  # Net.build(net, norm_layer)
            raise _Elsewhere
        found = self._program.functions.get(name)
        if found:
            return found
        if not self._program.closed:
            raise _Elsewhere
        return list(self._program.handed_on())


def _word(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Call):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    return getattr(node, "id", "")


def _is_called(node: ast.expr, tree: ast.Module) -> bool:
    parent = parents_of(tree)[node]
    return isinstance(parent, ast.Call) and parent.func is node


def _constructor(node: ast.ClassDef) -> list[_Function | None]:
    """What takes the arguments of the class; nothing where its bases take none."""
    made = [one for one in node.body if isinstance(one, ast.FunctionDef)]
    inits: list[_Function | None] = [one for one in made if one.name == "__init__"]
    if inits or all(_word(base) in _TAKE_NOTHING for base in node.bases):
        return inits[-1:]
    return [None]


def _decorated(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[_Function | None]:
    """A property is read, not called; what another decorator hands on is not followed."""
    words = {_word(one) for one in function.decorator_list}
    return [] if words & {"property", "setter", "cached_property"} else [None]


def _is_bare(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """A decorator may hand the arguments on in other places."""
    return all(_word(one) in ("staticmethod", "classmethod") for one in function.decorator_list)


def _looks_up(node: ast.Name | ast.Attribute) -> bool:
    return _word(node) in (_LOOKS_UP if isinstance(node, ast.Name) else _LOOK_UP_MEMBERS)


def _is_plain(node: ast.expr, tree: ast.Module) -> bool:
    """`getattr(x, "name")`"""
    call = parents_of(tree)[node]
    if not isinstance(call, ast.Call) or call.func is not node or len(call.args) < 2:
        return False
    return isinstance(call.args[1], ast.Constant)


def _annotated(node: ast.AST) -> set[ast.AST]:
    """What stands in the annotations of a parameter, a function or a variable."""
    given = getattr(node, "annotation", None) or getattr(node, "returns", None)
    return set(ast.walk(given)) if given is not None else set()


def _parameter_with_default(given: ast.arguments, default: ast.expr) -> str:
    places = [*given.posonlyargs, *given.args]
    late = places[len(places) - len(given.defaults) :]
    pairs = [*zip(late, given.defaults, strict=True)]
    pairs += [(a, d) for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True) if d]
    return next(parameter.arg for parameter, one in pairs if one is default)


def _hands_keywords_on(function: _Function) -> bool:
    """`**kwargs` that nobody looks into: all of them go to another call under their names."""
    keywords = function.args.kwarg
    if keywords is None:
        return True
    whole = {k.value for n in all_nodes(function) if isinstance(n, ast.Call) for k in n.keywords}
    return all(
        node in whole
        for node in all_nodes(function)
        if isinstance(node, ast.Name) and node.id == keywords.arg
    )


def _only_asks(test: ast.AST) -> bool:
    """`norm_layer is None`, `not norm_layer`"""
    if isinstance(test, ast.UnaryOp):
        return isinstance(test.op, ast.Not)
    if not isinstance(test, ast.Compare):
        return False
    sides = (test.left, *test.comparators)
    nothing = [isinstance(one, ast.Constant) and one.value is None for one in sides]
    return len(sides) == 2 and any(nothing) and isinstance(test.ops[0], ast.Is | ast.IsNot)


def plain_arguments(call: ast.Call) -> tuple[int, tuple[str, ...]] | None:
    """How many arguments a call gives by place, and the names of the others."""
    names = tuple(keyword.arg or "" for keyword in call.keywords)
    if "" in names or any(isinstance(one, ast.Starred) for one in call.args):
        return None
    return len(call.args), names

"""Which functions of a ported program a graph may contain, by names alone: too many rather than too
few. What a graph would compute once is looked for in these.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from migrate.syntax.access import attribute_of, is_read, name_of
from migrate.syntax.ast_index import all_nodes, nodes_of, parents_of

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_BUILT = ("__init__", "__new__", "__post_init__")  # run before a graph is built, unless called
# A graph does not ask a dataset for samples: the loop around the step does.
_OF_DATA = ("Dataset", "Sampler", "DataLoader", "ImageFolder", "DatasetFolder")
_DATA_METHODS = ("__getitem__", "__getitems__", "__iter__", "__len__", "__add__")
_STREAM_MODULES = ("random", "numpy.random", "secrets")
_STREAMS = frozenset({"random", "rng", "next", "secrets"})
_MAKE_STREAMS = frozenset(
    "default_rng RandomState Random SystemRandom Generator iter cycle count".split()  # noqa: SIM905
)
_CONSUMERS = ("next", "list", "tuple", "len", "sorted", "set", "dict", "sum")
_LOOK_UP = ("eval", "exec", "globals", "vars", "locals", "__import__")
_IMMUTABLE = (ast.Constant, ast.UnaryOp, ast.JoinedStr, ast.Lambda)


@dataclass(slots=True)
class _Defined:
    """Functions and classes of a program by name, and what a graph begins with."""

    functions: dict[str, list[Function]] = field(default_factory=lambda: defaultdict(list))
    classes: dict[str, list[ast.ClassDef]] = field(default_factory=lambda: defaultdict(list))
    roots: list[Function] = field(default_factory=list)
    objects: list[ast.FunctionDef] = field(default_factory=list)  # methods that syntax calls


def compiled_code(trees: Sequence[ast.Module], *, steps: bool = True) -> list[Function]:
    """`construct` methods, steps, what is called through an object or a variable, and all functions
    that these name. Without `steps`: what the layers alone lead to.
    """
    known = _Defined()
    outside = {name for tree in trees for name in _not_composed(tree)}
    for tree in trees:
        _define(tree, known, outside)
    pending = [*known.roots, *(known.objects if steps else ())]
    for tree in trees:
        pending += _used_as_values(tree, known, steps=steps)
    found: dict[Function, None] = {}
    while pending:
        function = pending.pop()
        if function in found:
            continue
        found[function] = None
        if any(map(_looks_up, all_nodes(function))):
            return [one for named in known.functions.values() for one in named]
        for word in words_of(function):
            pending += known.functions.get(word, ())
            for cls in known.classes.get(word, ()):
                pending += [one for one in _methods(cls) if one.name in _BUILT]
    return list(found)


def _define(tree: ast.Module, known: _Defined, outside: Collection[str]) -> None:
    for function in nodes_of(tree, ast.FunctionDef, ast.AsyncFunctionDef):
        known.functions[function.name].append(function)
        decorators = {word for one in function.decorator_list for word in words_of(one)}
        if function.name == "construct" or "jit" in decorators:
            known.roots.append(function)
    for cls in nodes_of(tree, ast.ClassDef):
        known.classes[cls.name].append(cls)
        data = any(word in _OF_DATA for base in cls.bases for word in words_of(base))
        known.objects += [
            one
            for one in _methods(cls)
            if one.name.startswith("__")
            and one.name not in _BUILT
            and not (data and one.name in _DATA_METHODS)
            and not (one.name == "__call__" and cls.name not in outside)
        ]
    known.roots += nodes_of(tree, ast.Lambda)


def _not_composed(tree: ast.Module) -> Iterator[str]:
    """Names that stand elsewhere than in `helpers.Compose([Cutout(8), ...])`, whose parts no step
    can call.
    """
    parents = parents_of(tree)
    for node in nodes_of(tree, ast.Name, ast.Attribute):
        call = parents.get(node)
        listed = parents.get(call) if isinstance(call, ast.Call) and call.func is node else None
        whole = parents.get(listed) if isinstance(listed, ast.List) else None
        composed = isinstance(whole, ast.Call) and ast.unparse(whole.func) == "helpers.Compose"
        if not composed:
            yield node.id if isinstance(node, ast.Name) else node.attr


def _used_as_values(tree: ast.Module, known: _Defined, *, steps: bool) -> Iterator[Function]:
    """Functions that are named other than to call them; a step is one of them."""
    parents = parents_of(tree)
    for node in nodes_of(tree, ast.Name, ast.Attribute):
        name = node.id if isinstance(node, ast.Name) else node.attr
        parent = parents.get(node)
        called = isinstance(parent, ast.Call) and (
            parent.func is node or (not steps and _is_step_call(parent))
        )
        if is_read(node) and not called:
            yield from known.functions.get(name, ())


def _is_step_call(call: ast.Call) -> bool:
    return attribute_of(call.func) == "value_and_grad"


def _methods(cls: ast.ClassDef) -> list[ast.FunctionDef]:
    return [one for one in cls.body if isinstance(one, ast.FunctionDef)]


def _looks_up(node: ast.AST) -> bool:
    """`getattr(layer, name)` may give any function."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    if node.func.id == "getattr":
        return not all(isinstance(one, ast.Constant) for one in node.args[1:2])
    return node.func.id in _LOOK_UP


def words_of(node: ast.AST) -> Iterator[str]:
    """Names and attributes in it, without those of annotations."""
    noted: set[ast.AST] = set()
    for part in all_nodes(node):
        for name in ("annotation", "returns"):
            note = getattr(part, name, None)
            if isinstance(note, ast.AST):
                noted.update(all_nodes(note))
        if part in noted:
            continue
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr


def draws(trees: Sequence[ast.Module], compiled: Iterable[Function]) -> bool:
    """Whether compiled code may use a source that moves on by itself: Python's or numpy's random
    numbers, an iterator.
    """
    streams = set(_STREAMS)
    for tree in trees:
        streams |= _imported_streams(tree)
        if _stores_streams(tree):
            return True
    return any(not streams.isdisjoint(words_of(function)) for function in compiled)


def _imported_streams(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in nodes_of(tree, ast.Import):
        found |= {one.asname or one.name for one in node.names if one.name in _STREAM_MODULES}
    for node in nodes_of(tree, ast.ImportFrom):
        if node.module in (*_STREAM_MODULES, "itertools"):
            found |= {one.asname or one.name for one in node.names}
        elif node.module == "numpy":
            found |= {one.asname or one.name for one in node.names if one.name == "random"}
    return found


def _stores_streams(tree: ast.Module) -> bool:
    """A generator or an iterator that lives longer than the expression or the function it is made
    in: a step may reach it under any name.
    """
    parents = parents_of(tree)
    for call in nodes_of(tree, ast.Call):
        made = call.func
        name = made.attr if isinstance(made, ast.Attribute) else getattr(made, "id", "")
        if name in _MAKE_STREAMS and not _is_used_up(call, parents):
            return True
    return False


def _is_used_up(call: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """`default_rng(0).normal(2)`, `next(iter(loader))`, `for x in iter(y)`, what `__iter__` gives,
    and a local variable that is only used so.
    """
    parent = parents.get(call)
    if not isinstance(parent, ast.Assign):
        return _is_consumed(call, parent, parents)
    function, target = _function_around(parent, parents), parent.targets[0]
    if function is None or len(parent.targets) != 1 or not isinstance(target, ast.Name):
        return False
    reads = _reads_of_local(target.id, function)
    return reads is not None and all(_is_used_up(read, parents) for read in reads)


def _is_consumed(call: ast.AST, parent: ast.AST | None, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether the expression around a value uses it up where it stands."""
    if isinstance(parent, ast.Attribute):
        outer = parents.get(parent)
        return isinstance(outer, ast.Call) and outer.func is parent
    if isinstance(parent, ast.Call):
        return name_of(parent.func) in _CONSUMERS
    if isinstance(parent, ast.For | ast.comprehension):
        return parent.iter is call
    if isinstance(parent, ast.Return):
        return getattr(_function_around(parent, parents), "name", "") == "__iter__"
    return False


def _reads_of_local(name: str, function: Function) -> list[ast.Name] | None:
    """Where a function reads its variable; None if functions inside of it may."""
    inner = [
        one for one in all_nodes(function) if one is not function and isinstance(one, Function)
    ]
    if any(name in words_of(one) for one in inner):
        return None
    names = [one for one in all_nodes(function) if name_of(one) == name]
    return [one for one in names if is_read(one)]


def _function_around(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> Function | None:
    while node in parents:
        node = parents[node]
        if isinstance(node, Function):
            return node
    return None


def reads_changing_globals(trees: Sequence[ast.Module], compiled: Iterable[Function]) -> bool:
    """Whether compiled code may read a variable of a module that is no constant: one that is bound
    again, or holds what can change.
    """
    changing: set[str] = set()
    for tree in trees:
        changing |= _changing_globals(tree)
    return any(not changing.isdisjoint(words_of(function)) for function in compiled)


def _changing_globals(tree: ast.Module) -> set[str]:
    found = {name for node in nodes_of(tree, ast.Global) for name in node.names}
    return found | _changing_at_top(tree) | _set_on_modules(tree)


def _changing_at_top(tree: ast.Module) -> set[str]:
    """What the top level binds more than once, to something mutable, or by a loop."""
    found: set[str] = set()
    bound: dict[str, int] = defaultdict(int)
    for statement in _module_level(tree.body):
        if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            names = _bound_in(targets)
            for name in names:
                bound[name] += 1
            if statement.value is not None and not _is_immutable(statement.value):
                found |= names
        else:
            found |= _bound_in(
                part for part in ast.iter_child_nodes(statement) if isinstance(part, ast.expr)
            )
    return found | {name for name, times in bound.items() if times > 1}


def _set_on_modules(tree: ast.Module) -> set[str]:
    """`settings.scale = 2` of a module that compiled code reads."""
    modules = {
        one.asname or one.name.partition(".")[0]
        for node in nodes_of(tree, ast.Import, ast.ImportFrom)
        for one in node.names
    }
    return {
        node.attr
        for node in nodes_of(tree, ast.Attribute)
        if not is_read(node) and not modules.isdisjoint(words_of(node.value))
    }


def _bound_in(targets: Iterable[ast.AST]) -> set[str]:
    names = (n for one in targets for n in all_nodes(one) if isinstance(n, ast.Name))
    return {name.id for name in names if not is_read(name)}


def _module_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that bind names of the module, those in its branches among them."""
    for statement in body:
        yield statement
        for name in ("body", "orelse", "finalbody"):
            if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from _module_level(getattr(statement, name, []))
        for handler in getattr(statement, "handlers", []):
            yield from _module_level(handler.body)


def _is_immutable(value: ast.expr) -> bool:
    if isinstance(value, ast.Tuple):
        return all(map(_is_immutable, value.elts))
    if isinstance(value, ast.BinOp):
        return _is_immutable(value.left) and _is_immutable(value.right)
    return isinstance(value, _IMMUTABLE)

"""May a file add two datasets? `ConcatDataset` is what torch makes of `train + extra`.

No where each sum has a number, a text, a list or a tensor on one side: a dataset takes none of
them, in torch as in MindSpore.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrate.resolve.plain_values import (
    BOOL,
    FLOAT,
    INT,
    NONE,
    NUMBER,
    PARAMETER,
    SIZE,
    STR,
    TENSOR,
    UNKNOWN,
    Instance,
    ListOf,
    TupleOf,
    Value,
    is_tensor,
    options_of,
)
from migrate.syntax.access import is_store
from migrate.syntax.ast_index import all_nodes, nodes_of, parents_of

_PLAIN = (BOOL, FLOAT, INT, NONE, NUMBER, PARAMETER, SIZE, STR, TENSOR)
_DISPLAYS = (
    ast.Constant,
    ast.JoinedStr,
    ast.List,
    ast.Tuple,
    ast.Dict,
    ast.Set,
    ast.ListComp,
    ast.DictComp,
    ast.SetComp,
    ast.GeneratorExp,
    ast.Compare,
    ast.UnaryOp,
    ast.Lambda,
)
_BUILTINS = frozenset("len int float str bool abs round range list tuple dict set sorted".split())  # noqa: SIM905
_ADDERS = frozenset("add iadd concat __add__ __iadd__ reduce accumulate".split())  # noqa: SIM905
_ADD = ("operator", "functools", "itertools")
_NUMBERS_OF = ("numpy", "math", "time", "os", "random", "torch")
_TypeOf = Callable[[ast.expr], Value]


def may_add_datasets(tree: ast.Module, type_of: _TypeOf = lambda node: UNKNOWN) -> bool:
    """Whether some sum of the file may be one of datasets; yes where that is unknown."""
    sums = _Sums(tree, type_of)
    added = [
        (node, node.left, node.right)
        for node in nodes_of(tree, ast.BinOp)
        if isinstance(node.op, ast.Add)
    ] + [
        (node, node.target, node.value)
        for node in nodes_of(tree, ast.AugAssign)
        if isinstance(node.op, ast.Add)
    ]
    return any(map(sums.by_call, nodes_of(tree, ast.Call))) or any(
        not (sums.is_number_for(node) or sums.is_other(left) or sums.is_other(right))
        for node, left, right in added
    )


class _Sums:
    """What the operands of a file's sums are."""

    def __init__(self, tree: ast.Module, type_of: _TypeOf) -> None:
        self._type_of = type_of
        self._libraries = _libraries(tree)
        self._adders = _adders(tree)
        self._parents = parents_of(tree)
        self._seen: set[ast.AST] = set()

    def by_call(self, call: ast.Call) -> bool:
        """`sum(parts, first)`, `operator.add(a, b)`, but not `torch.add(x, y)`, `names.add(x)`"""
        called = call.func
        if isinstance(called, ast.Name):
            return (called.id == "sum" and len(call.args) > 1) or called.id in self._adders
        if not isinstance(called, ast.Attribute) or called.attr not in _ADDERS:
            return False
        return isinstance(called.value, ast.Name) and called.value.id in self._adders

    def is_number_for(self, node: ast.AST) -> bool:
        """`np.random.seed(seed + rank)`, `nn.Linear(inputs + outputs, 8)`"""
        parent = self._parents.get(node)
        parent = self._parents.get(parent) if isinstance(parent, ast.keyword) else parent
        return isinstance(parent, ast.Call) and self._is_library(parent.func)

    def is_other(self, node: ast.expr) -> bool:
        """Whether this is surely no dataset."""
        if isinstance(node, _DISPLAYS):
            return True
        if isinstance(node, ast.BinOp):
            added = isinstance(node.op, ast.Add)
            return not added or any(map(self.is_other, (node.left, node.right)))
        if isinstance(node, ast.IfExp):
            return all(map(self.is_other, (node.body, node.orelse)))
        if isinstance(node, ast.Call) and self._gives_a_number(node.func):
            return True
        options = list(options_of(self._type_of(node)))
        if options and all(map(_is_plain, options)):
            return True
        return isinstance(node, ast.Name) and self._is_local_number(node)

    def _is_local_number(self, name: ast.Name) -> bool:
        """A variable of the function that is only set to such values there."""
        function: ast.AST | None = name
        while function is not None and not isinstance(function, ast.FunctionDef):
            function = self._parents.get(function)
        if function is None or function in self._seen:
            return False
        stores = [
            node
            for node in all_nodes(function)
            if isinstance(node, ast.Name) and node.id == name.id and is_store(node)
        ]
        lines = [self._parents[node] for node in stores]
        parameters = {a.arg for n in all_nodes(function) for a in _parameters(n)}
        if not lines or name.id in parameters:
            return False
        self._seen.add(function)
        same = all(isinstance(one, ast.Assign) and self.is_other(one.value) for one in lines)
        self._seen.discard(function)
        return same

    def _gives_a_number(self, called: ast.expr) -> bool:
        """`len(x)`, `np.mean(x)`, `time.time()`"""
        return (isinstance(called, ast.Name) and called.id in _BUILTINS) or self._is_library(called)

    def _is_library(self, called: ast.expr) -> bool:
        while isinstance(called, ast.Attribute):
            if called.attr in ("utils", "datasets", "load"):
                return False
            called = called.value
        return isinstance(called, ast.Name) and called.id in self._libraries


def _is_plain(value: Value) -> bool:
    if value in _PLAIN or is_tensor(value) or isinstance(value, ListOf | TupleOf):
        return True
    cls = value.cls if isinstance(value, Instance) else None
    return isinstance(cls, str) and cls.startswith("torch.nn.")


def _parameters(node: ast.AST) -> list[ast.arg]:
    if not isinstance(node, ast.arguments):
        return []
    stars = [one for one in (node.vararg, node.kwarg) if one]
    return [*node.posonlyargs, *node.args, *node.kwonlyargs, *stars]


def _libraries(tree: ast.Module) -> frozenset[str]:
    """Names of modules whose functions take and give no datasets."""
    plain = {
        alias.asname or alias.name.partition(".")[0]
        for node in nodes_of(tree, ast.Import)
        for alias in node.names
        if alias.name in _NUMBERS_OF or alias.name in ("torch.nn", "torch.nn.functional")
    }
    return frozenset(plain) | {
        alias.asname or alias.name
        for node in nodes_of(tree, ast.ImportFrom)
        for alias in node.names
        if (node.module, alias.name) in (("torch", "nn"), ("torch.nn", "functional"))
    }


def _adders(tree: ast.Module) -> frozenset[str]:
    """Modules that hold such functions, and what is taken out of them."""
    names = {
        alias.asname or alias.name
        for node in nodes_of(tree, ast.Import)
        for alias in node.names
        if alias.name in _ADD
    }
    return frozenset(names) | {
        alias.asname or alias.name
        for node in nodes_of(tree, ast.ImportFrom)
        for alias in node.names
        if node.module in _ADD and alias.name in _ADDERS
    }

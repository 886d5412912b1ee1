"""A member of a module of the program's own that is chosen by name while it runs.

    net = models.__dict__[args.arch](num_classes=10)

Which function or class that is nobody knows; what is known is the call. Those of the module that
take such arguments are meant, and all of them giving networks, `net` is one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from migrate.resolve.hierarchy import is_module
from migrate.resolve.members import class_is_module
from migrate.resolve.values import (
    MODULE,
    UNKNOWN,
    Instance,
    Known,
    ProjectClass,
    ProjectFunction,
    Value,
    join,
    options_of,
)

Invoke = Callable[[Value], Value]


def result_of_any(members: Iterator[Value], call: ast.Call, invoke: Invoke) -> Value:
    """What the call gives, whichever of the members is meant; unknown if one's result is."""
    results = [invoke(member) for member in members if _takes(member, call)]
    if not results or any(result is UNKNOWN for result in results):
        return UNKNOWN
    found: Value = UNKNOWN
    for result in results:
        found = join(found, result)
    if found is UNKNOWN or len(options_of(found)) > 4:
        found = MODULE if all(map(_is_network, results)) else UNKNOWN
    return found


def _is_network(value: Value) -> bool:
    """A network, or None: `def test():` of a file of networks gives nothing."""
    for option in options_of(value):
        if isinstance(option, Known) and option.value is None:
            continue
        if not isinstance(option, Instance):
            return False
        cls = option.cls
        if not (class_is_module(cls) if isinstance(cls, ProjectClass) else is_module(cls)):
            return False
    return True


def _takes(member: Value, call: ast.Call) -> bool:
    """Whether a function or class of the program can be called like this."""
    if isinstance(member, ProjectFunction):
        arguments, bound = getattr(member.node, "args", None), 0
    elif isinstance(member, ProjectClass):
        arguments, bound = _constructor(member), 1
        if arguments is None:
            return not call.args  # a base class decides
    else:
        return False
    return isinstance(arguments, ast.arguments) and _binds(arguments, bound, call)


def _constructor(cls: ProjectClass) -> ast.arguments | None:
    for base in cls.lineage():
        init = base.body.get("__init__") if isinstance(base, ProjectClass) else None
        if isinstance(init, ProjectFunction):
            found: ast.arguments = init.node.args
            return found
    return None


def _binds(arguments: ast.arguments, bound: int, call: ast.Call) -> bool:
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)][bound:]
    spread = any(isinstance(a, ast.Starred) for a in call.args)
    given = len([a for a in call.args if not isinstance(a, ast.Starred)])
    keywords = {k.arg for k in call.keywords if k.arg is not None}
    open_keywords = any(k.arg is None for k in call.keywords)
    if given > len(names) and arguments.vararg is None:
        return False
    known = {*names[given:], *(a.arg for a in arguments.kwonlyargs)}
    if arguments.kwarg is None and not keywords <= known:
        return False
    if spread or open_keywords:
        return True
    required = names[given : max(given, len(names) - len(arguments.defaults))]
    required += [
        a.arg
        for a, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is None
    ]
    return set(required) <= keywords

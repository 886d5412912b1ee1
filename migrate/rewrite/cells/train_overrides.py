"""`def train(self, mode=True)` of a network's class: torch calls it for train(), for eval(), and
for every network that holds this one. MindSpore's set_train() is its counterpart; a Cell's
enclosing Cells set a flag instead of calling it, so a decorator leads them to it.
"""

from __future__ import annotations

import ast

import libcst as cst

from migrate.resolve.members import class_is_module
from migrate.resolve.values import Instance, ProjectClass, ProjectFunction, Value, options_of
from migrate.syntax.nodes import expression

Method = ast.FunctionDef | ast.AsyncFunctionDef


def overridden_train(cls: ProjectClass | None) -> Method | None:
    """The method by which a Module's class replaces Module.train. `def train(self, loader)`, which
    Module.eval could not call, is another function of that name.
    """
    if cls is None or not class_is_module(cls):
        return None
    member = cls.body.get("train")
    node = member.node if isinstance(member, ProjectFunction) else None
    return node if isinstance(node, Method) and _takes_mode(node) else None


def _takes_mode(method: Method) -> bool:
    positional = [*method.args.posonlyargs, *method.args.args][1:]
    required = len(positional) - len(method.args.defaults)
    if not positional:
        return method.args.vararg is not None
    return required <= 1 and (positional[0].arg == "mode" or required == 0)


def calls_override(owner: Value) -> bool:
    """`net.train` of a network whose class, or a base of it, has its own."""
    classes = [o.cls if isinstance(o, Instance) else o for o in options_of(owner)]
    return bool(classes) and all(
        isinstance(cls, ProjectClass)
        and any(
            overridden_train(base) is not None
            for base in cls.lineage()
            if isinstance(base, ProjectClass)
        )
        for cls in classes
    )


def decorated(node: cst.ClassDef, name: str) -> cst.ClassDef:
    """The class under `@helpers.spreads_set_train`, innermost."""
    return node.with_changes(decorators=[*node.decorators, cst.Decorator(expression(name))])

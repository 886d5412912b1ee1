"""A property that computes with parameters, in a class that derives from the one that has it.

Graph mode looks for properties in a layer's own class alone. One of a base class is run once, as
plain Python, and its value is a constant: its parameters get no gradient, and nothing says so.
"""

from __future__ import annotations

import ast

import libcst as cst

from migrate.resolve.members import class_is_module
from migrate.resolve.values import UNKNOWN, ProjectClass, ProjectFunction, is_tensor
from migrate.syntax.access import name_of


def with_own_properties(cls: ProjectClass | None, node: cst.ClassDef) -> cst.ClassDef:
    """The class with `scale = Base.scale` for each of them."""
    names = _inherited(cls) if cls is not None and class_is_module(cls) else {}
    if not names or not isinstance(node.body, cst.IndentedBlock):
        return node
    lines = [cst.parse_statement(f"{name} = {base}.{name}\n") for name, base in names.items()]
    comment = cst.EmptyLine(comment=cst.Comment("# Graph mode sees a class's own properties only"))
    lines[0] = lines[0].with_changes(leading_lines=[comment])
    body = list(node.body.body)
    at = 1 if node.get_docstring() is not None else 0
    return node.with_changes(body=node.body.with_changes(body=[*body[:at], *lines, *body[at:]]))


def _inherited(cls: ProjectClass) -> dict[str, str]:
    """Properties that may give tensors, with the base that they are reached through."""
    found: dict[str, str] = {}
    several: set[str] = set()
    for spelled, base in zip(cls.node.bases, cls.bases, strict=False):
        if base is UNKNOWN:
            break  # it may have a member of this name, which comes first
        if not isinstance(base, ProjectClass) or not isinstance(spelled, (ast.Name, ast.Attribute)):
            continue
        for name in _properties(base):
            several |= {name} if name in found else set()  # which of them counts, the order says
            found[name] = ast.unparse(spelled)
    own = {*cls.body, *several}
    return {name: base for name, base in found.items() if name not in own}


def _properties(cls: ProjectClass) -> list[str]:
    names: dict[str, bool] = {}
    for base in cls.lineage():
        for name, value in base.body.items() if isinstance(base, ProjectClass) else ():
            names.setdefault(name, _may_give_tensor(value))
    return [name for name, computes in names.items() if computes]


def _may_give_tensor(value: object) -> bool:
    if not isinstance(value, ProjectFunction):
        return False
    decorators = getattr(value.node, "decorator_list", [])
    if not any(name_of(d) == "property" for d in decorators):
        return False
    return is_tensor(value.result) or value.result is UNKNOWN

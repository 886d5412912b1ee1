"""`type(m) is nn.Conv2d`, `norm_layer == nn.BatchNorm2d`: in ported code torch's class is
MindSpore's own, or the one with torch's arguments that is passed on in its place.

Neither isinstance nor one of the two names would do: the first takes subclasses of the program's
own, the second misses the other one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

import libcst as cst

from migrate.port.calls.call import Refusal
from migrate.port.context import Context
from migrate.port.syntax.nodes import code, expression
from migrate.resolve import Usage
from migrate.resolve.values import External, ListOf, TupleOf, Value, options_of
from migrate.table import Entry

_NAMES = Callable[[Usage, Entry], str]
_POSITIVE = (ast.Is, ast.Eq, ast.In)
_NEGATIVE = (ast.IsNot, ast.NotEq, ast.NotIn)


def as_membership(
    partner: ast.AST | None,
    updated: cst.Comparison,
    context: Context,
    spellings: tuple[_NAMES, _NAMES],
) -> cst.BaseExpression | None:
    """The test against every class that stands for torch's; None where it is right as it is."""
    if not isinstance(partner, ast.Compare) or len(partner.ops) != 1:
        return None
    operator, right = partner.ops[0], partner.comparators[0]
    compared = updated.comparisons[0].comparator
    if not isinstance(operator, _POSITIVE + _NEGATIVE):
        return None
    if isinstance(operator, ast.In | ast.NotIn):
        if not isinstance(right, ast.Tuple | ast.List | ast.Set) or not isinstance(
            compared, cst.Tuple | cst.List | cst.Set
        ):
            return None
        parts = list(zip(right.elts, [code(e.value) for e in compared.elements], strict=True))
    else:
        parts = [(right, code(compared))]
    names = [name for part, text in parts for name in _names(part, text, context, spellings)]
    if len(names) == len(parts):
        return None
    word = "in" if isinstance(operator, _POSITIVE) else "not in"
    test = expression(f"{code(updated.left)} {word} ({', '.join(dict.fromkeys(names))})")
    return test.with_changes(lpar=updated.lpar, rpar=updated.rpar)


def _names(
    node: ast.expr, text: str, context: Context, spellings: tuple[_NAMES, _NAMES]
) -> list[str]:
    """How ported code may call the class; the text itself where it is none of torch's layers."""
    usage = context.usage(node)
    entry = context.table.get(usage.api) if usage is not None else None
    if (
        usage is None
        or entry is None
        or entry.kind != "class"
        or not entry.torch.startswith("torch.nn.")
    ):
        return [text]
    found: dict[str, None] = {}
    for spell in spellings:
        try:
            found[spell(usage, entry)] = None
        except Refusal:
            continue  # no class of that kind exists
    return list(found) or [text]


def kept_classes(partner: ast.Call, updated: cst.Call, context: Context) -> cst.Call | None:
    """`isinstance(m, KINDS)` with torch's layers kept in a variable: there they are the classes
    with torch's arguments, and layers that the program made itself are MindSpore's own.
    """
    name = partner.func.id if isinstance(partner.func, ast.Name) else ""
    if name not in ("isinstance", "issubclass") or len(updated.args) != 2:
        return None
    kinds = partner.args[1] if len(partner.args) == 2 else None
    if not isinstance(kinds, ast.Name | ast.Attribute) or context.usage(kinds) is not None:
        return None
    if not any(_is_layer_class(option) for option in options_of(context.type(kinds))):
        return None
    given = updated.args[1]
    wrapped = f"{context.spelling.name('helpers.classes')}({code(given.value)})"
    return updated.with_changes(
        args=[updated.args[0], given.with_changes(value=expression(wrapped))]
    )


def _is_layer_class(value: Value) -> bool:
    if isinstance(value, TupleOf):
        return any(_is_layer_class(option) for item in value.items for option in options_of(item))
    if isinstance(value, ListOf):
        return any(_is_layer_class(option) for option in options_of(value.item))
    return isinstance(value, External) and value.name.startswith("torch.nn.")

"""`type(m) is nn.Conv2d`, `norm_layer == nn.BatchNorm2d`: in ported code torch's class is
MindSpore's own, or the one with torch's arguments that is passed on in its place.

Neither isinstance nor one of the two names would do: the first takes subclasses of the program's
own, the second misses the other one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

import libcst as cst

from migrate.pipeline.context import Context
from migrate.pipeline.refusal import Refusal
from migrate.resolve import Usage
from migrate.rewrite.calls.signature_cells import is_imported_alone
from migrate.syntax.nodes import expression
from migrate.syntax.text import code
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
    if isinstance(operator, (ast.In, ast.NotIn)):
        if not isinstance(right, (ast.Tuple, ast.List, ast.Set)) or not isinstance(
            compared, (cst.Tuple, cst.List, cst.Set)
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
        or is_imported_alone(entry)
    ):
        return [text]
    found: dict[str, None] = {}
    for spell in spellings:
        try:
            found[spell(usage, entry)] = None
        except Refusal:
            continue  # no class of that kind exists
    return list(found) or [text]

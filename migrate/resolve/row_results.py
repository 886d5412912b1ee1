"""What a call of a torch function gives, by the forms of its row in the table."""

from __future__ import annotations

import ast

from migrate.resolve.binding import fitting_overloads, is_sure, passed_on
from migrate.resolve.switched_results import switched_result
from migrate.resolve.types import from_word
from migrate.resolve.values import PARAMETER, TENSOR, UNKNOWN, Known, Value, join
from migrate.table import Entry


def returned(
    entry: Entry, node: ast.Call, values: list[Value], keywords: dict[str | None, Value]
) -> Value:
    """What the forms of a row give that fit these arguments."""
    switched = switched_result(entry.torch, values, keywords)
    if switched is not None:
        return switched
    forms = fitting_overloads(entry, values, keywords, node)
    # The porter writes the first form that is sure.
    forms = [form for form in forms if is_sure(form, values, keywords)][:1] or forms
    result: Value = UNKNOWN
    for form in forms or entry.overloads:
        plain = form.returns and not form.returns.startswith("{")
        given = from_word(form.returns) if plain else passed_on(form, values, keywords)
        result = join(result, given)
    made_to_be_trained = result is TENSOR and _is_true(keywords.get("requires_grad"))
    return PARAMETER if made_to_be_trained else result


def _is_true(value: Value | None) -> bool:
    return isinstance(value, Known) and value.value is True

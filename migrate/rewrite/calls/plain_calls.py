"""A class that is handed on as a value, and called where a direct call would need no change.

`norm_layer=nn.BatchNorm2d`, and all calls are `norm_layer(width)`: MindSpore's own class takes that
as torch's does. With `norm_layer(width, momentum=0.01)` among them a helper has to take torch's
arguments.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from migrate.flow.class_values import calls_of_class, plain_arguments
from migrate.resolve.values import UNKNOWN
from migrate.rewrite.calls.call import Call, Refusal, Slot
from migrate.rewrite.calls.emit import write_call
from migrate.rewrite.calls.signature_cells import context_rules
from migrate.syntax.import_planner import ImportPlanner
from migrate.syntax.nodes import keyword_argument
from migrate.syntax.text import code
from migrate.table import Entry
from migrate.table.signature import Signature

if TYPE_CHECKING:
    from migrate.pipeline.context import Context


def is_called_plainly(entry: Entry, context: Context) -> bool:
    """Whether all calls of what may hold this class mean the same to MindSpore's class."""
    form = entry.main
    if entry.kind != "class" or len(entry.overloads) != 1 or not form.mindspore or form.emit:
        return False
    if form.signature is None or context.spelling.mint:
        return False
    project = context.modules.project
    if project is None or context.resolution.source not in project.files:
        return False
    calls = calls_of_class(project, entry.torch.rpartition(".")[2]) or []
    # None at all say nothing: a class that is kept for other programs may be called in any way.
    return bool(calls) and all(_stays(call, entry, form.signature) for call in calls)


def _stays(call: ast.Call, entry: Entry, signature: Signature) -> bool:
    """Whether a direct call with these arguments would be written with them as they are."""
    given = plain_arguments(call)
    if given is None or given[0] > len(signature.positional):
        return False
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    names = [*(one.name for one in signature.positional[: given[0]]), *given[1]]
    if any(signature.get(name) is None for name in names) or len(set(names)) != len(names):
        return False
    written = Call(
        entry=entry,
        overload=entry.main,
        target=entry.main.mindspore,
        helper=entry.main.helper,
        node=cst.Call(func=cst.Name("f"), args=[]),
    )
    source: list[cst.Arg] = []
    for place, (name, value) in enumerate(zip(names, values, strict=True)):
        # What is no constant may have any value.
        shown = ast.unparse(value) if isinstance(value, ast.Constant) else name
        expression = cst.parse_expression(shown)
        by_place = place < given[0]
        argument = cst.Arg(expression) if by_place else keyword_argument(name, expression)
        source.append(argument)
        written.slots[name] = Slot(name, expression, UNKNOWN, argument, positional=by_place)
    written.node = cst.Call(func=cst.Name("f"), args=source)
    spelling = ImportPlanner(taken=frozenset(names))
    try:
        made = write_call(written, spelling, context_rules())
    except Refusal:
        return False
    if not isinstance(made, cst.Call) or code(made.func) != spelling.name(entry.main.mindspore):
        return False
    return _arguments(made.args) == _arguments(source)


def _arguments(given: Sequence[cst.Arg]) -> list[tuple[str, str]]:
    return [(one.keyword.value if one.keyword else "", code(one.value)) for one in given]

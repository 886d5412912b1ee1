"""The helpers of a file: those that its code names, and those that work by being imported."""

from __future__ import annotations

import ast

from migrate.emit.used_helpers import used_helpers
from migrate.flow.project_flags import formats_numbers, repeats_numpy
from migrate.graph_mode.not_compiled import mark_classes
from migrate.graph_mode.watched_settings import HELPER as WATCH_SETTINGS
from migrate.graph_mode.watched_settings import changes_settings, with_helper_import
from migrate.pipeline.context import Context
from migrate.rewrite.calls.shown_types import shows_layers, shows_tensors
from migrate.rewrite.tensors.numpy_operands import may_meet_numpy


def helpers_in(code: str, context: Context) -> list[str]:
    """The helpers that the ported code still uses, in the order in which they were asked for."""
    used = used_helpers(context.ported_tree or ast.parse(code))
    return [name for name in context.spelling.helpers if name in used]


def with_installed(code: str, context: Context, helper_import: str, helpers: list[str]) -> str:
    """The code with an import of the helpers that take effect when they are imported."""
    usages = context.resolution.usages
    if not context.module_classes and all(usage.form == "unknown" for usage in usages):
        return code  # torch may reach it only through values of unknown types
    code, uncompiled = mark_classes(code, context)
    if uncompiled or changes_settings(context):
        code = with_helper_import(code, helper_import, helpers)
        helpers.append(WATCH_SETTINGS)
    for name, reason in _wanted(context):
        code = with_helper_import(code, helper_import, helpers, reason)
        helpers.append(name)
    return code


def _wanted(context: Context) -> list[tuple[str, str]]:
    """Each helper that changes something for the whole program, with the reason beside it."""
    shown = "tensors and layers are shown as torch shows them"
    choices = [
        (formats_numbers(context.tree), "formatted_tensors", _FORMAT),
        (
            may_meet_numpy(context),
            "tensors_before_numpy",
            _NUMPY,
        ),
        (repeats_numpy(context.tree, context.modules.project), "own_draws", _DRAWS),
        (shows_tensors(context), "shown_tensors", shown),
        (shows_layers(context), "shown_layers", shown),
    ]
    return [(name, reason) for wanted, name, reason in choices if wanted]


_FORMAT = "tensors of one value take a number's format"
_NUMPY = "numpy's numbers leave operations to tensors"
_DRAWS = "the numbers that numpy draws stay the program's"

"""Where a model must be switched to training mode: a Cell starts in evaluation mode, a torch
module in training mode.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from migrate.flow.blocks import Home, own_calls
from migrate.flow.models import models_called, runs_models, short_lived_names, without_place
from migrate.flow.project_flags import depends_on_mode, sets_mode_when_built
from migrate.pipeline.context import Context
from migrate.plan.mode_assumptions import UnseenModel, assume_built, assume_given
from migrate.plan.mode_reads import reads_mode
from migrate.syntax.ast_index import all_nodes


@dataclass(slots=True)
class Switches:
    """Models to switch to training mode, as they are written."""

    # Statement that builds it -> models to switch behind it.
    after: dict[ast.AST | None, list[str]] = field(default_factory=dict)
    unclear: list[str] = field(default_factory=list)  # neither the building nor the mode is in view
    of_home: dict[ast.AST, list[str]] = field(default_factory=dict)  # in front of its first step
    all_cells: bool = False  # every Cell of the program starts in training mode
    unseen: list[UnseenModel] = field(default_factory=list)  # others decide about their mode

    def add(self, statement: ast.stmt, model: str) -> None:
        """Switch the model behind this statement, once."""
        known = self.after.setdefault(statement, [])
        if model not in known:
            known.append(model)


def plan_modes(
    tree: ast.Module,
    homes: Sequence[Home],
    training: set[ast.AST],
    context: Context,
) -> Switches:
    """What brings the models that a file runs into torch's mode: a call behind each construction,
    or, where not every construction is in view, Cells that start in training mode.
    """
    switches = _plan(tree, homes, training, context)
    assume_given(switches.unseen, context)
    assume_built(switches.after.items(), context)
    return switches


def _plan(
    tree: ast.Module, homes: Sequence[Home], training: set[ast.AST], context: Context
) -> Switches:
    switches = Switches()
    flow = context.flow
    depends = depends_on_mode(flow.modules.project)
    inside = {n for cls in context.module_classes.values() for n in all_nodes(cls.node)}
    for home in homes:
        if home in inside or not (depends or home in training):
            continue
        given = _find_switches(home, context, switches, home in training)
        if depends:
            switches.unclear += without_place(home, flow)
        if home in training:
            switches.of_home[home] = given
        else:
            switches.unclear += given
    if reads_mode(tree, inside, context):
        return Switches(all_cells=True, unseen=switches.unseen)
    if depends and (switches.unclear or sets_mode_when_built(flow.modules.project)):
        starts = any(runs_models(home, inside, flow) for home in homes)
        return Switches(all_cells=starts, unseen=switches.unseen if starts else [])
    return switches


def _find_switches(home: Home, context: Context, switches: Switches, trains: bool) -> list[str]:
    """Add what the models that run in `home` need; those that it was given."""
    given: dict[str, None] = {}
    modes = context.flow.modes
    short_lived = short_lived_names(home)
    calls = own_calls(home.body)
    for model in models_called(calls, context.flow, handed_on=trains, left_out=short_lived):
        for use in modes.uses(model, home):
            sources = modes.sources(model, home, use)
            for statement, name in sources.built:
                switches.add(statement, name)
            given |= sources.given
            switches.unclear += sources.unclear
            if sources.given or sources.unclear:
                switches.unseen.append(UnseenModel(model, home, use))
    return list(given)

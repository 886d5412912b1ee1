"""Is this module in training mode here? torch's modules start in it, and Cells do not.

From a use of a model the analysis goes back to `train()` and `eval()` on the way, to the statement
that builds the model, or to the callers who pass it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from migrate.flow.answer import Verdict, no, unknown, yes
from migrate.flow.blocks import Home, own_nodes, statements_below
from migrate.flow.model_sources import (
    argument_of,
    builds_here,
    callers_of,
    function_around,
    is_construction,
    sets_mode,
    value_of,
)
from migrate.flow.models import is_path, parameters_of
from migrate.flow.names import binds
from migrate.flow.project_flags import calls_eval

if TYPE_CHECKING:
    from migrate.flow import Flow

_DEPTH = 4  # callers of callers that are followed
_MODES = ("train", "eval")


@dataclass(slots=True)
class ModeSources:
    """Where the mode that a model has at some place comes from."""

    built: dict[tuple[ast.stmt, str], None] = field(default_factory=dict)  # as it was built
    given: dict[str, None] = field(default_factory=dict)  # as the function got it
    unclear: list[str] = field(default_factory=list)  # neither is in view

    def add_handed_on(self, source: ModeSources, model: str) -> None:
        """Of a model that another function gets, under another name, and keeps as `model`."""
        self.built |= source.built
        self.unclear += [model for _ in source.given] + source.unclear


class TrainingMode:
    """Answers for the models of one file."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow

    def at(self, model: str, home: Home, use: ast.stmt) -> Verdict:
        """Is the model in training mode where a statement runs it?"""
        calls = self._mode_calls(home, model, use)
        if calls and self._is_set(home, model, use):
            kinds = {call.func.attr for call in calls if isinstance(call.func, ast.Attribute)}
            switched_off = [c for c in calls if _switches_off(c)]
            if kinds == {"train"} and not switched_off:
                return yes(f"{model}.train() comes first")
            if len(switched_off) == len(calls):
                return no(f"{model}.eval() comes first")
            return unknown(f"{model} is switched to both modes")
        sources = self.sources(model, home, use)
        if sources.unclear or sources.given:
            return unknown(f"where {model} was built is not in view")
        if calls:
            return unknown(f"{model} is switched on one way only")
        return yes(f"{model} is as it was built") if sources.built else unknown("")

    def sources(self, model: str, home: Home, use: ast.stmt) -> ModeSources:
        """What decides about the model's mode at a statement; nothing where train() or eval()
        does on every way.
        """
        found = ModeSources()
        self._follow(model, home, use, found, _DEPTH)
        return found

    def uses(self, model: str, home: Home) -> list[ast.stmt]:
        """The statements that run a model; of one that is only handed on, the last one."""
        called: list[ast.stmt] = []
        handed: list[ast.stmt] = []
        for _, statement in statements_below(home.body):
            for call in _calls_of(statement):
                if ast.unparse(call.func) in (model, f"{model}.forward"):
                    called.append(statement)
                elif any(ast.unparse(argument) == model for argument in call.args):
                    handed.append(statement)
        return list(dict.fromkeys(called)) or handed[-1:]

    # Order ----------------------------------------------------------------------------------------

    def _mode_statements(self, home: Home, model: str) -> list[tuple[ast.stmt, ast.Call]]:
        wanted = {f"{model}.{mode}" for mode in _MODES}
        return [
            (statement, call)
            for _, statement in statements_below(home.body)
            for call in _calls_of(statement)
            if ast.unparse(call.func) in wanted
        ]

    def _mode_calls(self, home: Home, model: str, use: ast.stmt) -> list[ast.Call]:
        """Calls of train() and eval() that some run makes before the statement."""
        cfg = self._flow.function(home).cfg
        found = self._mode_statements(home, model)
        return [
            call for statement, call in found if statement is use or cfg.may_follow(statement, use)
        ]

    def _is_set(self, home: Home, model: str, use: ast.stmt) -> bool:
        """Every way to the statement goes through a train() or an eval()."""
        statements = [statement for statement, _ in self._mode_statements(home, model)]
        if use in statements:
            return True
        return bool(statements) and not self._flow.function(home).cfg.avoids(statements, use)

    # The way back ---------------------------------------------------------------------------------

    def _follow(
        self, model: str, home: Home, use: ast.stmt, found: ModeSources, depth: int
    ) -> None:
        if self._is_set(home, model, use):
            return
        tree = self._flow.tree
        calls = callers_of(home, tree) if depth else []
        statements = builds_here(home, model, tree)
        if statements:
            # A method's or a global model: perhaps every caller sets its mode first.
            if not calls or not all(self._is_set(c.home, model, c.statement) for c in calls):
                for statement in statements:
                    self._follow_building(model, statement, found, depth)
            return
        if not isinstance(home, ast.Module) and self._follow_callers(
            model, home, None, found, depth
        ):
            return
        root = model.partition(".")[0]
        known = root in parameters_of(home) or not any(root in binds(s) for s in home.body)
        if known and not calls_eval(self._flow.modules.project):
            found.given.setdefault(model)
        else:
            found.unclear.append(model)

    def _follow_building(
        self, model: str, statement: ast.stmt, found: ModeSources, depth: int
    ) -> None:
        """The model is built by this statement, or handed on by it: `self.model = model`."""
        value = value_of(statement, model)
        function = function_around(statement, self._flow.tree)
        home: Home = function or self._flow.tree
        if not isinstance(value, (ast.Name, ast.Attribute)):
            if not is_construction(value):
                found.unclear.append(model)
            elif not sets_mode(statement, self._flow):
                found.built.setdefault((statement, model))
        elif depth and isinstance(value, ast.Name) and function and value.id in parameters_of(home):
            if not self._is_set(home, value.id, statement):
                source, handed = ModeSources(), (statement, model)
                if not self._follow_callers(value.id, function, handed, source, depth):
                    found.unclear.append(model)  # built in another file
                found.add_handed_on(source, model)
        elif depth and is_path(value) and ast.unparse(value) != model:
            source = ModeSources()
            self._follow(ast.unparse(value), home, statement, source, depth - 1)
            found.add_handed_on(source, model)

    def _follow_callers(
        self,
        model: str,
        function: ast.FunctionDef | ast.AsyncFunctionDef,
        handed: tuple[ast.stmt, str] | None,
        found: ModeSources,
        depth: int,
    ) -> bool:
        """Go to those who call the function with a model; False when nobody in view does."""
        followed = False
        for caller in callers_of(function, self._flow.tree) if depth else ():
            given = argument_of(caller.call, function, model)
            if given is None:
                continue
            followed = True
            if is_path(given):
                source = ModeSources()
                self._follow(ast.unparse(given), caller.home, caller.statement, source, depth - 1)
                found.built |= source.built
                found.unclear += source.unclear
                if source.given:  # under another name in the caller: here it has this one
                    found.given.setdefault(model)
            elif not sets_mode(given, self._flow):  # built in the very call
                if handed is not None:
                    found.built.setdefault(handed)
                else:
                    found.unclear.append(ast.unparse(given))
        return followed


def _switches_off(call: ast.Call) -> bool:
    """`m.eval()`, `m.train(False)`."""
    if getattr(call.func, "attr", "") == "eval":
        return True
    flag = call.args[0] if call.args else None
    return isinstance(flag, ast.Constant) and not flag.value


def _calls_of(statement: ast.stmt) -> list[ast.Call]:
    return [node for node in own_nodes(statement) if isinstance(node, ast.Call)]

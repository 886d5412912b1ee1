"""The facts about one function: control flow, def-use, aliases; each computed when asked for."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from migrate.flow.alias import Aliases
from migrate.flow.cfg import ControlFlow
from migrate.flow.def_use import DefUse
from migrate.flow.names import NameEffects

if TYPE_CHECKING:
    from migrate.flow import Flow
    from migrate.flow.effects import Effects
    from migrate.flow.events import Scope
    from migrate.flow.symbols import Symbols


class FunctionFlow:
    """The flow of one scope: a function, a lambda, or the statements of a module."""

    def __init__(self, node: Scope, flow: Flow) -> None:
        self.node = node
        self.flow = flow

    @property
    def symbols(self) -> Symbols:
        return self.flow.symbols

    @property
    def effects(self) -> Effects:
        return self.flow.effects

    @cached_property
    def cfg(self) -> ControlFlow:
        return ControlFlow(self.node)

    @cached_property
    def defuse(self) -> DefUse:
        return DefUse(self.cfg)

    @cached_property
    def names(self) -> NameEffects:
        return NameEffects(self)

    @cached_property
    def aliases(self) -> Aliases:
        _ = self.defuse  # adds the parameters to the entry point
        return Aliases(self)

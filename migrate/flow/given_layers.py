"""Layers that a function is given: `Block(nn.ReLU(inplace=True))` of `def __init__(self, act)`.
What callers pass says what the layer does to its input, whichever file they stand in.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrate.flow.gradient import argument_given

if TYPE_CHECKING:
    from collections.abc import Iterator

    from migrate.flow.function import FunctionFlow
    from migrate.flow.layers import Layer, Layers
    from migrate.resolve.module_scope import ModuleScope


class GivenLayers:
    """Answers for parameters, from all calls in view."""

    def __init__(self, layers: Layers) -> None:
        self._layers = layers
        self._calls: dict[ModuleScope, dict[ast.AST, list[ast.Call]]] = {}

    def of(self, name: str, flow: FunctionFlow) -> list[Layer | None]:
        """The layer that each caller passes for a parameter; its default where none is in view."""
        function = flow.node
        found = [
            self._layers.of(given, around)
            for call in self._callers(function, flow)
            if (given := argument_given(call, name, function)) is not None
            and (around := flow.flow.around(call)) is not None
        ]
        for other, given in flow.flow.callers_elsewhere.given(function, name):
            around = other.around(given) if given is not None else None
            if given is not None and around is not None:
                found.append(other.effects.layers.of(given, around))
        if not found:
            default = argument_given(ast.Call(ast.Name(""), [], []), name, function)
            found = [self._layers.of(default, flow)] if default is not None else []
        return found

    def _callers(self, function: ast.AST, flow: FunctionFlow) -> Iterator[ast.Call]:
        """In the file in hand, and in the file of the function."""
        symbols = flow.symbols
        for module in {symbols.scope, symbols.module_of(function)}:
            if module is None:
                continue
            if module not in self._calls:
                self._calls[module] = self._calls_in(module, flow)
            yield from self._calls[module].get(function, ())

    def _calls_in(self, module: ModuleScope, flow: FunctionFlow) -> dict[ast.AST, list[ast.Call]]:
        found: dict[ast.AST, list[ast.Call]] = {}
        graph = flow.flow.calls
        roots: list[ast.AST] = [flow.flow.tree]
        if module is not flow.symbols.scope:
            roots = [flow.flow.of(function).node for function in module.functions]
        for root in roots:
            for site in graph.callees(root):
                for target in (*site.targets, *graph.constructors(site.node)):
                    found.setdefault(target.node, []).append(site.node)
        return found

"""Which parameters get views: `clip(boxes[:, :4])` hands a part of a tensor to a function."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrate.flow.gradient import argument_given

if TYPE_CHECKING:
    from migrate.flow import Flow

Asked = tuple[ast.AST, str]


class GivenViews:
    """Answers for the functions of one file, from the calls of the program."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._known: dict[Asked, bool] = {}

    def is_given_view(self, function: ast.AST, name: str) -> bool:
        """Some call passes a view for the parameter, or what may be one."""
        key = (function, name)
        if key not in self._known:
            self._known[key] = False  # while it is looked at
            self._known[key] = any(_is_view(flow, node) for flow, node in self.given(*key))
        return self._known[key]

    def given(self, function: ast.AST, name: str) -> list[tuple[Flow, ast.expr]]:
        """What the calls of the program pass for the parameter."""
        flow = self._flow
        calls = dict.fromkeys(flow.calls.callers(function))
        here = [(flow, argument_given(call, name, function)) for call in calls]
        elsewhere = flow.callers_elsewhere.given(function, name)
        return [(flow, node) for flow, node in (*here, *elsewhere) if node is not None]


def _is_view(flow: Flow, node: ast.expr) -> bool:
    around = flow.around(node)
    refs = around.aliases.refs(node) if around is not None else ()
    return any(
        ref.relation in ("view", "maybe")
        or (
            ref.memory.source == "parameter"
            and around is not None
            and flow.views.is_given_view(around.node, ref.memory.name)
        )
        for ref in refs
    )

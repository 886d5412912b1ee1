"""Names that `port --style mindspore` wrote into the source: `__mindspore__("train.Model")` is
spelled and imported as the file needs it.
"""

from __future__ import annotations

import libcst as cst

from migrate.pipeline import declare, same
from migrate.rewrite.node_pass import NodePass
from migrate.syntax.import_planner import HELPERS

_ROOTS = {"__mindspore__": "mindspore", "__helpers__": HELPERS}


@declare(
    phase="rewrite",
    unit="node",
    examples=[same("x = y.__mindspore__")],
)
class StyleNames(NodePass):
    """Spells the names."""

    def leave_Call(self, original: cst.Call, updated: cst.BaseExpression) -> cst.BaseExpression:
        root = original.func
        if not isinstance(root, cst.Name) or root.value not in _ROOTS:
            return updated
        name = original.args[0].value
        assert isinstance(name, cst.SimpleString)
        dotted = f"{_ROOTS[root.value]}.{name.value[1:-1]}"
        return cst.parse_expression(self.spelling.name(dotted))

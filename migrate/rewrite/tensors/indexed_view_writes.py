"""`x.t()[mask] = 0`: by an index tensor, a mask or a list MindSpore writes into memory of the view
itself, and whoever holds x misses the write. Writes by slices and integers reach x.
"""

from __future__ import annotations

import ast

import libcst as cst

from migrate.flow.memory import Ref
from migrate.pipeline import becomes, declare
from migrate.rewrite.tensors.aliases import seen_by
from migrate.rewrite.tensors.index_parts import (
    ARRAY,
    NEW,
    REST,
    UNKNOWN,
    as_tuple,
    index_kinds,
    operand,
)
from migrate.rewrite.tensors.index_pass import IndexPass
from migrate.syntax.nodes import expression
from migrate.syntax.text import code


@declare(
    phase="rewrite",
    unit="node",
    needs=["types", "compiled", "aliases"],
    after={
        "masked_writes": "a write by a mask has a form of its own in compiled code",
        "integer_indices": "it writes what it computes through a slice, which reaches the memory",
    },
    examples=[
        becomes(
            "def f():\n    y = torch.zeros(2, 3)\n    v = y.t()\n    v[v < 0] = 1\n    print(y)\n",
            "def f():\n    y = ops.zeros((2, 3))\n    v = y.t()\n"
            "    v[:] = helpers.put_items(v, (v < 0,), 1)\n    print(y)\n",
        ),
        becomes(
            "def f():\n    y = torch.zeros(2, 3)\n    v = y.t()\n    v[0] = 1\n    print(y)\n",
            "def f():\n    y = ops.zeros((2, 3))\n    v = y.t()\n    v[0] = 1\n    print(y)\n",
        ),
        becomes(
            "def f(i):\n    y = torch.zeros(2, 3)\n    v = y.t()\n    y[i] = 1\n    print(v)\n",
            "def f(i):\n    y = ops.zeros((2, 3))\n    v = y.t()\n"
            "    y[:] = helpers.put_items(y, (i,), 1)\n    print(v)\n",
        ),
        becomes(
            "def f(x: torch.Tensor):\n    x[x < 0] = 1\n\ny = torch.zeros(2, 3)\nf(y.t())\n",
            "def f(x: Tensor):\n    x[:] = helpers.put_items(x, (x < 0,), 1)\n\n"
            "y = ops.zeros((2, 3))\nf(y.t())\n",
        ),
        becomes(
            "def f():\n    x = torch.zeros(6).view(2, 3)\n    x[x < 0] = 1\n    print(x)\n",
            "def f():\n    x = ops.zeros(6).view(2, 3)\n    x[x < 0] = 1\n    print(x)\n",
        ),
    ],
)
class IndexedViewWrites(IndexPass):
    """Computes the whole view anew and writes it by a slice."""

    def write(
        self, goal: ast.Subscript, place: cst.Subscript, statement: cst.Assign | cst.AugAssign
    ) -> cst.Assign | None:
        if self.is_compiled(self.function) or not self._is_due(goal):
            return None
        base, value = code(place.value), code(statement.value)
        index = as_tuple([code(element.slice) for element in place.slice])
        if isinstance(statement, cst.AugAssign):
            sign = code(statement.operator).strip().rstrip("=")
            value = f"{code(place)} {sign} {operand(value)}"
        new = f"{self.spelling.name('helpers.put_items')}({base}, {index}, {value})"
        whole = cst.ensure_type(cst.parse_expression(f"{base}[:]"), cst.Subscript)
        self.context.edited_lines.add(goal.lineno)
        return cst.Assign([cst.AssignTarget(whole)], expression(new))

    def _is_due(self, goal: ast.Subscript) -> bool:
        """By an index tensor or a list, into a view of what someone else reads later, or into
        that of which a view is read.
        """
        kinds = index_kinds(goal.slice, self.context)
        if not {ARRAY, UNKNOWN} & set(kinds) and kinds not in ([REST], [NEW]):
            return False
        flow = self.context.flow.around(goal)
        if flow is None:
            return False
        held = flow.aliases.refs(goal.value)
        if any(map(self._is_given_view, held)):
            return True
        if not any(ref.relation in ("view", "maybe") for ref in held):
            others = flow.aliases.observers(goal)
            return any(o.kind == "name" and o.relation == "view" for o in others)
        return not isinstance(goal.value, ast.Name) or bool(seen_by(goal, self.context))

    def _is_given_view(self, ref: Ref) -> bool:
        """Some caller passes a view of a tensor for the parameter."""
        name = ref.memory.name if ref.memory.source == "parameter" else ""
        function = self.function
        if not name or ref.relation == "foreign" or not isinstance(function, ast.FunctionDef):
            return False
        return self.context.flow.views.is_given_view(function, name)

"""`x.t()[mask] = 0`: by an index tensor, a mask or a list MindSpore writes into memory of the view
itself, and whoever holds x misses the write. Writes by slices and integers reach x.
"""

from __future__ import annotations

import ast

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.resolve.values import is_tensor
from migrate.rewrite.node_pass import NodePass
from migrate.rewrite.tensors.aliases import seen_by
from migrate.rewrite.tensors.integer_indices import ARRAY, NEW, REST, UNKNOWN, as_tuple, index_kinds
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
            "def f():\n    x = torch.zeros(6).view(2, 3)\n    x[x < 0] = 1\n    print(x)\n",
            "def f():\n    x = ops.zeros(6).view(2, 3)\n    x[x < 0] = 1\n    print(x)\n",
        ),
    ],
)
class IndexedViewWrites(NodePass):
    """Computes the whole view anew and writes it by a slice."""

    def propose_Assign(self, original: cst.Assign, updated: cst.Assign) -> cst.Assign | None:
        partner = self.partner(original)
        if not isinstance(partner, ast.Assign) or len(partner.targets) != 1:
            return None
        return self._written(partner.targets[0], updated.targets[0].target, updated)

    def propose_AugAssign(
        self, original: cst.AugAssign, updated: cst.AugAssign
    ) -> cst.Assign | None:
        partner = self.partner(original)
        assert isinstance(partner, ast.AugAssign)
        return self._written(partner.target, updated.target, updated)

    def _written(
        self, goal: ast.expr, place: cst.BaseExpression, updated: cst.Assign | cst.AugAssign
    ) -> cst.Assign | None:
        if not isinstance(goal, ast.Subscript) or not isinstance(place, cst.Subscript):
            return None
        if self.is_compiled(self.function) or not self._is_due(goal):
            return None
        base, value = code(place.value), code(updated.value)
        index = as_tuple([code(element.slice) for element in place.slice])
        if isinstance(updated, cst.AugAssign):
            sign = code(updated.operator).strip().rstrip("=")
            value = f"{code(place)} {sign} ({value})"
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
        if not is_tensor(self.context.type(goal.value)):
            return False
        flow = self.context.flow.around(goal)
        held = flow.aliases.refs(goal.value) if flow is not None else ()
        if not any(ref.relation in ("view", "maybe") for ref in held):
            others = flow.aliases.observers(goal) if flow is not None else []
            return any(o.kind == "name" and o.relation == "view" for o in others)
        return not isinstance(goal.value, ast.Name) or bool(seen_by(goal, self.context))

"""`x[0, :, rows]`: torch takes the integers first, MindSpore counts them among the index tensors.

Where a slice, None or an ellipsis stands between an integer and an index tensor, numpy and
MindSpore put the dimensions of the index tensors in front; torch leaves them in their place.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import lru_cache

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.pipeline.context import Context
from migrate.resolve.values import Instance, Known, ListOf, TupleOf, Value, is_tensor, options_of
from migrate.rewrite.calls.call_sites import subscripted
from migrate.rewrite.effects import Effects
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.rewrite.tensors.numpy_operands import is_numpy_value
from migrate.syntax.ast_index import nodes_of
from migrate.syntax.import_planner import ImportPlanner
from migrate.syntax.nodes import expression
from migrate.syntax.text import code

SLICE, NEW, REST, INTEGER, ARRAY, UNKNOWN = "slice", "None", "...", "integer", "array", "unknown"
_INDICES = frozenset({INTEGER, ARRAY, UNKNOWN})


@declare(
    phase="rewrite",
    unit="node",
    needs=["types"],
    after={"masked_writes": "a write by a mask has a form of its own in compiled code"},
    examples=[
        becomes("x = x[0, :, torch.tensor([1, 0])]", "x = x[0][:, mindspore.tensor([1, 0])]"),
    ],
)
class IntegerIndices(NodePass):
    """Takes the integers first, in reads and in writes."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._effects = file.shared(Effects)

    def propose_Subscript(
        self, original: cst.Subscript, updated: cst.Subscript
    ) -> cst.BaseExpression | None:
        if len(updated.slice) < 2 or original in self._effects.subscript_targets:
            return None
        if not is_tensor(self.context.type(self.partner(subscripted(original)))):
            return None
        index = index_of(original, self.context.tree, self.partner)
        if index is None:
            return None
        return read_integers_first(index, updated, self.context, self.spelling)

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
        """`x[0, :, rows] = y`, where the integer is taken before the index tensor."""
        if not isinstance(goal, ast.Subscript) or not isinstance(place, cst.Subscript):
            return None
        if not is_tensor(self.context.type(goal.value)):
            return None
        return write_integers_first(goal.slice, place, updated, self.context, self.spelling)


def index_of(
    node: cst.Subscript, tree: ast.Module, partner: Callable[[cst.CSTNode], ast.AST | None]
) -> ast.Tuple | None:
    """The several indices of a subscript, which has no partner itself."""
    depth, leaf = 0, node.value
    while isinstance(leaf, cst.Subscript):
        depth, leaf = depth + 1, leaf.value
    return index_tuples(tree).get((partner(leaf), depth))


@lru_cache(maxsize=4)
def index_tuples(tree: ast.Module) -> dict[tuple[ast.AST | None, int], ast.Tuple]:
    """Subscripts with several indices: by the leaf that is subscripted, and how often it is."""
    found: dict[tuple[ast.AST | None, int], ast.Tuple] = {}
    for node in nodes_of(tree, ast.Subscript):
        if isinstance(node.slice, ast.Tuple):
            depth, leaf = 0, node.value
            while isinstance(leaf, ast.Subscript):
                depth, leaf = depth + 1, leaf.value
            found[leaf, depth] = node.slice
    return found


def read_integers_first(
    index: ast.expr, updated: cst.Subscript, context: Context, spelling: ImportPlanner
) -> cst.BaseExpression | None:
    """`x[0][:, rows]`, or a helper that looks at the indices; None where the rules agree."""
    split = _split(index, updated, context)
    if split is None:
        return None
    if isinstance(split, str):
        return expression(f"{spelling.name('helpers.take_items')}({code(updated.value)}, {split})")
    first, rest = split
    return expression(f"{code(updated.value)}[{', '.join(first)}][{', '.join(rest)}]")


def write_integers_first(
    index: ast.expr,
    place: cst.Subscript,
    statement: cst.Assign | cst.AugAssign,
    context: Context,
    spelling: ImportPlanner,
) -> cst.Assign | None:
    """`x[0] = helpers.with_items(x[0], (slice(None), rows), value)`; None where the rules agree."""
    split = _split(index, place, context)
    if split is None:
        return None
    base, value = code(place.value), code(statement.value)
    if isinstance(split, str):
        target, whole = f"{base}[:]", base
        read, where = f"{spelling.name('helpers.take_items')}({base}, {split})", split
        helper = spelling.name("helpers.put_items")
    else:
        first, rest = split
        target = whole = f"{base}[{', '.join(first)}]"
        read, where = f"{whole}[{', '.join(rest)}]", as_tuple(rest)
        helper = spelling.name("helpers.with_items")
    if isinstance(statement, cst.AugAssign):
        value = f"{read} {code(statement.operator).strip().rstrip('=')} {_operand(value)}"
    new = expression(f"{helper}({whole}, {where}, {value})")
    goal = cst.ensure_type(cst.parse_expression(target), cst.Subscript)
    return cst.Assign([cst.AssignTarget(goal)], new)


def _split(
    index: ast.expr, updated: cst.Subscript, context: Context
) -> tuple[list[str], list[str]] | str | None:
    """What to take first and what then; or all of it as the text of a tuple, to be looked at when
    the program runs; None where torch and MindSpore agree.
    """
    if not isinstance(index, ast.Tuple):
        return None
    kinds = index_kinds(index, context)
    if not _differs(kinds):
        return None
    if len(updated.slice) == 1:
        return None  # x[(0, slice(None), rows)]
    texts = [code(element.slice) for element in updated.slice]
    if not _is_plain(kinds):
        return as_tuple(texts)
    last = max(number for number, kind in enumerate(kinds) if kind == INTEGER)
    first = [
        text if kind == INTEGER else ":"
        for text, kind in zip(texts[: last + 1], kinds, strict=False)
        if kind != NEW
    ]
    rest = [text for text, kind in zip(texts, kinds, strict=True) if kind != INTEGER]
    return first, rest


def _differs(kinds: list[str]) -> bool:
    """An integer and an index tensor with something else between any two of the indices."""
    places = [number for number, kind in enumerate(kinds) if kind in _INDICES]
    if len(places) < 2 or places[-1] - places[0] == len(places) - 1:
        return False
    found = {kinds[place] for place in places}
    return found != {INTEGER} and (found != {ARRAY} or len(places) > 1)


def _is_plain(kinds: list[str]) -> bool:
    """Integers, then index tensors side by side: two subscripts say it."""
    if UNKNOWN in kinds or INTEGER not in kinds:
        return False
    last = max(number for number, kind in enumerate(kinds) if kind == INTEGER)
    arrays = [number for number, kind in enumerate(kinds) if kind == ARRAY]
    return (
        REST not in kinds[:last] and arrays[0] > last and arrays[-1] - arrays[0] == len(arrays) - 1
    )


def as_tuple(texts: list[str]) -> str:
    """The indices of a subscript as the text of a tuple, slices as calls."""
    spelled = ["'...'" if text == "..." else _as_slice(text) for text in texts]
    return f"({', '.join(spelled)}{',' if len(spelled) == 1 else ''})"


def _as_slice(text: str) -> str:
    """`a:b` as a call; what is no slice stays."""
    parsed = cst.ensure_type(cst.parse_expression(f"_[{text}]"), cst.Subscript).slice[0].slice
    if not isinstance(parsed, cst.Slice):
        return text
    bounds = [parsed.lower, parsed.upper, parsed.step]
    if bounds == [None, None, None]:
        return "slice(None)"
    shown = [code(bound) if bound is not None else "None" for bound in bounds]
    return f"slice({', '.join(shown if parsed.step is not None else shown[:2])})"


def index_kinds(index: ast.expr, context: Context) -> list[str]:
    """What stands at each place of an index."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return [_kind(part, context) for part in parts]


def _kind(part: ast.expr, context: Context) -> str:
    if isinstance(part, ast.Slice):
        return SLICE
    if isinstance(part, ast.Constant):
        if part.value is None or part.value is ...:
            return NEW if part.value is None else REST
        return INTEGER if type(part.value) is int else ARRAY
    if isinstance(part, ast.List | ast.ListComp | ast.Compare):
        return ARRAY
    if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub):
        return _kind(part.operand, context)
    value = context.type(part)
    if is_tensor(value) or isinstance(value, ListOf | TupleOf):
        return ARRAY
    if is_numpy_value(value):
        return UNKNOWN
    return INTEGER if _is_integer(value) else UNKNOWN


def _is_integer(value: Value) -> bool:
    return all(
        (isinstance(option, Instance) and option.cls == "builtins.int")
        or (isinstance(option, Known) and type(option.value) is int)
        for option in options_of(value)
    )


def _operand(text: str) -> str:
    """With parentheses, unless it is a name or a number."""
    return text if text.replace(".", "").isalnum() else f"({text})"

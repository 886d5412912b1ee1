"""`x[..., ::2, 1::2]`: MindSpore's CPU has no gradient for slices with a step, but for gather."""

from __future__ import annotations

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.resolve.values import is_tensor
from migrate.rewrite.calls.call_sites import subscripted
from migrate.rewrite.effects import Effects
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.syntax.import_planner import ImportPlanner
from migrate.syntax.nodes import expression
from migrate.syntax.text import code


@declare(
    phase="rewrite",
    unit="node",
    needs=["types"],
    after={
        "integer_indices": "it splits an index, whose slices stay as they are",
        "element_indices": "what is left is a subscript for good",
    },
    examples=[
        becomes("x = x[:, ::2]", "x = helpers.strided_slice(x, 1, None, None, 2)"),
        becomes(
            "x[:, ::2].clamp_(0, 1)",
            "x[:, ::2] = helpers.strided_slice(x, 1, None, None, 2).clamp(min=0, max=1)",
        ),
    ],
)
class StridedSlices(NodePass):
    """Rewrites reads of tensors; what is written to stays."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._effects = file.shared(Effects)

    def visit_Assign(self, node: cst.Assign) -> None:
        for target in node.targets:
            self._note_target(target.target)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        self._note_target(node.target)

    def _note_target(self, target: cst.BaseExpression) -> None:
        if isinstance(target, (cst.Tuple, cst.List)):
            for element in target.elements:
                self._note_target(element.value)
        elif isinstance(target, cst.Subscript):
            self._effects.subscript_targets.add(target)

    def propose_Subscript(
        self, original: cst.Subscript, updated: cst.Subscript
    ) -> cst.BaseExpression | None:
        inner = self.partner(subscripted(original))
        if original in self._effects.subscript_targets or not is_tensor(self.context.type(inner)):
            return None
        new = with_gathered_steps(updated, self.spelling)
        if new is not None:
            self._effects.gathered[new] = updated
        return new or updated


def with_gathered_steps(node: cst.Subscript, spelling: ImportPlanner) -> cst.BaseExpression | None:
    """The subscript with its stepped slices taken first; None where nothing has a step."""
    parts = [element.slice for element in node.slice]
    if not any(map(_has_step, parts)):
        return None
    dims = _dimensions(parts)
    if dims is None:
        return None
    helper = spelling.name("helpers.strided_slice")
    text = code(node.value)
    rest: list[str] = []
    for part, dim in zip(parts, dims, strict=True):
        if isinstance(part, cst.Slice) and _has_step(part):
            lower, upper = (code(b) if b is not None else "None" for b in (part.lower, part.upper))
            assert part.step is not None
            text = f"{helper}({text}, {dim}, {lower}, {upper}, {code(part.step)})"
            rest.append(":")
        else:
            rest.append(code(part))
    while rest and rest[-1] in (":", "..."):
        rest.pop()
    if all(index in (":", "...") for index in rest):
        return expression(text)
    return expression(f"{text}[{', '.join(rest)}]")


def _has_step(part: cst.BaseSlice) -> bool:
    return isinstance(part, cst.Slice) and part.step is not None and code(part.step) != "1"


def _dimensions(parts: list[cst.BaseSlice]) -> list[int] | None:
    """The dimension that each part takes, counted from the end behind an ellipsis."""
    texts = [code(part) for part in parts]
    if texts.count("...") > 1:
        return None
    dims: list[int] = []
    behind = texts.index("...") if "..." in texts else len(parts)
    taken = 0
    for text in texts[: behind + 1]:
        dims.append(taken)
        taken += text != "None"
    after = texts[behind + 1 :]
    left = -sum(text != "None" for text in after)
    for text in after:
        dims.append(left)
        left += text != "None"
    return dims

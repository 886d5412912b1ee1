"""torch.ones([]): MindSpore's CPU fills a tensor without dimensions only if told its type."""

from __future__ import annotations

import libcst as cst

from migrate.resolve.values import INT
from migrate.rewrite.calls.call import Call
from migrate.rewrite.rules import becomes, rule

_VALUES = {"mindspore.ops.ones": 1, "mindspore.ops.zeros": 0}


@rule(
    becomes("torch.ones([])", "mindspore.tensor(1.0)"),
    becomes("torch.zeros(())", "mindspore.tensor(0.0)"),
    becomes("torch.ones((), dtype=torch.int64)", "mindspore.tensor(1, dtype=mindspore.int64)"),
    becomes("torch.ones((2,))", "ops.ones((2,))"),
    becomes("torch.ones(x.shape)", "ops.ones(x.shape, dtype=mindspore.float32)"),
    becomes("torch.zeros(x.size())", "ops.zeros(x.shape, dtype=mindspore.float32)"),
    becomes("torch.zeros(size)", "ops.zeros(size, dtype=mindspore.float32)"),
)
def scalar_shape(call: Call) -> None:
    size = call.value("size") if call.given("size") else None
    drawn = call.target not in _VALUES and not isinstance(size, cst.Attribute)
    if _may_be_empty(size, call) and not call.given("dtype") and not drawn:
        call.emit = f"{call.target.removeprefix('mindspore.')}({{size}}, dtype=mindspore.float32)"
        return
    if call.constant("size") not in ((), []) or call.target not in _VALUES:
        return
    value = _VALUES[call.target]
    if call.given("dtype"):
        call.emit = f"mindspore.tensor({value}, dtype={{dtype}})"
    else:
        call.emit = f"mindspore.tensor({value}.0)"


def _may_be_empty(size: cst.BaseExpression | None, call: Call) -> bool:
    """A shape of something else, or one in a variable."""
    if isinstance(size, cst.Attribute) and size.attr.value == "shape":
        return True
    return isinstance(size, (cst.Name, cst.Attribute)) and call.type("size") is not INT

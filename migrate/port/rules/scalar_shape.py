"""torch.ones([]): MindSpore's CPU cannot fill a tensor without dimensions."""

from __future__ import annotations

from migrate.port.calls.call import Call
from migrate.port.rules import becomes, rule

_VALUES = {"mindspore.ops.ones": 1, "mindspore.ops.zeros": 0}


@rule(
    becomes("torch.ones([])", "mindspore.tensor(1.0)"),
    becomes("torch.zeros(())", "mindspore.tensor(0.0)"),
    becomes("torch.ones((), dtype=torch.int64)", "mindspore.tensor(1, dtype=mindspore.int64)"),
    becomes("torch.ones((2,))", "ops.ones((2,))"),
)
def scalar_shape(call: Call) -> None:
    if call.constant("size") not in ((), []) or call.target not in _VALUES:
        return
    value = _VALUES[call.target]
    if call.given("dtype"):
        call.emit = f"mindspore.tensor({value}, dtype={{dtype}})"
    else:
        call.emit = f"mindspore.tensor({value}.0)"

"""torch.tensor([np.mean(a)]): numpy's numbers keep their dtype in torch, MindSpore reads them as
Python's.

A list that is known to hold some goes to a helper that looks; all others stay MindSpore's own.
"""

from __future__ import annotations

from migrate.resolve.numpy_results import is_numpy
from migrate.resolve.values import Instance, ListOf, TupleOf, Value, options_of
from migrate.rewrite.calls.call import Call, Refusal
from migrate.rewrite.rules import becomes, rule


@rule(
    becomes("torch.tensor([1, 2])", "mindspore.tensor([1, 2])"),
    becomes(
        "import numpy as np\ny = torch.tensor([np.mean(a) for a in b])",
        "import numpy as np\ny = helpers.tensor([np.mean(a) for a in b])",
    ),
    becomes(
        "import numpy as np\ny = torch.tensor([np.mean(b), 1.0], dtype=torch.float32)",
        "import numpy as np\ny = mindspore.tensor([np.mean(b), 1.0], dtype=mindspore.float32)",
    ),
)
def numpy_items(call: Call) -> None:
    if call.given("dtype") or not call.given("data"):
        return
    if any(_holds_numbers(option) for option in options_of(call.type("data"))):
        raise Refusal("numpy's numbers keep their dtype", "state the dtype")


def _holds_numbers(value: Value, depth: int = 3) -> bool:
    """A list, or lists in a list, of what numpy computed."""
    items: tuple[Value, ...] = ()
    if isinstance(value, ListOf) and value.kind != "Size":
        items = (value.item,)
    elif isinstance(value, TupleOf):
        items = value.items
    return depth > 0 and any(
        (isinstance(option, Instance) and is_numpy(option.cls)) or _holds_numbers(option, depth - 1)
        for item in items
        for option in options_of(item)
    )

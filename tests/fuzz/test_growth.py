"""Long programs of one shape: the time to port them grows with their length, no faster."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from ms_migrate import port_source

HEAD = "import torch\nimport torch.nn.functional as F\n\n\n"
_TIMES = 4
_MOST = 9.0  # linear is 4, and square is 16


def elif_chain(count: int) -> str:
    arms = (f"    elif k == {i}:\n        return F.max_pool2d(x, {i})\n" for i in range(1, count))
    return f"{HEAD}def f(x, k):\n    if k == 0:\n        return F.relu(x)\n{''.join(arms)}"


def chain_of_choices(count: int) -> str:
    arms = " else ".join(f"F.relu(x) if k == {i}" for i in range(count))
    return f"{HEAD}def f(x, k):\n    return {arms} else x\n"


def terms_of_one_loss(count: int) -> str:
    terms = "".join(f"        l{i} = F.cross_entropy(out * {i}, y)\n" for i in range(count))
    total = " + ".join(f"l{i}" for i in range(count))
    return (
        f"{HEAD}def train(net, opt, data):\n    for x, y in data:\n        opt.zero_grad()\n"
        f"        out = net(x)\n{terms}        loss = {total}\n"
        "        loss.backward()\n        opt.step()\n"
    )


def statements(count: int) -> str:
    lines = "".join("    x, y = F.relu(y), x + y\n" for _ in range(count))
    return f"{HEAD}def f(x, y):\n{lines}    return x\n"


def f_string(count: int) -> str:
    parts = "".join(f"{{x.size({i % 3})}} " for i in range(count))
    return f'{HEAD}def f(x):\n    return f"{parts}"\n'


def dictionary(count: int) -> str:
    entries = "".join(f"    'k{i}': torch.nn.ReLU,\n" for i in range(count))
    return f"{HEAD}KINDS = {{\n{entries}}}\n"


def nested_calls(count: int) -> str:
    lines = "".join(f"    x = {'F.relu(' * 40}x{')' * 40}\n" for _ in range(count // 40 + 1))
    return f"{HEAD}def f(x):\n{lines}    return x\n"


def calls_in_a_row(count: int) -> str:
    methods = "".join(f"def f{i}(x):\n    return f{i - 1}(x) + 1\n\n\n" for i in range(1, count))
    return f"{HEAD}def f0(x):\n    return F.relu(x)\n\n\n{methods}"


SHAPES = [
    elif_chain,
    chain_of_choices,
    terms_of_one_loss,
    statements,
    f_string,
    dictionary,
    nested_calls,
    calls_in_a_row,
]


def _seconds(text: str) -> float:
    began = time.process_time()
    port_source(text)
    return time.process_time() - began


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_linear(shape: Callable[[int], str]) -> None:
    _seconds(shape(2))  # imports
    count = 100
    short = max(_seconds(shape(count)), 0.05)
    long = _seconds(shape(_TIMES * count))
    assert long < _MOST * short, f"{short:.2f} s for {count}, {long:.2f} s for {_TIMES * count}"


def test_views_that_are_written() -> None:
    """Each of them may see the writes to all others; 300 took 12 seconds."""
    count = 300
    views = "".join(f"    v{i} = x[{i}]\n" for i in range(count))
    writes = "".join(f"    v{i}.add_(1)\n" for i in range(count))
    assert _seconds(f"{HEAD}def f(x):\n{views}{writes}    return x\n") < 8

"""Which statement of a module's own code made the difference, on codes that need no framework."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from migrate.parity.judge import provenance, statements
from migrate.parity.request.limits import Tolerance
from migrate.parity.request.target import difference, load, parse
from migrate.parity.workers.statements import Bound, Trace, from_json

TORCH = """
import numpy as np

def squash(h, scale):
    h = h * scale
    return np.log1p(np.exp(h))

def forward(x):
    h = squash(x, 0.5)
    out = np.zeros_like(h)
    for i in range(3):
        out = out + np.sin(
            h * i
        )
    out[0] = 7.0
    return out
"""


def follow(path: Path, text: str) -> tuple[list[Bound], dict[str, Any]]:
    path.write_text(text)
    function: Callable[..., Any] = load(parse(f"{path}:forward"))
    arrays: dict[str, Any] = {}
    trace = Trace(
        lambda value: isinstance(value, np.ndarray) and value.ndim > 0,
        lambda value: value.tobytes(),
        lambda key, value: arrays.update({key: value.copy()}),
    )
    with trace.watching([]):
        function(np.linspace(-1, 1, 6).reshape(2, 3))
    return [from_json(one.to_json()) for one in trace.bound], arrays


def parting(folder: Path, other: str) -> statements.Parting | None:
    ours, truth = follow(folder / "ours.py", TORCH)
    theirs, arrays = follow(folder / "theirs.py", other)
    return statements.find(ours, theirs, truth, arrays, {}, Tolerance())


def test_the_same_values_written_otherwise_do_not_part(tmp_path: Path) -> None:
    other = TORCH.replace("squash(x, 0.5)", "np.log(1 + np.exp(x / 2))")
    other = other.replace("h * i\n", "i * h\n").replace("out[0] = 7.0", "out[:1] = 7")
    assert parting(tmp_path, other) is None


@pytest.mark.parametrize(
    ("old", "new", "line", "statement"),
    [
        ("np.log1p(np.exp(h))", "np.maximum(h, 0)", 6, "return np.maximum(h, 0)"),
        ("h * scale", "h + scale", 5, "h = h + scale"),
        ("out[0] = 7.0", "out[0] = 8.0", 15, "out[0] = 8.0"),
        ("return out", "return out * 2", 16, "return out * 2"),
    ],
)
def test_the_statement_is_named(
    old: str, new: str, line: int, statement: str, tmp_path: Path
) -> None:
    found = parting(tmp_path, TORCH.replace(old, new))
    assert found is not None and found.torch.line == line and "noise floor" in found.problem
    assert found.mindspore is not None and found.mindspore.text == statement
    assert (found.mindspore.line, found.since) == (line, None)


@pytest.mark.parametrize(
    "made", ["np.full_like(h, -5.0)", "np.full(h.shape, -5.0)", "np.zeros(len(h))[:, None]"]
)
def test_what_has_the_shape_of_a_wrong_value_does_not_excuse_it(made: str, tmp_path: Path) -> None:
    """A mask agrees on both sides whatever the values are that it takes its shape from."""
    source = (
        "import numpy as np\n\ndef forward(x):\n    h = np.log1p(np.exp(x))\n"
        f"    m = {made}\n    h = np.where(h > 100, m, h)\n    return h * 3\n"
    )
    ours, truth = follow(tmp_path / "ours.py", source)
    other = source.replace("np.log1p(np.exp(x))", "np.maximum(x, 0)")
    theirs, arrays = follow(tmp_path / "theirs.py", other)
    found = statements.find(ours, theirs, truth, arrays, {}, Tolerance())
    assert found is not None and found.torch.text == "h = np.log1p(np.exp(x))"
    assert found.mindspore is not None and found.mindspore.text == "h = np.maximum(x, 0)"


def test_a_round_of_a_loop_is_told_by_its_number(tmp_path: Path) -> None:
    other = TORCH.replace(
        "        out = out + np.sin(\n            h * i\n        )\n",
        "        part = h * i\n        part = part + (0.1 if i == 2 else 0.0)\n"
        "        total = out + np.sin(part)\n        out = total\n",
    )
    found = parting(tmp_path, other)
    assert found is not None and found.torch.text == "out = out + np.sin(h * i)"
    assert found.earlier == 2 and found.mindspore is not None and found.since is not None
    assert found.mindspore.text == "total = out + np.sin(part)"
    assert found.since.text == "part = h * i"


def test_a_result_that_is_changed_in_place_is_not_blamed_for_what_came_before(
    tmp_path: Path,
) -> None:
    code = """
import numpy as np

def forward(x):
    out = np.maximum(x - 0.1, 0)
    out = out * 3
    out += x
    return np.maximum(out, -9, out=out)
"""
    ours, truth = follow(tmp_path / "ours.py", code)
    wrong = code.replace("np.maximum(x - 0.1, 0)", "x - 0.1")
    theirs, arrays = follow(tmp_path / "theirs.py", wrong)
    found = statements.find(ours, theirs, truth, arrays, {}, Tolerance())
    assert found is not None and found.mindspore is not None
    assert (found.torch.line, found.torch.text) == (5, "out = np.maximum(x - 0.1, 0)")
    assert found.mindspore.text == "out = x - 0.1"


def test_advice_is_given_only_where_it_can_stand(tmp_path: Path) -> None:
    ours = tmp_path / "ours.py"
    ours.write_text(
        "import torch\nimport torch.nn.functional as F\nclass Net(torch.nn.Module):\n"
        "    def forward(self, h):\n        h = F.softplus(h)\n        return h\n"
    )
    theirs = tmp_path / "theirs.py"
    body = "class Net(nn.Cell):\n    def construct(self, {0}):\n        {0} = relu({0})\n"

    def advice(imports: str, name: str) -> str:
        text = f"{imports}\n{body.format(name)}"
        theirs.write_text(text)
        torch, other = (
            statement(path, path.read_text(), word)
            for path, word in ((ours, "softplus"), (theirs, "= relu"))
        )
        return provenance.of_statement(torch, other).emitted

    assert advice("from mindspore import nn, ops; from x import relu", "h") == "h = ops.softplus(h)"
    needs = "h = ops.softplus(h)  # needs: from mindspore import ops"
    assert advice("from mindspore import nn; from x import relu", "h") == needs
    # No `h` there: the line would raise a NameError.
    assert advice("from mindspore import nn, ops; from x import relu", "y") == ""


def statement(path: Path, text: str, word: str) -> statements.Statement:
    from migrate.parity.workers.statements import _statements

    line = next(i for i, line in enumerate(text.splitlines(), 1) if word in line and "=" in line)
    _statements.cache_clear()
    return _statements(str(path))[line]


def test_targets_called_with_other_arguments_are_told() -> None:
    said = difference("net.py:Net", "ported/net.py:Net(classes=5)")
    assert "`Net()` in torch and `Net(classes=5)` in MindSpore" in said
    assert difference("net.py:Net(a = 1)", "ms.py:Net(a=1)") == ""
    assert difference("net.py:Net", "ms.py:Net()") == ""

"""Which tensors without dimensions would widen the tensor beside them."""

from __future__ import annotations

import ast

import pytest

HEAD = """
import numpy as np
import torch

def f(x: torch.Tensor, values):
    half = x.half()
    wide = torch.tensor(0.5, dtype=torch.float64)
    points = torch.linspace(0, 1, 3, dtype=torch.float64)
    places = torch.tensor([1, 2])
    small = torch.zeros(3, dtype=torch.int32)
    total = torch.zeros((), dtype=torch.float64)
    n = 0
    for value in values:
        total += value
        n += 1
    """


@pytest.mark.parametrize(
    ("scalar", "other", "widens"),
    [
        ("wide", "x", True),
        ("wide", "x.double()", False),
        ("torch.tensor(np.log(2.0))", "x", True),
        ("torch.tensor(0.5)", "x", False),
        ("torch.tensor(0.5)", "half", True),
        ("torch.from_numpy(np.ones(3)).mean()", "x", True),
        ("torch.from_numpy(np.ones(3).astype(np.float32)).mean()", "x", False),
        ("points[1]", "x", True),
        ("points[1:]", "x", False),
        ("total / n", "x", True),
        ("torch.sqrt(total / n)", "x", True),
        ("places[0]", "small", True),
        ("places.max()", "small", True),
        ("places[0]", "places", False),
        ("x.sum()", "x", False),
        ("wide", "wide", False),
    ],
)
def test_the_dtype_beside_it_counts(program, scalar: str, other: str, widens: bool) -> None:
    p = program(f"{HEAD}return ({scalar}, {other})\n")
    returned = next(n for n in ast.walk(p.flow.tree) if isinstance(n, ast.Return))
    assert isinstance(returned.value, ast.Tuple)
    assert p.flow.scalars.widens(*returned.value.elts) is widens


def test_arguments_are_what_callers_give(program) -> None:
    p = program(
        """
        import torch

        def f(x: torch.Tensor, mean, gain):
            return (x - mean) * gain

        def run(x: torch.Tensor):
            return f(x, torch.tensor(2.0, dtype=torch.float64), torch.tensor(1.0))
        """
    )
    x, mean, gain = (p.expression(name) for name in ("x", "mean", "gain"))
    assert p.flow.scalars.widens(mean, x)
    assert not p.flow.scalars.widens(gain, x)


@pytest.mark.parametrize(
    ("code", "dtype"),
    [
        ("np.zeros(3)", "float64"),
        ("np.zeros(3, dtype=np.float32)", "float32"),
        ("np.arange(3.0).mean()", "float64"),
        ("np.random.randn(3).astype('float32')", "float32"),
        ("np.ones(3) * 2", "float64"),
        ("np.float32(1.5)", "float32"),
        ("np.sqrt(2)", "float64"),
        ("array", ""),
    ],
)
def test_tensors_take_the_dtype_of_an_array(program, code: str, dtype: str) -> None:
    head = "import numpy as np\nimport torch\ndef f(array):\n"
    p = program(f"{head}    return torch.as_tensor({code})\n")
    returned = next(n for n in ast.walk(p.flow.tree) if isinstance(n, ast.Return))
    assert returned.value is not None
    assert p.flow.dtypes.of(returned.value) == dtype

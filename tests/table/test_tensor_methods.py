"""Tensor rows are complete, and the helpers they name compute what torch computes."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from migrate.resolve.tensor_names import DISTINCTIVE
from migrate.table import Table

Run = Callable[..., Any]

# x, y: 3 x 4 floats; s: 4 x 4; w: floats with gaps (nan); i: 2 x 4 row numbers; k: two more
CASES = {
    "index": [
        ("x.select(1, -2)", "helpers.select(x, 1, -2)"),
        ("x.as_strided((2, 3), (1, 2), 1)", "helpers.as_strided(x, (2, 3), (1, 2), 1)"),
        (
            # torch 2.13 gives x the gradient of the places that were overwritten.
            "x.detach().as_strided_scatter(y[:2, :2], (2, 2), (4, 1))",
            "helpers.as_strided_scatter(ops.stop_gradient(x), y[:2, :2], (2, 2), (4, 1))",
        ),
        ("x.put(k, y[0, :2], True)", "helpers.put(x, k, y[0, :2], True)"),
        ("x.index_put((k, k), y[0, :2])", "helpers.index_put(x, (k, k), y[0, :2])"),
        ("x.index_put((k,), y[:2], True)", "helpers.index_put(x, (k,), y[:2], True)"),
        ("x.clone().fill_diagonal_(7.0)", "helpers.fill_diagonal(x, 7.0)"),
        ("x.T.clone().fill_diagonal_(7.0, True)", "helpers.fill_diagonal(x.T, 7.0, True)"),
        ("(x > 0).nonzero_static(size=14)", "helpers.nonzero_static(x > 0, 14)"),
        (
            "x.scatter_reduce(0, i, y[:2], 'mean', include_self=False)",
            "helpers.scatter_reduce(x, 0, i, y[:2], 'mean', False)",
        ),
        ("x.scatter_reduce(0, i, y[:2], 'amax')", "helpers.scatter_reduce(x, 0, i, y[:2], 'amax')"),
        (
            "x.scatter_reduce(0, i, y[:2], 'amin', include_self=False)",
            "helpers.scatter_reduce(x, 0, i, y[:2], 'amin', False)",
        ),
        (
            "x.index_reduce(0, k, y[:2], 'mean')",
            "helpers.index_reduce(x, 0, k, y[:2], 'mean')",
        ),
    ],
    "shape": [
        ("x.unflatten(1, (2, -1))", "helpers.unflatten(x, 1, (2, -1))"),
        ("x.unfold(1, 2, 2)", "helpers.unfold(x, 1, 2, 2)"),
        ("x.unfold(0, 2, 1)", "helpers.unfold(x, 0, 2, 1)"),
        ("x[0].hsplit(2)", "helpers.hsplit(x[0], 2)"),
        ("x.hsplit((1, 3))", "helpers.hsplit(x, (1, 3))"),
    ],
    "reduce": [
        ("x.aminmax(dim=1, keepdim=True)", "helpers.aminmax(x, 1, True)"),
        ("x.median()", "helpers.median(x)"),
        ("x.median(1)", "helpers.median(x, 1)"),
        ("w.nanmedian()", "helpers.nanmedian(w)"),
        ("w.nanmedian(0, True)", "helpers.nanmedian(w, 0, True)"),
        ("w.nanquantile(0.3, 1)", "helpers.nanquantile(w, 0.3, 1)"),
        ("i.mode(1)[0]", "helpers.mode(i, 1)[0]"),
        ("x.corrcoef()", "helpers.corrcoef(x)"),
        ("x.detach().histogram(4, range=(-1.0, 1.0))", "helpers.histogram(x, 4, (-1.0, 1.0))"),
        ("x.equal(y)", "helpers.equal(x, y)"),
        ("x.equal(x.clone())", "helpers.equal(x, x + 0)"),
        ("x.equal(x[:2])", "helpers.equal(x, x[:2])"),
    ],
    "math": [
        ("x.angle()", "helpers.angle(x)"),
        (
            "(x * 0.5).clamp(-0.9999, 0.9999).erfinv()",
            "helpers.erfinv(ops.clamp(x * 0.5, -0.9999, 0.9999))",
        ),
        ("(x * 100).frexp()", "helpers.frexp(x * 100)"),
        ("(x.abs() + 3).mvlgamma(4)", "helpers.mvlgamma(ops.abs(x) + 3, 4)"),
        ("s.matrix_exp()", "helpers.matrix_exp(s)"),
    ],
}


def compare(kind: str, cases: list[tuple[str, str]]) -> list[str]:
    """Values in both modes, and gradients, of each case; the answer lists what differs."""
    import importlib
    import sys
    from pathlib import Path

    import mindspore
    import numpy as np
    import torch

    mindspore.runtime.launch_blocking()
    names = "x, y, s, w, i, k"
    source = "from mindspore import ops\n"
    source += f"from migrate.emit.helpers import tensor_{kind} as helpers\n"
    for number, (_, expression) in enumerate(cases):
        source += f"def f{number}({names}):\n    return {expression}\n"
        source += f"def loss{number}({names}):\n    out = {expression}\n"
        source += "    parts = out if isinstance(out, (tuple, list)) else (out,)\n"
        source += "    total = 0.0\n    for part in parts:\n"
        source += "        if part.is_floating_point():\n"
        source += "            total = total + (part * part).sum()\n    return total\n"
    Path("cases.py").write_text(source)
    sys.path.insert(0, ".")
    module = importlib.import_module("cases")

    draw = np.random.default_rng(5)
    x, y = (draw.normal(size=(3, 4)).astype("float32") for _ in range(2))
    s = draw.normal(size=(4, 4)).astype("float32")
    w = np.where(draw.random((3, 4)) < 0.3, np.nan, x).astype("float32")
    arrays = [x, y, s, w, np.array([[0, 1, 2, 0], [0, 2, 1, 1]]), np.array([2, 0])]

    def parts(value: object) -> list[object]:
        return list(value) if isinstance(value, (tuple, list)) else [value]

    def differs(got: object, wanted: object) -> str:
        if not isinstance(wanted, torch.Tensor):
            return "" if got == wanted and type(got) is type(wanted) else f"{got} != {wanted}"
        left, right = got.asnumpy(), wanted.detach().numpy()  # type: ignore[attr-defined]
        if left.shape != right.shape or left.dtype != right.dtype:
            return f"{left.dtype}{left.shape} for {right.dtype}{right.shape}"
        close = np.allclose(left, right, rtol=1e-4, atol=1e-5, equal_nan=True)
        return "" if close else f"{left} != {right}"

    wrong = []
    for number, (expression, _) in enumerate(cases):
        leaves = [torch.tensor(array) for array in arrays]
        for leaf in leaves[:4]:
            leaf.requires_grad_(True)
        wanted = eval(expression, dict(zip(names.split(", "), leaves, strict=True)))
        floats = [p for p in parts(wanted) if isinstance(p, torch.Tensor) and p.requires_grad]
        gradients = None
        if floats:
            loss = sum((part * part).sum() for part in floats)
            gradients = torch.autograd.grad(loss, leaves[:3], allow_unused=True)
        inputs = [mindspore.Tensor(array) for array in arrays]
        for mode, run in (("pynative", lambda f: f), ("graph", mindspore.jit)):
            got = run(getattr(module, f"f{number}"))(*inputs)
            for left, right in zip(parts(got), parts(wanted), strict=True):
                if said := differs(left, right):
                    wrong.append(f"{mode}: {expression}: {said}")
        if gradients is None:
            continue
        slope = mindspore.grad(getattr(module, f"loss{number}"), grad_position=(0, 1, 2))
        for leaf, left, right in zip(leaves, slope(*inputs), gradients, strict=False):
            if said := differs(left, torch.zeros_like(leaf) if right is None else right):
                wrong.append(f"gradient of {expression}: {said}")
    return wrong


@pytest.mark.frameworks
@pytest.mark.parametrize("kind", list(CASES))
def test_helpers_agree_with_torch(kind: str, run_in_worker: Run) -> None:
    assert run_in_worker(compare, kind, CASES[kind], timeout=300) == []


def public_names() -> list[str]:
    import torch

    return [name for name in dir(torch.Tensor) if not name.startswith("_")]


@pytest.mark.frameworks
def test_every_method_and_attribute_has_a_row(run_in_worker: Run) -> None:
    table = Table()
    missing = [n for n in run_in_worker(public_names) if table.get(f"torch.Tensor.{n}") is None]
    assert missing == []


@pytest.mark.frameworks
def test_in_place_methods_say_so(run_in_worker: Run) -> None:
    # requires_grad_ and share_memory_ leave the values as they are.
    table, exempt = Table(), {"requires_grad_", "share_memory_"}
    silent = []
    for name in run_in_worker(public_names):
        entry = table.get(f"torch.Tensor.{name}")
        assert entry is not None
        changes = name.endswith("_") and name not in exempt and entry.status != "missing"
        if changes != entry.inplace and entry.status != "missing":
            silent.append(name)
    assert silent == []


@pytest.mark.frameworks
def test_distinctive_names_belong_to_tensors_alone(run_in_worker: Run) -> None:
    assert set(run_in_worker(public_names)) >= DISTINCTIVE
    others = (str, list, dict, tuple, set, int, float, bytes, io.TextIOWrapper, np.ndarray)
    assert [name for name in sorted(DISTINCTIVE) for cls in others if hasattr(cls, name)] == []

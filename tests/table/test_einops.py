"""einops' functions and layers compute what einops computes, and their results have types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from migrate.port.file import port_file
from migrate.project import discover
from migrate.resolve import Resolver
from migrate.table import Table

X = {"x": (2, 3, 4, 6)}
# Expressions that mean the same with einops' names and with the helpers'.
ARRANGED = [
    ("rearrange(x, 'b c (h p1) (w p2) -> b (h w) (p1 p2 c)', p1=2, p2=3)", X),
    ("rearrange(x, '... (h d) -> h ... d', h=2)", X),
    ("rearrange(x, 'b ... d -> b (...) d')", X),
    ("rearrange(x, 'b ... d -> d (b ...)')", X),
    ("rearrange(x, '... -> (...)')", X),
    ("rearrange(x, 'b 1 d () -> d b')", {"x": (2, 1, 4, 1)}),
    ("rearrange(x, 'a b -> a 1 (b) ()')", {"x": (2, 3)}),
    ("rearrange(x, '1 1 -> ')", {"x": (1, 1)}),
    ("rearrange([x, x + 1, x * 2], 'k b n -> b (k n)')", {"x": (2, 3)}),
    ("rearrange(x, 'a b ... -> a b ...')", X),
    ("repeat(x, 'h w -> h new w', new=3)", {"x": (2, 3)}),
    ("repeat(x, 'h w -> (h 2) (3 w)')", {"x": (2, 3)}),
    ("repeat(x, '1 n d -> b n d', b=4)", {"x": (1, 3, 2)}),
    ("repeat(x, ' -> b', b=4)", {"x": ()}),
    ("repeat(x, '... -> b ...', b=2)", {"x": (2, 3)}),
]
REDUCED = [
    (f"reduce(x, {pattern!r}, {kind!r}{sizes})", X)
    for kind in ("mean", "sum", "max", "min", "prod")
    for pattern, sizes in (
        ("b c (h 2) (w p) -> b h w c", ", p=2"),
        ("b ... -> b", ""),
        ("b c h w -> c () 1", ""),
        ("b c h w -> ", ""),
    )
]
XY = {"x": (3, 2, 5), "y": (4, 5)}
SEVERAL = [
    (
        "einsum(x, y, 'batch head i d, batch head j d -> batch head i j')",
        {"x": (2, 3, 4, 5), "y": (2, 3, 6, 5)},
    ),
    ("einsum(x, y, '... c, c out -> ... out')", {"x": (2, 3, 4), "y": (4, 5)}),
    ("pack([x, y], 'b * d')[0]", {"x": (2, 3, 4, 5), "y": (2, 5)}),
    ("unpack(x, [(2, 2), (), (3,)], 'b *')[0]", {"x": (2, 8)}),
    ("unpack(x, [[-1], [2]], 'b * d')[0]", {"x": (2, 6, 3)}),
    ("unpack(pack([x, y], '* d')[0] * 2, pack([x, y], '* d')[1], '* d')[0]", XY),
    ("repeat(x, ' -> b h', **parse_shape(y, 'b _ h 5'))", {"x": (), "y": (2, 3, 4, 5)}),
    ("repeat(x, ' -> a d', **parse_shape(y, 'a ... d'))", {"x": (), "y": (2, 3, 4, 5)}),
]


def compare(cases: list[tuple[str, dict[str, tuple[int, ...]]]], mode: str) -> list[str]:
    """The answer lists the expressions whose value or gradient differs."""
    import importlib
    import sys
    from pathlib import Path

    import einops
    import mindspore
    import numpy as np
    import torch

    mindspore.set_context(mode={"pynative": 1, "graph": 0}[mode])
    lines = ["from mindspore import nn, ops"]
    lines += ["from migrate.emit.helpers.functions_einops import *"]
    lines += ["from migrate.emit.helpers.functions_einops import einops_einsum as einsum"]
    for number, (expression, inputs) in enumerate(cases):
        names = ", ".join(inputs)
        lines += [f"class Case{number}(nn.Cell):", f"    def construct(self, {names}):"]
        lines += [f"        return {expression}"]
        lines += [f"class Loss{number}(nn.Cell):", "    def __init__(self):"]
        lines += ["        super().__init__()", f"        self.case = Case{number}()"]
        lines += [f"    def construct(self, {names}):", f"        out = self.case({names})"]
        lines += ["        return (out * out * out).sum()"]
    Path("einops_cases.py").write_text("\n".join(lines) + "\n")
    sys.path.insert(0, ".")
    module = importlib.import_module("einops_cases")
    random = np.random.default_rng(5)
    wrong = []
    for number, (expression, inputs) in enumerate(cases):
        arrays = [np.asarray(random.standard_normal(s), np.float32) for s in inputs.values()]
        leaves = [torch.from_numpy(array.copy()).requires_grad_() for array in arrays]
        wanted = eval(expression, {**vars(einops), **dict(zip(inputs, leaves, strict=True))})
        slopes = torch.autograd.grad((wanted**3).sum(), leaves, allow_unused=True)
        tensors = [mindspore.Tensor(array) for array in arrays]
        places = tuple(range(len(arrays)))
        pairs = [(getattr(module, f"Case{number}")()(*tensors), wanted)]
        found = mindspore.grad(getattr(module, f"Loss{number}")(), grad_position=places)(*tensors)
        found = found if isinstance(found, tuple) else (found,)
        pairs += [
            (left, right) for left, right in zip(found, slopes, strict=True) if right is not None
        ]
        if mode == "pynative" and "einsum" not in expression:
            own = eval(expression, {**vars(module), **dict(zip(inputs, arrays, strict=True))})
            pairs += [(mindspore.Tensor(own), wanted)]
        for left, right in pairs:
            ours, theirs = left.asnumpy(), right.detach().numpy()
            if ours.shape != theirs.shape or not np.allclose(ours, theirs, rtol=1e-4, atol=1e-4):
                wrong.append(expression)
    return wrong


@pytest.mark.frameworks
@pytest.mark.parametrize("mode", ["pynative", "graph"])
def test_functions_agree_with_einops(mode: str, run_in_worker: Callable[..., Any]) -> None:
    assert run_in_worker(compare, ARRANGED + REDUCED + SEVERAL, mode, timeout=400) == []


def compare_layers(mode: str) -> list[str]:
    import einops.layers.torch as theirs
    import mindspore
    import numpy as np
    import torch

    import migrate.emit.helpers.modules_einops as ours

    mindspore.set_context(mode={"pynative": 1, "graph": 0}[mode])
    layers = [
        ("Rearrange('b (h d) c -> b h (d c)', h=2)", (2, 6, 5)),
        ("Reduce('b (h 2) c -> b h c', 'max')", (2, 6, 5)),
        ("EinMix('b t c -> b t d', weight_shape='c d', bias_shape='d', c=5, d=4)", (2, 6, 5)),
        ("EinMix('b (h c) ... -> b ... (h d)', 'h c d', 'h d', h=2, c=3, d=4)", (2, 6, 5, 7)),
        ("EinMix('b t c -> b t c', weight_shape='c', c=5)", (2, 6, 5)),
    ]
    wrong = []
    for text, shape in layers:
        array = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
        left, right = eval(text, vars(ours)), eval(text, vars(theirs))
        for name, value in right.state_dict().items():
            getattr(left, name).set_data(mindspore.Tensor(value.numpy()))
        got, wanted = left(mindspore.Tensor(array)), right(torch.from_numpy(array))
        same = got.shape == tuple(wanted.shape) and np.allclose(
            got.asnumpy(), wanted.detach().numpy(), rtol=1e-4, atol=1e-5
        )
        if not same or len(left.trainable_params()) != len(right.state_dict()):
            wrong.append(text)
    return wrong


@pytest.mark.frameworks
@pytest.mark.parametrize("mode", ["pynative", "graph"])
def test_layers_agree_with_einops(mode: str, run_in_worker: Callable[..., Any]) -> None:
    assert run_in_worker(compare_layers, mode, timeout=400) == []


# What the porter makes of them -------------------------------------------------------------------


@pytest.fixture
def ported(tmp_path):
    def run(text: str):
        path = tmp_path / "example.py"
        path.write_text(text)
        project = discover([path])
        return port_file(
            Resolver(project, Table()), project.files[0], helper_import="import h as helpers"
        )

    return run


def test_a_rearranged_tensor_is_a_tensor(ported):
    result = ported(
        "from einops import rearrange\n"
        "def attend(sim, n):\n"
        "    return rearrange(sim, '(b h) i j -> b h i j', h=n).softmax(-1)\n"
    )
    assert "helpers.softmax(helpers.rearrange(sim, '(b h) i j -> b h i j', h=n), -1)" in result.text
    assert not result.findings and "einops" not in result.text


def test_a_rearranged_array_stays_an_array(ported):
    result = ported(
        "import einops\nimport numpy as np\n"
        "def show(image: np.ndarray):\n"
        "    return einops.rearrange(image, 'c h w -> h w c').transpose(1, 0, 2).mean(1)\n"
    )
    assert "'c h w -> h w c').transpose(1, 0, 2).mean(1)" in result.text and not result.findings


def test_layers_are_modules(ported):
    result = ported(
        "from torch import nn\nfrom einops.layers.torch import Rearrange\n"
        "class Net(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.swap = Rearrange('b n d -> b d n')\n"
        "    def forward(self, x):\n"
        "        return self.swap(x).size(1)\n"
    )
    assert "helpers.Rearrange('b n d -> b d n')" in result.text
    assert "self.swap(x).shape[1]" in result.text and not result.findings


def test_what_has_no_row_is_reported(ported):
    result = ported("from einops import EinopsError\ncaught = EinopsError\n")
    assert [finding.code for finding in result.findings] == ["MS303"]


def test_every_package_with_rows_is_one_to_look_up():
    assert Table().roots == {"einops", "torch", "torchvision"}

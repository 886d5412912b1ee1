"""Overloaded functions that a program holds as values: the form is chosen when it is called."""

from __future__ import annotations

import pytest

from migrate.emit.helpers.call_forms import takes

POSITIONAL = ("input", "dim", "keepdim")


@pytest.mark.parametrize(
    ("args", "options", "fits"),
    [
        ((0,), {}, False),
        ((0, 1), {}, True),
        ((0,), {"dim": 1}, True),
        ((), {"input": 0, "dim": 1, "out": None}, True),
        ((0, 1.5), {}, False),
        ((0, True), {}, False),
        ((0, 1), {"dim": 1}, False),
        ((0, 1, False, 3), {}, False),
        ((0, 1), {"axis": 1}, False),
    ],
)
def test_a_form_takes_its_own_arguments_alone(args, options, fits) -> None:
    found = takes(
        args, options, POSITIONAL, needs=("input", "dim"), named=("out",), types={"dim": (int,)}
    )
    assert found is fits


@pytest.mark.parametrize(
    ("line", "ported"),
    [
        ('OPS = {"max": torch.max}', 'OPS = {"max": helpers.torch_max}'),
        ("best = functools.reduce(torch.min, xs)", "functools.reduce(helpers.torch_min, xs)"),
        ("pool = F.avg_pool2d if mean else F.max_pool2d", "helpers.avg_pool2d if mean"),
        ("least = torch.min(*critics(x))", "helpers.torch_min(*critics(x))"),
    ],
)
def test_the_form_is_left_to_the_call(port, line: str, ported: str) -> None:
    source = f"import functools\nimport torch\nimport torch.nn.functional as F\n\n{line}\n"
    result = port(source)
    assert ported in result.text and not result.findings


@pytest.mark.parametrize(
    ("look_up", "code"),
    [
        ('getattr(x, "std")()', "MS311"),
        ('[getattr(x, how)() for how in ("mean", "std")]', "MS311"),
        ('getattr(x, "shape")', ""),
        ('getattr(x, "_scale", None)', ""),
        ("getattr(options, how)()", ""),
    ],
)
def test_members_of_tensors_by_their_names(port, look_up: str, code: str) -> None:
    source = f"import torch\n\n\ndef f(x: torch.Tensor, options, how):\n    return {look_up}\n"
    assert {finding.code for finding in port(source).findings} == ({code} if code else set())

"""Calls whose form is only known when they are made: options in a dict, functions as values."""

from __future__ import annotations

import pytest

from migrate.emit.helpers.call_forms import takes

CLIPPED = """\
import torch
from torch import nn


def train(model: nn.Module, optimizer: torch.optim.SGD, loader, clip):
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_({arguments})
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("arguments", "ported"),
    [
        ("model.parameters(), **clip", "helpers.clip_grad_norm(grads, **clip"),
        ("model.parameters(), *clip", "helpers.clip_grad_norm(grads, *clip"),
        (
            "model.parameters(), 2.0, error_if_nonfinite=True",
            "helpers.clip_grad_norm(grads, 2.0, error_if_nonfinite=True",
        ),
        ("model.parameters(), 2.0", "ops.clip_by_global_norm(grads, 2.0)"),
        ("model.parameters(), max_norm=2.0, foreach=True", "clip_by_global_norm(grads, 2.0)"),
    ],
)
def test_options_of_clipping_are_handed_on(port, arguments: str, ported: str) -> None:
    assert ported in port(CLIPPED.format(arguments=arguments)).text


@pytest.mark.parametrize(
    ("source", "ported"),
    [
        ("y = functools.reduce(torch.add, xs)", "functools.reduce(helpers.add, xs)"),
        ("y = torch.arange(4, **options)", "helpers.arange(4, **options)"),
        ("y = torch.ones(2).type()", "helpers.type_name("),
        ("y = torch.randperm(4, generator=g)", "helpers.randperm(4, generator=g)"),
        ("y = torch.compile(nn.Linear(2, 2))._orig_mod", "y = nn.Dense(2, 2)"),
    ],
)
def test_values_that_decide_at_run_time(port, source: str, ported: str) -> None:
    result = port(f"import functools\nimport torch\nfrom torch import nn\n\n{source}\n")
    assert not result.findings
    assert ported in result.text


def test_a_form_for_each_way_to_call_it(port) -> None:
    generated = port("import torch\n\nf = torch.add\n").generated["add"]
    names: dict[str, object] = {"takes": takes}
    exec(generated.replace("from mindspore import ops", "import operator as ops"), names)
    add = names["add"]
    assert callable(add)
    assert (add(2, 3), add(2, 3, alpha=4), add(input=1, other=1)) == (5, 14, 2)
    with pytest.raises(TypeError):
        add(1)


def test_a_cast_of_inputs_is_not_lost_in_silence(port) -> None:
    source = """\
    import torch


    class Twice(torch.autograd.Function):
        @staticmethod
        @torch.cuda.amp.custom_fwd(cast_inputs=torch.float32)
        def forward(ctx, x):
            return x * 2

        @staticmethod
        @torch.cuda.amp.custom_bwd
        def backward(ctx, gradient):
            return gradient * 2
    """
    assert [finding.code for finding in port(source).findings] == ["MS306"]
    plain = source.replace("(cast_inputs=torch.float32)", "")
    assert not port(plain).findings

"""torch.autograd.Function: forward is construct, backward is bprop, or a finding says why not."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

HEAD = "import torch\nfrom torch.autograd import Function\n\n\nclass F(Function):\n"
BACKWARD = """
@staticmethod
def backward(ctx, g):
    return g * ctx.kept
"""


def ported_class(port, body: str) -> list[str]:
    ported = port(HEAD + indent(dedent(body), "    "))
    assert not ported.findings, ported.findings
    compile(ported.text, "ported.py", "exec")
    lines = ported.text[ported.text.index("class ") :].splitlines()
    assert lines[0] == "class F(helpers.Function):"
    return [line.strip() for line in lines[1:] if line.strip()]


def test_what_is_kept_comes_from_the_inputs(port) -> None:
    lines = ported_class(
        port,
        """
        @staticmethod
        def forward(ctx, x, scale):
            # for later
            ctx.save_for_backward(x)
            ctx.scale = scale
            ctx.shape = x.size()
            return x.round() * scale

        @staticmethod
        def backward(ctx, g):
            x, = ctx.saved_tensors
            return (g * x).view(ctx.shape) * ctx.scale, None
        """,
    )
    assert lines == [
        "def construct(self, x, scale):",
        "# for later",
        "return x.round() * scale",
        "def bprop(self, x_, scale, out, g):",
        "saved_tensors = (x_,)",
        "ctx_scale = scale",
        "shape = x_.shape",
        "x, = saved_tensors",
        "return (g * x).view(shape) * ctx_scale, helpers.no_gradient(scale)",
    ]


def test_the_output_is_at_hand(port) -> None:
    lines = ported_class(
        port,
        """
        @staticmethod
        def forward(ctx, x):
            y = torch.exp(x)
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]
        """,
    )
    assert "saved_tensors = (out,)" in lines
    assert lines[-1] == "return (g * saved_tensors[0],)"


def test_forward_runs_again_for_what_it_computed(port) -> None:
    lines = ported_class(
        port,
        """
        @staticmethod
        def forward(ctx, x, w):
            h = torch.tanh(x)
            ctx.save_for_backward(h, w)
            return h * w, h

        @staticmethod
        def backward(ctx, gy, gh):
            h, w = ctx.saved_tensors
            if ctx.needs_input_grad[0]:
                gx = (gy * w + gh) * (1 - h * h)
            return gx, gy * h
        """,
    )
    assert lines == [
        "def with_kept(self, x, w):",
        "h = helpers.tanh_below_one(x)",
        "saved_tensors = (h, w)",
        "return (h * w, h), (saved_tensors,)",
        "def construct(self, x, w):",
        "return self.with_kept(x, w)[0]",
        "def bprop(self, x, w_, out, gradients):",
        "gy, gh = gradients",
        "saved_tensors, = self.with_kept(x, w_)[1]",
        "h, w = saved_tensors",
        "gx = (gy * w + gh) * (1 - h * h)",
        "return gx, gy * h",
    ]


@pytest.mark.parametrize("statement", ["x = x + 1", "x.add_(1)"])
def test_an_input_that_forward_changes_is_not_what_was_kept(port, statement: str) -> None:
    forward = (
        f"@staticmethod\ndef forward(ctx, x):\n    {statement}\n    ctx.kept = x\n    return x\n"
    )
    assert any("self.with_kept(" in line for line in ported_class(port, forward + BACKWARD))


@pytest.mark.parametrize(
    ("forward", "reason"),
    [
        ("m = torch.rand(3)\n    ctx.kept = m\n    return x * m", "torch.rand drew"),
        ("keep(ctx)\n    ctx.kept = x\n    return x", "uses ctx in another way"),
        ("if x.ndim:\n        ctx.kept = x\n    return x", "uses ctx in another way"),
        ("ctx.mark_dirty(x)\n    ctx.kept = x\n    return x", "calls ctx.mark_dirty"),
        ("ctx.kept = x\n    if x.ndim:\n        return x\n    return x", "several places"),
        ("ctx.kept = x\n    return x, x", "another number of gradients"),
    ],
)
def test_what_cannot_be_had_again_is_a_finding(port, forward: str, reason: str) -> None:
    source = f"@staticmethod\ndef forward(ctx, x):\n    {forward}\n" + BACKWARD
    ported = port(HEAD + indent(source, "    "))
    assert [f.code for f in ported.findings] == ["MS301"]
    assert reason in ported.findings[0].message
    assert "class F(torch.autograd.Function)" in ported.text


def test_gradients_and_results_of_apply_are_tensors(port) -> None:
    ported = port(
        HEAD
        + indent(
            "@staticmethod\ndef forward(ctx, x):\n    ctx.kept = 2\n    return x\n" + BACKWARD,
            "    ",
        )
        + "\n\ndef use(x: torch.Tensor):\n    return F.apply(x).size(0)\n"
    )
    assert "F.apply(x).shape[0]" in ported.text
    assert not ported.findings

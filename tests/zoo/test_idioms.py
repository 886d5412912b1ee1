"""What model code in the wild is made of: ported, then one step compared in both modes."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from migrate.cli import main
from migrate.parity import check
from migrate.parity.request import inputs
from migrate.parity.request.plan import Plan
from tests.nursery import Nursery

HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F


"""

# What it shows, its input, its source: `Net` is compared.
IDIOMS = {
    "convolutions that call F.conv with their own settings": (
        "2,3,12,12",
        """
        class Standardised(nn.Conv2d):
            def forward(self, x):
                w = self.weight - self.weight.mean(dim=(1, 2, 3), keepdim=True)
                w = w / (w.flatten(1).std(dim=1).view(-1, 1, 1, 1) + 1e-5)
                return F.conv2d(
                    x, w, self.bias, self.stride, self.padding, self.dilation, self.groups
                )


        class Wider(nn.Conv1d):
            def forward(self, x):
                more = self.padding[0] + self.stride[0] * self.dilation[0] + self.kernel_size[0]
                return super().forward(F.pad(x, (more, more)))


        class Doubled(nn.Conv3d):
            def forward(self, x):
                return F.conv3d(x, self.weight * 2, self.bias, self.stride, self.padding)


        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = Standardised(3, 8, 3, stride=2, padding=(1, 2))
                self.second = Standardised(8, 8, 3, groups=8, bias=False, padding="same")
                self.third = Wider(8, 6, 3, stride=2, padding=1)
                self.fourth = Doubled(1, 2, (1, 3, 3), padding=(0, 1, 1))

            def forward(self, x):
                x = self.third(self.second(self.first(x)).flatten(2))
                return self.fourth(x[:, None, :, None])
        """,
    ),
    "functions with gradients of their own": (
        "4,6",
        """
        class Swish(torch.autograd.Function):
            @staticmethod
            def forward(ctx, i):
                ctx.save_for_backward(i)
                return i * torch.sigmoid(i)

            @staticmethod
            def backward(ctx, g):
                i = ctx.saved_tensors[0]
                s = torch.sigmoid(i)
                return g * s * (1 + i * (1 - s))


        class Reverse(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, alpha):
                ctx.alpha = alpha
                return x.view_as(x)

            @staticmethod
            def backward(ctx, g):
                return g.neg() * ctx.alpha, None


        class Gate(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, w):
                h = torch.tanh(x)
                ctx.save_for_backward(h, w)
                return h * w, h

            @staticmethod
            def backward(ctx, gy, gh):
                h, w = ctx.saved_tensors
                gx = gw = None
                if ctx.needs_input_grad[0]:
                    gx = (gy * w + gh) * (1 - h * h)
                if ctx.needs_input_grad[1]:
                    gw = (gy * h).sum(0)
                return gx, gw


        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(6, 6)
                self.w = nn.Parameter(torch.rand(6))

            def forward(self, x):
                swish = Swish.apply
                x, h = Gate.apply(Reverse.apply(swish(self.fc(x)), 0.3), self.w)
                return x + h
        """,
    ),
    "layers that draw their own first values, creators and layers with settings handed down": (
        "2,3,4,4",
        """
        class Gain(nn.Conv2d):
            def __init__(self, i, o, **dd):
                super().__init__(i, o, 1, **dd)
                self.gain = nn.Parameter(torch.empty(o, 1, 1, 1, **dd))
                self.reset_parameters()

            def reset_parameters(self):
                if hasattr(self, "gain"):
                    nn.init.constant_(self.gain, 2.0)
                    super().reset_parameters()

            def forward(self, x):
                return F.conv2d(x, self.weight * self.gain, self.bias)


        class Net(nn.Module):
            def __init__(self, device=None, dtype=None):
                super().__init__()
                dd = {"device": device, "dtype": dtype}
                self.conv = Gain(3, 4, **dd)
                self.fc = nn.Linear(4, 5, device=device, dtype=dtype)
                self.scale = nn.Parameter(torch.ones([], **dd) * 0.5)

            def forward(self, x):
                a, b = torch.meshgrid(*[torch.arange(3.0), torch.arange(2.0)], indexing="ij")
                return self.fc(self.conv(x).mean((2, 3))) * self.scale * (a + b).sum()
        """,
    ),
    "shortcuts: lambdas over lines, variables of one branch, layers that are None": (
        "2,4,6,6",
        """
        class Shortcut(nn.Module):
            def __init__(self, function):
                super().__init__()
                self.function = function

            def forward(self, x):
                return self.function(x)


        class Block(nn.Module):
            def __init__(self, i, o, stride):
                super().__init__()
                self.same = i == o
                self.bn = nn.BatchNorm2d(i)
                self.body = nn.Sequential()
                for number in range(2):
                    layer = nn.Conv2d(o if number else i, o, 3, 1 if number else stride, 1)
                    self.body.add_module("layer no {}".format(number), layer)
                if not self.same:
                    self.shortcut = Shortcut(lambda x:
                                             F.pad(x[:, :, ::2, ::2],
                                                   (0, 0, 0, 0, o // 4, o // 4), "constant", 0))

            def forward(self, x):
                if not self.same:
                    x = F.relu(self.bn(x))
                else:
                    out = F.relu(self.bn(x))
                out = self.body(out if self.same else x)
                return torch.add(x if self.same else self.shortcut(x), out)


        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                layers = []
                for i, o in ((4, 4), (4, 8), (8, 8)):
                    layers.append(Block(i, o, 1 if i == o else 2))
                    layers.append(None)
                self.layers = nn.ModuleList(layers)
                self.keep = torch.tensor(1.0)

            def forward(self, x):
                for i in range(len(self.layers)):
                    if self.layers[i] is not None:
                        x = self.layers[i](x)
                return x * torch.ones(self.keep.shape, device=x.device)
        """,
    ),
    "a batch norm with torch's own forward, rotary embeddings, softmax over one value": (
        "2,4,6,8",
        """
        class NormAct(nn.BatchNorm2d):
            def __init__(self, width):
                super().__init__(width)
                self.act = nn.ReLU(inplace=True)

            def forward(self, x):
                factor = 0.0 if self.momentum is None else self.momentum
                if self.training and self.track_running_stats:
                    if self.num_batches_tracked is not None:
                        self.num_batches_tracked.add_(1)
                        if self.momentum is None:
                            factor = 1.0 / float(self.num_batches_tracked)
                kept = not self.training or self.track_running_stats
                x = F.batch_norm(
                    x,
                    self.running_mean if kept else None,
                    self.running_var if kept else None,
                    self.weight,
                    self.bias,
                    self.training,
                    factor,
                    self.eps,
                )
                return self.act(x)


        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm = NormAct(4)
                angles = torch.outer(torch.arange(6.0), torch.arange(4.0))
                self.turns = torch.polar(torch.ones_like(angles), angles)

            def forward(self, x):
                x = self.norm(x)
                pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
                x = x + torch.view_as_real(pairs * self.turns).flatten(3)
                one = F.softmax(x.mean(-1, keepdim=True), dim=-1)
                return x.softmax(-1) * one
        """,
    ),
    "attention with a named value, writes by masks, calls in a row": (
        "3,2,8",
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.attention = nn.MultiheadAttention(8, 2, dropout=0.3)

            def forward(self, x):
                q = k = x + 1
                x = x + self.attention(q, k, value=x)[0]
                far = x.clone()
                mask = x.sum(-1) > 0
                far[mask] = q[mask]
                low = far * 2
                low[far < 0] = (far * far)[far < 0] + 1
                rows, columns = [], []
                for i in range(2):
                    rows.append(i), columns.append(i + 1)
                return low[rows] * low[columns]
        """,
    ),
}


@pytest.mark.parametrize("idiom", IDIOMS)
def test_idiom(idiom: str, nursery: Nursery, tmp_path: Path) -> None:
    check_idiom(*IDIOMS[idiom], tmp_path)


def check_idiom(shape: str, source: str, tmp_path: Path) -> None:
    """One step of `Net`, in both modes, beside torch's."""
    file, out = tmp_path / "net.py", tmp_path / "ported"
    file.write_text(HEAD + dedent(source).lstrip(), encoding="utf-8")
    assert main(["port", str(file), "-o", str(out), "--quiet"]) == 0
    request = check.Request(
        torch=f"{file}:Net",
        mindspore=f"{out}/net.py:Net",
        plan=Plan(inputs=[inputs.parse(shape)], noise_runs=2, layers=False),
        timeout=300.0,
    )
    report = check.run(request, tmp_path / "step", lambda line: None)
    assert report.exit_code == 0, report.failures or (report.diagnosis and report.diagnosis.text)

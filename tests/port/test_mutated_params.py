"""Functions that change a tensor they are given and return it: callers see the change."""

from __future__ import annotations

import textwrap

import pytest

HEAD = """\
from collections import deque
import torch
from torch import nn

def scale(t, s):
    t.mul_(s)
    return t

def shifted(t):
    t += 1
    return t.sum()

def copied(t):
    t = t.clone()
    t.mul_(2)
    return t
"""


def ported(port, source: str):
    done = port(HEAD + textwrap.dedent(source))
    return done.text, done.findings


def test_a_result_that_nobody_takes_is_taken(port) -> None:
    text, findings = ported(
        port,
        """
        class Net(nn.Module):
            def grow(self, x):
                x.add_(1)
                return x

        def run(net: Net, x: torch.Tensor, rows: torch.Tensor):
            scale(x, 2)
            scale(rows[0], s=3)
            net.grow(x)
            return x, rows
        """,
    )
    assert not findings
    assert "    x = scale(x, 2)\n    rows[0] = scale(rows[0], s=3)\n" in text
    assert "    x = net.grow(x)\n" in text


def test_an_argument_that_is_read_again_gets_the_new_value(port) -> None:
    text, findings = ported(
        port,
        """
        def run(x: torch.Tensor):
            y = scale(x, 2)
            z = copied(y)
            return x + y + z
        """,
    )
    assert not findings
    assert "y = x = scale(x, 2)" in text and "z = copied(y)" in text


def test_a_change_that_does_not_come_back_is_reported(port) -> None:
    source = """
        def run(x: torch.Tensor):
            total = shifted(x)
            return total{rest}
        """
    _, findings = ported(port, source.format(rest=" + x"))
    assert [f.code for f in findings] == ["MS403"]
    _, findings = ported(port, source.format(rest=""))
    assert not findings


def test_changes_outside_of_functions(port) -> None:
    text, findings = ported(port, "x = torch.ones(2)\ny = x.mul_(3)\nprint(x, y)\n")
    assert not findings and "y = x = x.mul(3)" in text
    text, findings = ported(port, "x = torch.ones(2)\ny = x\nx.mul_(3)\nprint(y)\n")
    assert not findings and "helpers.set_value(x, x.mul(3))" in text


def test_a_deque_is_read_as_a_list(port) -> None:
    text, _ = ported(port, "q = deque(maxlen=3)\nprint(torch.tensor(q))\n")
    assert "mindspore.tensor(list(q))" in text


def test_a_function_that_returns_something_else_writes_to_its_callers_tensor(port) -> None:
    """Whatever the caller knows of its argument: nothing else brings the change back."""
    text = port(
        """
        import torch

        class Mixup:
            def _mix(self, x):
                share = 0.3
                flipped = x.flip(0).mul_(1.0 - share)
                x.mul_(share).add_(flipped)
                return share

            def __call__(self, x, target):
                share = self._mix(x)
                return x, target, share
        """
    ).text
    assert "helpers.set_value(x, x.mul(share).add(flipped))" in text


def test_a_function_that_returns_the_tensor_gives_the_change_back(port) -> None:
    ported = port(
        """
        import torch

        def scaled(x, by):
            x.mul_(by)
            return x, by

        def use(x, by):
            scaled(x, by)
            return x
        """
    )
    assert "set_value" not in ported.text
    assert [finding.code for finding in ported.findings] == ["MS403"]


LAYERS = """
class Features(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(nn.Conv2d(1, 2, 3), {layer}, nn.Conv2d(2, 2, 3))

    def forward(self, x):
        found = []
        for layer in {layers}:
            x = layer(x)
            {rest}
        return found, x
"""


def layer_findings(port, **parts: str) -> list[str]:
    given = {"layer": "nn.ReLU(True)", "layers": "self.model", "rest": "found.append(x)"} | parts
    return [finding.code for finding in ported(port, LAYERS.format(**given))[1]]


def test_a_layer_of_a_loop_may_change_what_a_list_holds(port) -> None:
    """torch's list would hold the values behind the in-place layer."""
    for layers in ("self.model", "self.model.children()", "list(self.model)[:2]"):
        assert layer_findings(port, layers=layers) == ["MS403"], layers
    assert layer_findings(port, layer="nn.ReLU()") == []
    assert layer_findings(port, rest="pass") == []


def test_an_attribute_of_the_program_named_data_is_no_tensor_data(port) -> None:
    text, findings = ported(
        port,
        """
        class Ring:
            def __init__(self, n):
                self.data = torch.zeros(n)

            def push(self, v):
                self.data[:-1] = self.data[1:].clone()
                self.data[-1] += v
                self.data.mul_(2)
        """,
    )
    assert not findings
    assert "self.data[:-1] = " in text
    assert "self.data[-1] += v" in text
    assert "helpers.set_value(self.data, self.data.mul(2))" in text


@pytest.mark.parametrize(("first", "findings"), [("nn.Conv2d(3, 8, 3)", 0), ("nn.ReLU(True)", 1)])
def test_a_container_that_a_method_makes_is_followed(port, first, findings) -> None:
    """`self.features = self._layers(widths)`: what it begins with decides about its input."""
    result = port(
        f"""
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self, widths):
                super().__init__()
                self.features = self._layers(widths)

            def _layers(self, widths):
                layers = []
                for width in widths:
                    layers += [{first}, nn.BatchNorm2d(width), nn.ReLU(inplace=True)]
                return nn.Sequential(*layers)

            def forward(self, x):
                return self.features(x)

        def evaluate(batches, net: Net):
            for x in batches:
                seen = torch.relu(x)
                out = net(seen)
                print(out.mean(), seen.mean())
        """
    )
    assert len([f for f in result.findings if f.code == "MS403"]) == findings

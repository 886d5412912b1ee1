"""Functions that change what they are given, in code that may be compiled."""

from __future__ import annotations

HEAD = "import torch\nfrom torch import nn\n\n\n"
NET = """\
def bump(x: torch.Tensor, k):
    x.add_(k)
    return x


def lost(x: torch.Tensor, k):
    x.add_(k)


class Net(nn.Module):
    def forward(self, x):
        y = x * 2
        {0}
        return y
"""


def ported(port, body: str):
    return port(HEAD + NET.replace("{0}", body))


def test_a_change_that_is_given_back_is_taken(port) -> None:
    assert "        y = bump(y, 1)\n" in ported(port, "bump(y, 1)").text
    assert "        y = bump(k=1, x=y)\n" in ported(port, "bump(k=1, x=y)").text
    assert "        z = y = bump(y, 1)\n" in ported(port, "z = bump(y, 1)").text
    assert "        y = bump(y, 1)\n" in ported(port, "y = bump(y, 1)").text
    assert "        z = bump(y + 1, 1)\n" in ported(port, "z = bump(y + 1, 1)").text


def test_a_change_that_is_lost_is_found(port) -> None:
    result = ported(port, "lost(y, 1)")
    assert [finding.code for finding in result.findings] == ["MS403"]
    assert "# ms-migrate: MS403" in result.text
    assert not ported(port, "bump(y, 1)").findings


def test_a_name_that_gets_the_result_is_not_read_again(port) -> None:
    pair = "def scale(x: torch.Tensor, n):\n    x.mul_(n)\n    return x * 2, n\n\n\n"
    body = NET.replace("{0}", "y, k = scale(y, 3)")
    assert not port(HEAD + pair + body).findings
    assert port(HEAD + pair + body.replace("y, k", "z, k")).findings


def test_functions_that_change_nothing_stay(port) -> None:
    count = "def count(n, k):\n    n += k\n    return n\n\n\n"
    text = port(HEAD + count + NET.replace("{0}", "count(1, 2)")).text
    assert "    n += k\n" in text and "        count(1, 2)\n" in text


def test_a_parameter_that_is_given_back_is_written_anew(port) -> None:
    source = "def add(x: torch.Tensor, y):\n    x *= y + 1\n    return x\n\n\n"
    text = port(HEAD + source + NET.replace("{0}", "y = add(y, 2)")).text
    assert "    x = x * (y + 1)\n" in text


def test_sums_with_a_part_are_padded(port) -> None:
    text = ported(port, "y[:, 1:-1] += x[:, 2:]").text
    assert "y = helpers.add_to_part(y, ((0, None), (1, -1)), x[:, 2:])\n" in text
    text = ported(port, "y[1:] -= x + 1").text
    assert "y = helpers.add_to_part(y, ((1, None),), -(x + 1))\n" in text
    for kept in ("y[:, 0] += 1", "y[..., 1:] += 1", "y[::2] += 1", "y[1:] *= 2", "y[:k] += 1"):
        assert f"        {kept}\n" in ported(port, f"k = 2\n        {kept}").text
    assert "x[1:] += 1\n" in ported(port, "x[1:] += 1").text  # the caller's


def test_a_change_for_the_caller_alone_reaches_an_attribute(port) -> None:
    source = """\
import torch.distributed as dist


def spread(total):
    t = total.clone() if isinstance(total, torch.Tensor) else torch.tensor(total)
    dist.all_reduce(t)
    if isinstance(total, torch.Tensor):
        total.copy_(t)
    return t


def doubled(total: torch.Tensor):
    total.mul_(2)
    return total + 1


class Meter:
    def __init__(self):
        self.total = torch.zeros(3)

    def reduce(self):
        spread(self.total)

    def double(self):
        doubled(self.total)
"""
    result = port(HEAD + source)
    assert "        helpers.set_value(total, t." in result.text
    assert "        spread(self.total)\n" in result.text
    assert [finding.code for finding in result.findings] == ["MS403"]  # of doubled(self.total)

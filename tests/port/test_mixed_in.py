"""A plain class with a forward that networks have among their bases."""

from __future__ import annotations

_HEAD = "import torch\nfrom torch import nn\n\n\n"
_SCALED = """\
class Scaled:
    def forward(self, x):
        return torch.tanh(super().forward(x))


"""
_NET = """\
class Base(nn.Module):
    def forward(self, x):
        return x + 1


class Net(Scaled, Base):
    pass
"""


def test_its_forward_becomes_construct(port) -> None:
    text = port(_HEAD + _SCALED + _NET).text
    assert "class Scaled:\n    def construct(self, x):" in text
    assert "super(Scaled, self).construct(x)" in text


def test_a_plain_class_keeps_its_forward(port) -> None:
    ported = port(_HEAD + _SCALED + "class Other(Scaled, dict):\n    pass\n")
    assert "def forward(self, x):" in ported.text
    assert ported.findings == []


def test_one_of_another_file_is_a_finding(port_files) -> None:
    net = f"{_HEAD}from mixins import Scaled\n\n\n{_NET}"
    tree = port_files({"mixins.py": _HEAD + _SCALED, "net.py": net}, "mixins.py", "net.py")
    assert [(f.code, "base of Net" in f.message) for f in tree.findings] == [("MS310", True)]

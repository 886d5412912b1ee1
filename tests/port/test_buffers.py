"""Buffers and kept tensors: what changes must change in Graph mode too."""

from __future__ import annotations

from textwrap import dedent, indent

HEAD = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))
        self.register_buffer("fixed", torch.ones(3))
        self.register_buffer("mask", None, persistent=False)
        self.cache = torch.zeros(4, 3)

"""


def lines(port, text: str) -> list[str]:
    ported = port(HEAD + indent(dedent(text).lstrip(), "    "))
    assert not ported.findings, ported.findings
    return [line.strip() for line in ported.text.splitlines()]


def test_items_are_changed_in_a_copy(port) -> None:
    text = lines(
        port,
        """
        def forward(self, x):
            self.step(x)
            return x

        def step(self, cache):
            self.mean[0] = 1
            self.cache[:2] += cache
        """,
    )
    start = text.index("mean = self.mean.value().copy()")
    assert text[start : start + 6] == [
        "mean = self.mean.value().copy()",
        "mean[0] = 1",
        "self.mean = mean",
        "new_cache = self.cache.value().copy()",
        "new_cache[:2] += cache",
        "self.cache = new_cache",
    ]


def test_who_needs_the_old_value_gets_a_copy(port) -> None:
    text = lines(
        port,
        """
        def forward(self, x):
            old = self.mean
            y = x * self.mean
            self.mean = x
            z = x * self.mean
            return y, z, old, self.mean
        """,
    )
    assert "old = self.mean.copy()" in text
    assert "y = x * self.mean.copy()" in text
    assert "z = x * self.mean" in text
    assert "return y, z, old, self.mean.copy()" in text


def test_the_next_round_of_a_loop_changes_what_this_one_has_read(port) -> None:
    text = lines(
        port,
        """
        def forward(self, xs):
            found = []
            for x in xs:
                self.mean = self.mean * 0.5 + x
                found.append(self.mean)
            return found
        """,
    )
    assert "found.append(self.mean.copy())" in text
    assert "self.mean = self.mean * 0.5 + x" in text


def test_what_keeps_the_value_is_no_change(port) -> None:
    text = lines(port, "def forward(self, x):\n    return x + self.fixed.requires_grad_(False)\n")
    assert 'self.register_buffer("fixed", ops.ones(3))' in text


def test_a_parameter_made_where_the_network_runs_is_reported(port) -> None:
    source = """\
        import torch
        from torch import nn


        class Codes(nn.Module):
            def __init__(self):
                super().__init__()
                self.table = nn.Parameter(torch.ones(2))

            def forward(self, x):
                self.table = nn.Parameter(0.9 * self.table + 0.1 * x)
                return x
        """
    assert [finding.code for finding in port(source).findings] == ["MS408"]
    moved = source.replace("self.table = nn.Parameter(0.9", "self.table.data.copy_(0.9")
    assert not port(moved).findings


def test_a_question_for_none_reads_no_value(port) -> None:
    text = port(
        """
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self, scale=None):
                super().__init__()
                self.register_buffer("scale", scale)

            def forward(self, x):
                if self.scale is not None:
                    self.scale = self.scale * 2
                return x


        net = Net(torch.ones(3))
        """
    ).text
    assert "if self.scale is not None:" in text


def test_an_element_that_is_changed_twice_is_written_back(port) -> None:
    text = lines(
        port,
        """
        @torch.no_grad()
        def update(self, x, y):
            for c in y.unique():
                if self.mean[c] > 0:
                    self.mean[c].mul_(0.5).add_(x)
                else:
                    self.mean[c] = x
        """,
    )
    assert "self.mean.copy()[c] = self.mean.copy()[c].mul(0.5).add(x)" not in text
    assert "mean[c] = self.mean[c].mul(0.5).add(x)" in text


def test_buffers_before_a_changing_one_are_of_its_kind(port) -> None:
    """MindSpore lists its buffers behind the Parameters of a Cell."""
    ported = port("""
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("edges", torch.zeros(3))
                self.register_buffer("count", torch.zeros(3))
                self.register_buffer("fixed", torch.zeros(3))

            def forward(self, x):
                self.count += 1
                return x
    """)
    assert 'self.edges = helpers.buffer(ops.zeros(3), "edges")' in ported.text
    assert 'self.register_buffer("fixed", ops.zeros(3))' in ported.text

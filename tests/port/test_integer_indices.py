"""Integers beside index tensors: torch takes them first."""

from __future__ import annotations

import pytest

from tests.port.conftest import Port

SOURCE = """
import torch


def f(x: torch.Tensor, rows: torch.Tensor, b: int):
    return {}
"""


@pytest.mark.parametrize(
    ("read", "ported"),
    [
        ("x[0, :, rows]", "x[0][:, rows]"),
        ("x[b, :, rows]", "x[b][:, rows]"),
        ("x[:, 0, :, [0, 1]]", "x[:, 0][:, :, [0, 1]]"),
        ("x[0, ..., rows]", "x[0][..., rows]"),
        ("x[0, None, rows]", "x[0][None, rows]"),
        ("x[rows, :, -1]", "helpers.take_items(x, (rows, slice(None), -1))"),
        ("x[rows, 1:, rows]", "helpers.take_items(x, (rows, slice(1, None), rows))"),
        ("x[0, rows]", "x[0, rows]"),
        ("x[0, :, 1]", "x[0, :, 1]"),
        ("x[:, rows, 0]", "x[:, rows, 0]"),
        ("x[range(3), rows]", "x[ops.arange(3), rows]"),
    ],
)
def test_integers_are_taken_first(read: str, ported: str, port: Port) -> None:
    assert f"return {ported}\n" in port(SOURCE.format(read)).text

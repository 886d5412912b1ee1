"""The dtype of a tensor, as far as the program states it."""

from __future__ import annotations

import ast

import pytest


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("torch.arange(3) * 0.5", "float32"),
        ("torch.arange(3) / 2", "float32"),
        ("torch.arange(3) * 2", "int64"),
        ("(x > 0) + 1", "int64"),
        ("(x > 0).sum()", "int64"),
        ("(x > 0).int().cumsum(0)", "int64"),
        ("torch.exp(torch.arange(3))", "float32"),
        ("torch.cat([x > 0, y > 0])", "bool"),
        ("torch.cat([x > 0, y])", ""),
        ("x.long().to(kind)", ""),
        ("x.long().to(device)", "int64"),
        ("x.long().view(-1)", "int64"),
        ("x", ""),
    ],
)
def test_the_dtype_of_an_expression(program, code: str, kind: str) -> None:
    p = program(f"import torch\ndef f(x: torch.Tensor, y, kind, device):\n    return {code}\n")
    returned = next(n for n in ast.walk(p.flow.tree) if isinstance(n, ast.Return))
    assert returned.value is not None
    assert p.flow.dtypes.of(returned.value) == kind

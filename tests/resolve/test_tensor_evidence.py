"""Parameters that only a tensor fits, and those that may be something else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Check = Callable[..., None]

SIZE = "call torch.Tensor.size"


@pytest.mark.parametrize(
    "later",
    [
        "torch.exp(x)",
        "F.relu(x)",
        "torch.cat([x, other])",
        "torch.max(x[:, :2], other)",
        "torch.matmul(other, x)",
        "torch.bmm(x.transpose(1, 2), other)",
        "x.unsqueeze(0)",
        "x.sum(dim=1)",
    ],
)
def test_a_later_use_decides(check: Check, later: str) -> None:
    """The first line alone would leave the type open."""
    uses = {
        "torch.exp": ["call torch.exp"],
        "F.relu": ["call torch.nn.functional.relu"],
        "torch.cat": ["call torch.cat"],
        "torch.max": ["call torch.max"],
        "torch.matmul": ["call torch.matmul"],
        "torch.bmm": ["call torch.bmm", "call torch.Tensor.transpose"],
        "x.unsqueeze": ["call torch.Tensor.unsqueeze"],
        "x.sum": ["call torch.Tensor.sum"],
    }[later.partition("(")[0]]
    function, _, rest = later.partition("(")
    marked = f"«{function}»({rest}".replace("x.transpose", "«x.transpose»")
    check(
        f"""\
        import torch
        import torch.nn.functional as F

        def scale(x, other):
            n = «x.size»()
            return {marked}, n
        """,
        SIZE,
        *uses,
    )


def test_a_shape_that_is_taken_apart(check: Check) -> None:
    check(
        """\
        import torch

        def halves(x, y):
            a, b = «x.size»()
            return a // 2, «y.size»()[-1]
        """,
        SIZE,
        SIZE,
    )


@pytest.mark.parametrize("use", ["torch.pow(x, 2.0)", "print(x[:, :2])", "np.matmul(x, x)"])
def test_what_may_be_something_else_stays_open(check: Check, use: str) -> None:
    called, _, rest = use.partition("(")
    marked = f"«{called}»({rest}" if called.startswith("torch") else use
    uses = ["call torch.pow"] if called.startswith("torch") else []
    check(
        f"""\
        import numpy as np
        import torch

        def scale(x):
            n = «x.size»()
            return {marked}, n
        """,
        "unknown torch.Tensor.size",
        *uses,
    )


def test_a_use_in_one_branch_says_nothing_of_the_other(check: Check) -> None:
    check(
        """\
        import torch

        def scale(x, w, fast):
            if fast:
                y = «torch.matmul»(x, w)
                return «x.size»(), y
            return «x.size»()
        """,
        "call torch.matmul",
        SIZE,
        "unknown torch.Tensor.size",
    )


def test_a_use_in_one_branch_says_nothing_of_what_follows(check: Check) -> None:
    check(
        """\
        import torch

        def scale(x, w, fast):
            if fast:
                w = «torch.matmul»(x, w)
            return «x.size»(), w
        """,
        "call torch.matmul",
        "unknown torch.Tensor.size",
    )


def test_a_use_in_part_of_an_expression_says_nothing_of_the_rest(check: Check) -> None:
    check(
        """\
        import torch

        def scale(x, w, fast):
            y = «torch.matmul»(x, w) if fast else x
            return «x.size»(), y
        """,
        "call torch.matmul",
        "unknown torch.Tensor.size",
    )


def test_a_use_behind_a_return_says_nothing_of_what_is_returned(check: Check) -> None:
    check(
        """\
        import torch

        def scale(x, w, fast):
            if fast:
                return «x.size»()
            return «torch.matmul»(x, w)
        """,
        "unknown torch.Tensor.size",
        "call torch.matmul",
    )


def test_a_use_in_a_with_decides_as_one_outside(check: Check) -> None:
    check(
        """\
        import torch

        def scale(x, w):
            n = «x.size»()
            with «torch.no_grad»():
                return «torch.matmul»(x, w), n
        """,
        SIZE,
        "call torch.no_grad",
        "call torch.matmul",
    )

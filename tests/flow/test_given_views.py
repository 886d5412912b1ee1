"""Which parameters get views, and which results share what an object goes on holding."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("call", "given"),
    [
        ("f(x)", False),
        ("f(x.clone())", False),
        ("f(x[:, :2])", True),
        ("f(x.t())", True),
        ("g(x.view(-1))", True),
        ("g(x)", False),
        ("f(tensor=x[0])", True),
    ],
)
def test_a_view_reaches_the_parameter(program, call: str, given: bool) -> None:
    p = program(
        f"""
        import torch

        def f(tensor):
            tensor[tensor > 0] = 1

        def g(tensor):
            f(tensor)

        def run(x: torch.Tensor):
            {call}
        """
    )
    assert p.flow.views.is_given_view(p.function("f").node, "tensor") is given


@pytest.mark.parametrize(
    ("value", "held"),
    [("grid.column(1)", True), ("grid.flat", True), ("grid.copy()", False), ("grid.sum", False)],
)
def test_a_result_that_shares_what_an_object_holds(program, value: str, held: bool) -> None:
    p = program(
        f"""
        import torch

        class Grid:
            def __init__(self):
                self.rows = torch.zeros(4, 4)

            def column(self, i):
                return self.rows[:, i]

            def copy(self):
                return self.rows.clone()

            @property
            def flat(self):
                return self.rows.view(-1)

            @property
            def sum(self):
                return self.rows.sum(0)

        def f():
            grid = Grid()
            part = {value}
            part += 1
            return grid
        """
    )
    refs = p.function("f").aliases.refs(p.expression("part", last=True))
    assert any(ref.memory.source == "attribute" for ref in refs) is held

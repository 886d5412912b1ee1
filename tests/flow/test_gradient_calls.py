"""Which functions of a program have a hand in gradients that another one computes."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.flow.gradient_calls import gradients_cross_functions
from migrate.project import discover

STEP = "def update(net, opt, x):\n    net(x).sum().backward()\n    opt.step()\n"
CLEARED = STEP.replace("    opt.step", "    opt.zero_grad()\n    opt.step")


@pytest.mark.parametrize(
    ("train", "other", "crosses"),
    [
        (CLEARED, "", False),
        (STEP, "# zero_grad() is never called\n", False),
        (STEP, "def before(opt):\n    opt.zero_grad()\n", True),
        (STEP, "def before(opt):\n    return opt.zero_grad\n", True),
        (STEP, CLEARED.replace("update", "other"), True),  # it may clear the same parameters
        (CLEARED, "def after(solver):\n    solver.step()\n    solver.zero_grad()\n", True),
        (CLEARED, "def after(scheduler):\n    scheduler.step()\n", False),
        (CLEARED, "def after(scaler, opt):\n    scaler.step(opt)\n", True),
        (CLEARED, "def clip(p):\n    torch.nn.utils.clip_grad_norm_(p, 1)\n", True),
        (CLEARED.replace("grad()", "grad(set_to_none=False)"), "", True),
        ("", "def before(opt):\n    opt.zero_grad()\n    opt.step()\n", False),
    ],
)
def test_gradients_cross_functions(tmp_path: Path, train: str, other: str, crosses: bool) -> None:
    (tmp_path / "train.py").write_text(train)
    (tmp_path / "other.py").write_text(other)
    assert gradients_cross_functions(discover([tmp_path])) is crosses

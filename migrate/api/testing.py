"""Parity as a test of your own repository.

from ms_migrate.testing import assert_parity

def test_the_port_computes_the_same():
    assert_parity("net.py:Net", "ported/net.py:Net", inputs=["8,3,32,32"], classes=10)
"""

from __future__ import annotations

from collections.abc import Sequence

from .functions import check_parity
from .results import ParityResult

__all__ = ["assert_parity"]


def assert_parity(
    torch: str,
    mindspore: str,
    *,
    inputs: Sequence[str],
    classes: int | None = None,
    options: Sequence[str] = (),
) -> ParityResult:
    """Fail with the whole comparison where a step of the two models differs by more than noise."""
    __tracebackhide__ = True
    result = check_parity(torch, mindspore, inputs=inputs, classes=classes, options=options)
    if not result.ok:
        where = f" first at {result.first_difference}" if result.first_difference else ""
        raise AssertionError(f"{result.verdict}{where}\n\n{result.text}")
    return result

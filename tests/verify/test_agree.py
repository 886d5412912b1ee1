"""The comparison itself: what it lets pass and what it must not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.frameworks


def _reasons() -> dict[str, str]:
    import torch

    from migrate.verify.agree import difference

    x = torch.linspace(-3, 3, 12).reshape(3, 4)
    big = torch.randn(3000, generator=torch.Generator().manual_seed(0))
    other = torch.randn(3000, generator=torch.Generator().manual_seed(1))
    nan = torch.tensor([1.0, float("nan")])
    return {
        "same": difference(x, x.clone()),
        "rounding": difference(x, x * (1 + 1e-6)),
        "off": difference(x, x + 1e-3),
        "shape": difference(x, x.reshape(4, 3)),
        "dtype": difference(x, x.double()),
        "integers": difference(torch.arange(3), torch.tensor([0, 1, 3])),
        "nan agrees": difference(nan, nan.clone()),
        "nan against number": difference(nan, torch.tensor([1.0, 2.0])),
        "infinity": difference(torch.tensor([1e38]) * 10, torch.tensor([3e38])),
        "tuple": difference((x, 2), (x, 2)),
        "count": difference((x, x), (x,)),
        "number": difference(3, 4),
        "draws agree": difference(big, other, values=False),
        "draws differ": difference(big, other * 1.3, values=False),
    }


def test_difference(run_in_worker: Callable[..., Any]) -> None:
    found = run_in_worker(_reasons)
    passing = {"same", "rounding", "nan agrees", "tuple", "draws agree"}
    assert {name for name, reason in found.items() if not reason} == passing
    assert found["shape"] == "shape (4, 3), torch (3, 4)"
    assert found["dtype"] == "dtype float64, torch float32"
    assert found["integers"] == "1 of 3 differ, 3 where torch gives 2"
    assert found["count"] == "gives 1 results, torch 2"
    assert found["draws differ"].startswith("another distribution")

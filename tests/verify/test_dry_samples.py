"""Which samples go to the Ascend backend: whole tensors first, each way to call, few of a dtype."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from migrate.verify.dry_samples import few, with_low_dtypes  # noqa: E402
from migrate.verify.program import Trial  # noqa: E402

pytestmark = pytest.mark.frameworks


def _trial(text: str, *inputs: object, dtype: str = "float32", variant: str = "function") -> Trial:
    return Trial("torch.f", text, list(inputs), dtype=dtype, variant=variant, gradient=True)


def test_samples_without_dimensions_come_last_and_repeated_calls_after_new_ones() -> None:
    scalar = _trial("f(x0)", torch.tensor(1.0))
    plain = _trial("f(x0)", torch.ones(3))
    again = _trial("f(x0)", torch.ones(4))
    other = _trial("f(x0, dim=1)", torch.ones(3))
    chosen = few([scalar, plain, again, other])
    assert [id(trial) for trial in chosen] == [id(plain), id(other), id(again)]
    assert [trial.graph for trial in chosen] == [True, False, False]


def test_errors_and_unwritten_samples_are_left_out() -> None:
    assert few([_trial("", torch.ones(1)), _trial("f(x0)", torch.ones(1), variant="error")]) == []


def test_rare_dtypes_have_one_sample_and_are_not_compiled() -> None:
    trials = [_trial("f(x0)", torch.ones(3), dtype="float64") for _ in range(4)]
    assert [trial.graph for trial in few(trials)] == [False]


def test_own_samples_are_repeated_with_half_the_bits() -> None:
    sample = _trial("f(x0, x1)", torch.ones(3, requires_grad=True), torch.arange(3))
    found = with_low_dtypes([sample])
    assert [trial.dtype for trial in found] == ["float32", "float16", "bfloat16"]
    lower = found[2]
    assert lower.inputs[0].dtype == torch.bfloat16 and lower.inputs[0].requires_grad
    assert lower.inputs[1].dtype == torch.int64
    assert sample.inputs[0].dtype == torch.float32

"""torch's operator database (op_db) as trials: function, method, in-place and alias forms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from migrate.verify.errors import error_trials
from migrate.verify.program import Trial, Unspellable, call_of, in_place_call, traced

PREFIX = "op:"
# Samples of one operator, by how they are called; the databases hold up to several hundred.
_MOST = {"function": 48, "method": 6, "in-place": 3, "alias": 2, "dtype": 5}
_GRAPH = {"function": 3, "method": 1}
_OTHER_DTYPES = ("int64", "bool", "float16")


def _by_value(values: Any) -> Any:
    """Eigenvalues in one order: both frameworks give them in an arbitrary one."""
    import torch

    if not values.numel():
        return values, values.real.long()
    rounded = (values.real * 1e3).round() * 1e6 + (values.imag * 1e3).round()
    order = rounded.argsort(-1)
    return torch.gather(values, -1, order), order


def _eigenpairs(result: Any) -> Any:
    import torch

    values, order = _by_value(result[0])
    vectors = result[1].abs()
    spread = order.unsqueeze(-2).expand(vectors.shape)
    return values, torch.gather(vectors, -1, spread)


_ORDERED = {"linalg.eig": _eigenpairs, "linalg.eigvals": lambda result: _by_value(result)[0]}


def case_names() -> dict[str, list[str]]:
    """Every operator that takes float32 here, with the torch names it may put on trial."""
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    cases: dict[str, list[str]] = {}
    for op in op_db:
        if torch.float32 in op.supported_dtypes("cpu"):
            names = [f"torch.{op.name}", f"torch.Tensor.{op.name}"]
            if op.inplace_variant is not None:
                names.append(f"torch.Tensor.{op.name.rpartition('.')[2]}_")
            names += [f"torch.{alias.name}" for alias in op.aliases]
            cases[_key(op)] = names
    return cases


def trials_of(
    key: str, dtypes: Sequence[str] = _OTHER_DTYPES, gradients: Sequence[str] = ()
) -> list[Trial]:
    """All trials of one operator, the most telling first; `gradients` names the dtypes besides
    float32 that are differentiated.
    """
    from torch.testing._internal.common_methods_invocations import op_db

    op = next(op for op in op_db if _key(op) == key)
    return list(_trials(op, dtypes, gradients))


def _key(op: Any) -> str:
    return f"{PREFIX}{op.name}" + (f".{op.variant_test_name}" if op.variant_test_name else "")


def _trials(op: Any, dtypes: Sequence[str], gradients: Sequence[str]) -> Iterator[Trial]:
    import torch

    samples = _samples(op, torch.float32, gradient=True)
    uninitialised = "empty" in op.name or op.name in ("resize_", "resize_as_")
    function = list(_functions(op, _spread(samples, _MOST["function"])))
    _mark_graph(function, _GRAPH["function"])
    for trial in function:
        trial.random = uninitialised
    yield from function
    yield from _methods(op, samples)
    for name in dtypes:
        dtype = getattr(torch, name)
        if dtype in op.supported_dtypes("cpu"):
            others = _spread(_samples(op, dtype, gradient=name in gradients), _MOST["dtype"])
            for trial in _functions(op, others):
                trial.dtype, trial.variant = name, "dtype"
                trial.gradient &= name in gradients
                trial.random = uninitialised
                yield trial
    if _public(op.name) is op.op:
        yield from error_trials(op)


def _samples(op: Any, dtype: Any, *, gradient: bool) -> list[Any]:
    import torch

    torch.manual_seed(0)
    wanted = gradient and op.supports_autograd
    try:
        # Not op.sample_inputs: that walks the call stack for every operator, to name the test.
        return list(op.sample_inputs_func(op, "cpu", dtype, wanted))
    except Exception:  # a database entry that does not run here has nothing to say
        return []


def _functions(op: Any, samples: Sequence[Any]) -> Iterator[Trial]:
    direct = _public(op.name)
    known = direct is not None and direct is op.op
    for sample in samples:
        arguments = (sample.input, *sample.args)
        try:
            if known:
                api = f"torch.{op.name}"
                text, inputs = call_of(api, arguments, sample.kwargs)
            else:
                api, text, inputs = traced(op.op, arguments, sample.kwargs)
        except Unspellable as reason:
            yield _nothing(f"torch.{op.name}", str(reason))
            continue
        except Exception as error:  # the wrapper itself does not run here
            yield _nothing(f"torch.{op.name}", f"{type(error).__name__}: {error}")
            continue
        yield Trial(
            api,
            text,
            inputs,
            process=_ORDERED.get(op.name) or _process(sample),
            gradient=bool(op.supports_autograd),
            doubtful=_doubtful(op),
        )


def _methods(op: Any, samples: Sequence[Any]) -> Iterator[Trial]:
    import torch

    usable = [s for s in samples if isinstance(s.input, torch.Tensor)]
    last = op.name.rpartition(".")[2]
    if op.method_variant is not None and getattr(torch.Tensor, last, None) is op.method_variant:
        found = list(_written(f"torch.Tensor.{last}", _spread(usable, _MOST["method"]), "method"))
        for trial in found:
            trial.doubtful = _doubtful(op)
        _mark_graph(found, _GRAPH["method"])
        yield from found
    name = f"{last}_"
    if op.inplace_variant is not None and getattr(torch.Tensor, name, None) is op.inplace_variant:
        keeping = [s for s in usable if _keeps_its_form(op, s)]
        yield from _written(f"torch.Tensor.{name}", _spread(keeping, _MOST["in-place"]), "in-place")
    for alias in op.aliases:
        if alias.op is not None and _public(alias.name) is alias.op:
            yield from _written(f"torch.{alias.name}", _spread(samples, _MOST["alias"]), "alias")


def _written(api: str, samples: Sequence[Any], variant: str) -> Iterator[Trial]:
    for sample in samples:
        arguments = (sample.input, *sample.args)
        try:
            if variant == "in-place":
                text, inputs = in_place_call(api, arguments, sample.kwargs)
            else:
                text, inputs = call_of(api, arguments, sample.kwargs)
        except Unspellable:
            continue
        gradient = variant == "method"
        process = _process(sample)
        yield Trial(api, text, inputs, variant=variant, process=process, gradient=gradient)


def _keeps_its_form(op: Any, sample: Any) -> bool:
    """In-place forms exist where the result fits the receiver."""
    try:
        result = op.op(sample.input, *sample.args, **sample.kwargs)
        same: bool = result.shape == sample.input.shape and result.dtype == sample.input.dtype
        return same
    except Exception:
        return False


def _doubtful(op: Any) -> bool:
    """torch's own tests expect that its gradient is wrong."""
    import unittest

    return any(
        getattr(mark, "test_name", "") == "test_fn_grad"
        and unittest.expectedFailure in mark.decorators
        for mark in op.decorators
    )


def _process(sample: Any) -> Any:
    """The database's own way to remove what is arbitrary; None for most samples."""
    process = sample.output_process_fn_grad
    return (
        None if getattr(process, "__name__", "") == "<lambda>" and _identity(process) else process
    )


def _identity(process: Any) -> bool:
    marker = object()
    try:
        return process(marker) is marker
    except Exception:
        return False


def _mark_graph(trials: list[Trial], most: int) -> None:
    """Compiling costs a second: take samples that differ in how they are called, full first."""
    seen: set[str] = set()
    by_size = sorted(trials, key=lambda t: any(v.numel() == 0 for v in t.inputs))
    for trial in by_size:
        shape = "".join(c for c in trial.text if not c.isdigit())
        if len(seen) < most and shape not in seen:
            seen.add(shape)
            trial.graph = True


def _nothing(api: str, reason: str) -> Trial:
    return Trial(api, "", [], variant=f"not written: {reason}")


def _spread(samples: Sequence[Any], most: int) -> list[Any]:
    """All of them, or evenly chosen ones, the first included."""
    if len(samples) <= most:
        return list(samples)
    step = len(samples) / most
    return [samples[int(place * step)] for place in range(most)]


def _public(name: str) -> Any:
    import torch

    found: Any = torch
    for part in name.split("."):
        found = getattr(found, part, None)
    return found

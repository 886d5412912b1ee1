"""Run official pairs that the table does not follow, and say what was seen.

    python -m tests.table.measure_pairs PAIR...      # "torch.eq mindspore.ops.equal"

The official target is called as a plain renaming would: torch's arguments, in torch's order, under
torch's names. Samples come from torch's operator database, else from pair_cases.py. Every pair runs
in a process of its own, since some kernels end it. Results go into official_pairs.toml by hand:
they are the reasons there.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

LIMIT = 60.0  # seconds for a pair


def parts(value: Any) -> list[Any]:
    """All tensors and numbers of a result, in order."""
    if isinstance(value, dict):
        value = list(value.values())
    return [y for x in value for y in parts(x)] if isinstance(value, tuple | list) else [value]


def differs(got: Any, wanted: Any) -> str:
    """In what a MindSpore result is not torch's; empty when it is."""
    import numpy as np

    left, right = ([as_array(part) for part in parts(v)] for v in (got, wanted))
    if len(left) != len(right):
        return f"{len(left)} results for {len(right)}"
    for a, b in zip(left, right, strict=True):
        if a.shape != b.shape:
            return f"shape {a.shape} for {b.shape}"
        if a.dtype != b.dtype:
            return f"{a.dtype} for {b.dtype}"
        if a.dtype.kind not in "OSU":
            off = ~np.isclose(a, b, rtol=1e-3, atol=1e-4, equal_nan=True)
            if off.any():
                return (
                    f"{off.sum()} of {off.size} values differ, {a[off][0]:.4g} for {b[off][0]:.4g}"
                )
        elif not np.array_equal(a, b):
            return f"{a} for {b}"
    return ""


def as_array(value: Any) -> Any:
    import numpy as np

    if hasattr(value, "asnumpy"):
        return value.asnumpy()
    if hasattr(value, "resolve_conj"):
        return value.detach().resolve_conj().resolve_neg().numpy()
    return np.asarray(value)


def first_line(error: BaseException) -> str:
    lines = [line for line in str(error).splitlines() if line.strip("- ")]
    lines = [line for line in lines if not (line.startswith("- ") and line.endswith(":"))]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:140]


# torch's operator database --------------------------------------------------------------------


def to_mindspore(value: Any) -> Any:
    import mindspore
    import torch

    if isinstance(value, torch.Tensor):
        return mindspore.Tensor(value.detach().resolve_conj().numpy())
    if isinstance(value, torch.dtype):
        return getattr(mindspore, str(value).removeprefix("torch."))
    if isinstance(value, list | tuple):
        return type(value)(map(to_mindspore, value)) if type(value) in (list, tuple) else value
    return value


def find_operator(torch_name: str) -> Any:
    from torch.testing._internal.common_methods_invocations import op_db

    name = torch_name.removeprefix("torch.").removeprefix("Tensor.")
    for wanted in (name, name.rstrip("_")):
        for operator in op_db:
            if wanted in (operator.name, *(alias.name for alias in operator.aliases)):
                return operator
    return None


def call_of(target: str, keywords: dict[str, Any]) -> Callable[..., Any]:
    """The official target as a function of its positional arguments."""
    import mindspore

    last = target.rpartition(".")[2]
    if target.startswith("mindspore.Tensor."):
        if not callable(getattr(mindspore.Tensor, last)):
            return lambda x, *rest: getattr(x, last)
        return lambda x, *rest: getattr(x, last)(*rest, **keywords)
    function: Any = mindspore
    for name in target.split(".")[1:]:
        function = getattr(function, name)
    return lambda *arguments: function(*arguments, **keywords)


def samples(operator: Any) -> Iterator[Any]:
    import torch

    for dtype in (torch.float32, torch.int64):
        if dtype in operator.supported_dtypes("cpu"):
            smooth = dtype.is_floating_point and operator.supports_autograd
            made = operator.sample_inputs("cpu", dtype, requires_grad=smooth)
            yield from list(made)[:14]


def over_samples(operator: Any, target: str) -> str:
    """How many samples disagree, and how the first of them does."""
    count = bad = 0
    first = ""
    for sample in samples(operator):
        try:
            wanted = operator(sample.input, *sample.args, **sample.kwargs)
        except Exception:
            continue
        count += 1
        said = one_sample(sample, wanted, target)
        bad += bool(said)
        first = first or said
    return f"{bad} of {count} samples: {first}" if bad else f"agrees on {count} samples"


def one_sample(sample: Any, wanted: Any, target: str) -> str:
    import mindspore
    import torch

    try:
        given, *rest = map(to_mindspore, (sample.input, *sample.args))
        call = call_of(target, {k: to_mindspore(v) for k, v in sample.kwargs.items()})
        said = differs(call(given, *rest), wanted)
        if said or not getattr(sample.input, "requires_grad", False):
            return said
        smooth = [w for w in parts(wanted) if w.is_floating_point() and w.requires_grad]
        if not smooth:
            return ""
        loss = sum((part * part).sum() for part in smooth)
        slope = torch.autograd.grad(loss, sample.input, allow_unused=True)[0]
        if slope is None:
            return ""

        def total(x: Any) -> Any:
            found = [p for p in parts(call(x, *rest)) if p.dtype == mindspore.float32]
            return sum((p * p).sum() for p in found)

        said = differs(mindspore.grad(total)(given), slope)
        return f"gradient: {said}" if said else ""
    except Exception as error:
        return first_line(error)


# Own cases --------------------------------------------------------------------------------------


def of_case(torch_text: str, mindspore_text: str) -> str:
    """Evaluate both sides; an error of torch's says that the official name is not torch's."""
    import mindspore
    import mindspore.dataset.audio
    import numpy as np
    import torch
    import torchvision
    from PIL import Image

    torch.manual_seed(0)
    random = np.random.default_rng(5)
    arrays = {
        "x": random.standard_normal((4, 5)),
        "y": random.standard_normal((4, 5)),
        "p": random.uniform(0.1, 0.9, (4, 5)),
        "q": random.uniform(0.1, 0.9, (4, 5)),
        "image": random.uniform(0.1, 0.9, (2, 3, 8, 9)),
        "volume": random.uniform(0.1, 0.9, (2, 3, 6, 8, 9)),
        "columns": random.standard_normal((1, 8, 12)),
        "signs": random.choice([-1.0, 1.0], (4, 5)),
        "logs": np.log(random.dirichlet(np.ones(6), (10, 2))),
        "boxes": np.array([[0.0, 0, 4, 4], [0, 0, 4, 5], [5, 5, 7, 7]]),
        "scores": np.array([0.9, 0.8, 0.7]),
        "rois": np.array([[0.0, 1, 1, 6, 6]]),
        "wave": np.sin(np.arange(4800) / 9.0)[None] * np.linspace(0.1, 0.8, 4800),
        "spectrum": random.uniform(0.1, 2.0, (1, 201, 30)),
        "mel": random.uniform(0.1, 2.0, (1, 40, 6)),
        "complex_spectrum": random.standard_normal((1, 201, 30, 2)),
    }
    arrays = {name: array.astype(np.float32) for name, array in arrays.items()}
    arrays |= {
        "several": np.array([[1, 3, -1, -1, -1]] * 4),
        "labels": np.array([[1, 2, 3], [2, 2, 4]]),
        "lengths": np.array([10, 9]),
        "short": np.array([3, 2]),
        "codes": random.integers(0, 256, (1, 50)),
    }
    picture = Image.fromarray((arrays["image"][0].transpose(1, 2, 0) * 255).astype(np.uint8))
    common = {"np": np, "picture": picture, "arrays": arrays}
    left = {"T": torch, "V": torchvision, "F": torch.nn.functional, **common}
    left |= {name: torch.tensor(array) for name, array in arrays.items()}
    left |= {"clipped": clipped, "rates": rates, "steps": torch_steps}
    right = {"M": mindspore, **common}
    right |= {name: mindspore.Tensor(array) for name, array in arrays.items()}
    right |= {"steps": mindspore_steps, "parameters": mindspore_parameters}
    if "A." in torch_text:
        left["A"] = __import__("torchaudio")
    try:
        wanted = eval(torch_text, left)
    except AttributeError as error:
        return f"torch: {first_line(error)}"
    except Exception as error:  # torchvision without its compiled operators
        wanted = error
    try:
        got = eval(mindspore_text, right)
    except Exception as error:
        return first_line(error)
    if isinstance(wanted, Exception):
        return f"torch: {first_line(wanted)}"
    return differs(got, wanted) or "agrees"


def clipped(clip: Callable[..., Any], x: Any, y: Any, limit: float) -> list[Any]:
    import torch

    parameters = [torch.nn.Parameter(torch.zeros_like(v)) for v in (x, y)]
    for parameter, gradient in zip(parameters, (x, y), strict=True):
        parameter.grad = gradient.clone()
    clip(parameters, limit)
    return [parameter.grad for parameter in parameters]


def torch_steps(make: Callable[..., Any], x: Any) -> Any:
    import torch

    parameter = torch.nn.Parameter(x.clone())
    optimizer = make([parameter])
    for _ in range(5):
        optimizer.zero_grad()
        (parameter * parameter).sum().backward()
        optimizer.step()
    return parameter.detach()


def mindspore_steps(make: Callable[..., Any], x: Any) -> Any:
    (parameter,) = mindspore_parameters(x)
    optimizer = make([parameter])
    for _ in range(5):
        optimizer((2 * parameter,))
    return parameter


def mindspore_parameters(x: Any) -> list[Any]:
    import mindspore

    return [mindspore.Parameter(x.copy(), name="w")]


def rates(make: Callable[..., Any], *arguments: Any) -> list[float]:
    import torch

    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], 0.1)
    schedule = make(optimizer, *arguments)
    found = []
    for _ in range(4):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    return found


# Running ------------------------------------------------------------------------------------------


def measure(pair: str) -> str:
    """What running one official pair shows."""
    from tests.table.pair_cases import CASES

    if pair in CASES:
        return of_case(*CASES[pair])
    torch_name, target = pair.split()
    operator = find_operator(torch_name)
    return "no samples" if operator is None else over_samples(operator, target)


def in_own_process(pair: str) -> str:
    """Fork while MindSpore is only imported: after its first operator a fork would hang."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reading)
        try:
            said = measure(pair)
        except BaseException as error:
            said = first_line(error)
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    end = time.monotonic() + LIMIT
    data = b""
    while time.monotonic() < end:
        if select.select([reading], [], [], 0.5)[0]:
            chunk = os.read(reading, 65536)
            if not chunk:
                break
            data += chunk
    else:
        os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    os.close(reading)
    if data:
        return data.decode()
    number = os.WTERMSIG(status)
    return (
        "does not come back" if number == signal.SIGKILL else f"ends the process, signal {number}"
    )


def main() -> None:
    warnings.filterwarnings("ignore")
    import mindspore.dataset
    from torch.testing._internal import common_methods_invocations

    from migrate.vision_shim import ensure_torchvision

    ensure_torchvision()
    assert mindspore.dataset and common_methods_invocations  # before the first fork
    for pair in sys.argv[1:]:
        print(f"{pair}\t{in_own_process(pair)}", flush=True)


if __name__ == "__main__":
    main()

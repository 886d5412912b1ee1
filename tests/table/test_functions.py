"""The helpers for functions compute what torch computes: values in both modes, and gradients."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

GROUPS = runpy.run_path(str(Path(__file__).with_name("function_cases.py")))["GROUPS"]


def compare(cases: list[tuple[str, dict[str, object]]]) -> list[str]:
    """Run each call in torch and in the helpers; the answer lists what differs."""
    import importlib
    import re
    import sys
    from pathlib import Path

    import mindspore
    import numpy as np
    import torch

    import migrate.port.helpers as package

    mindspore.runtime.launch_blocking()
    defined = {}
    for path in sorted(Path(package.__path__[0]).glob("functions_*.py")):
        for name in re.findall(r"^def (\w+)", path.read_text(), re.M):
            defined[name] = path.stem

    def ours(expression):
        """linalg.svd is the helper linalg_svd, or svd where that is no other function's name."""

        def named(match):
            whole, last = match.group(0).replace(".", "_"), match.group(0).rpartition(".")[2]
            return whole if whole in defined else last

        return re.sub(r"\b(?:linalg|special)\.\w+", named, expression)

    random = np.random.default_rng(3)

    def draw(spec):
        kind = spec[0] if spec and isinstance(spec[0], str) else "normal"
        if kind == "normal":
            return random.standard_normal(spec).astype(np.float32)
        if kind == "offsets":
            return np.array([0, 2, 5])
        if kind == "ints":
            return random.integers(0, spec[2], spec[1])
        if kind == "counts":
            return random.poisson(2.0, spec[1]).astype(np.float32)
        if kind == "signs":
            return random.choice([-1.0, 1.0], spec[1]).astype(np.float32)
        if kind == "logs":
            values = random.standard_normal(spec[1]).astype(np.float32)
            return np.asarray(values - np.log(np.exp(values).sum(-1, keepdims=True)))
        return random.uniform(0.05, 0.95, spec[1]).astype(np.float32)

    constant = ("fixed", "signs", "counts")

    lines = ["import mindspore", "from mindspore import ops"]
    for number, (expression, inputs) in enumerate(cases):
        text = ours(expression)
        for name in set(re.findall(r"\b(\w+)\(", text)) & set(defined):
            lines.append(f"from migrate.port.helpers.{defined[name]} import {name}")
        lines += [f"def f{number}({', '.join(inputs)}):", f"    return {text}"]
        lines += [f"def loss{number}({', '.join(inputs)}):", f"    out = {text}", "    total = 0.0"]
        lines += ["    for part in out if isinstance(out, (tuple, list)) else (out,):"]
        lines += ["        if part.is_floating_point():"]
        lines += ["            total = total + (part * part).sum()", "    return total"]
    Path("function_calls.py").write_text("\n".join(lines) + "\n")
    sys.path.insert(0, ".")
    module = importlib.import_module("function_calls")

    def parts(value):
        return list(value) if isinstance(value, (tuple, list)) else [value]

    def differs(got, wanted):
        left, right = got.asnumpy(), wanted.detach().numpy()
        if left.shape != right.shape or left.dtype != right.dtype:
            return f"{left.dtype}{left.shape} for {right.dtype}{right.shape}"
        scale = max(1.0, float(np.abs(right).max(initial=0)))
        close = np.allclose(left, right, rtol=1e-4, atol=2e-5 * scale, equal_nan=True)
        return "" if close else f"off by {np.abs(left - right).max()} of {scale}"

    known = {**vars(torch), **vars(torch.nn.functional)}
    known |= {name: getattr(torch, name) for name in ("cross", "norm", "unique", "bitwise_not")}
    wrong = []
    for number, (expression, inputs) in enumerate(cases):
        arrays = {name: draw(spec) for name, spec in inputs.items()}
        leaves = {name: torch.from_numpy(np.asarray(array)) for name, array in arrays.items()}
        floats = [
            n for n in leaves if leaves[n].is_floating_point() and inputs[n][0] not in constant
        ]
        for name in floats:
            leaves[name].requires_grad_(True)
        wanted = parts(eval(expression, {**known, **leaves}))
        tensors = [mindspore.Tensor(array) for array in arrays.values()]
        for mode, run in (("pynative", lambda f: f), ("graph", mindspore.jit)):
            got = parts(run(getattr(module, f"f{number}"))(*tensors))
            for left, right in zip(got, wanted, strict=True):
                if said := differs(left, right):
                    wrong.append(f"{mode}: {expression}: {said}")
        smooth = [part for part in wanted if part.requires_grad and part.is_floating_point()]
        if not smooth:
            continue
        loss = sum((part * part).sum() for part in smooth)
        slopes = torch.autograd.grad(loss, [leaves[n] for n in floats], allow_unused=True)
        places = tuple(list(inputs).index(name) for name in floats)
        found = mindspore.grad(getattr(module, f"loss{number}"), grad_position=places)(*tensors)
        for name, left, right in zip(floats, parts(found), slopes, strict=True):
            if said := differs(left, torch.zeros_like(leaves[name]) if right is None else right):
                wrong.append(f"gradient for {name} of {expression}: {said}")
    return wrong


@pytest.mark.frameworks
@pytest.mark.parametrize("group", list(GROUPS))
def test_helpers_agree_with_torch(group: str, run_in_worker: Callable[..., Any]) -> None:
    assert run_in_worker(compare, GROUPS[group], timeout=400) == []

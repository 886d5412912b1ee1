"""The helpers for functions compute what torch computes: values in both modes, and gradients."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

GROUPS = runpy.run_path(str(Path(__file__).with_name("function_cases.py")))["GROUPS"]


def compare(cases: list[tuple[str, dict[str, object]]]) -> list[str]:
    """Run all calls in torch, and in one MindSpore program; the answer lists what differs."""
    import importlib
    import re
    import sys
    from pathlib import Path

    import mindspore
    import numpy as np
    import torch

    import migrate.emit.helpers as package

    mindspore.runtime.launch_blocking()
    defined = {}
    for path in sorted(Path(package.__path__[0]).glob("functions_*.py")):
        for name in re.findall(r"^def (\w+)", path.read_text(), re.M):
            defined[name] = path.stem

    def ours(expression, inputs, number):
        """The same call of helpers: linalg.svd is linalg_svd, or svd where that is free."""

        def named(match):
            whole, last = match.group(0).replace(".", "_"), match.group(0).rpartition(".")[2]
            return whole if whole in defined else last

        text = re.sub(r"\b(?:linalg|special)\.\w+", named, expression)
        return re.sub(rf"\b({'|'.join(inputs)})\b(?!=)", rf"\g<1>{number}", text)

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
    texts, tensors, wanted, slopes, labels = [], [], [], [], []
    for number, (expression, inputs) in enumerate(cases):
        leaves = {}
        for name, spec in inputs.items():
            array = np.asarray(draw(spec))
            tensors.append((f"{name}{number}", mindspore.Tensor(array)))
            leaves[name] = torch.from_numpy(array)
            if spec[0] not in ("fixed", "signs", "counts") and leaves[name].is_floating_point():
                leaves[name].requires_grad_(True)
        texts.append(ours(expression, inputs, number))
        wanted.append(parts(eval(expression, {**known, **leaves})))
        smooth = [part for part in wanted[-1] if part.requires_grad]
        free = [name for name in leaves if leaves[name].requires_grad]
        if smooth and free:
            loss = sum((part * part).sum() for part in smooth)
            found = torch.autograd.grad(loss, [leaves[n] for n in free], allow_unused=True)
            for name, slope in zip(free, found, strict=True):
                slopes.append(torch.zeros_like(leaves[name]) if slope is None else slope)
                labels.append((f"{name}{number}", expression))

    names = [name for name, _ in tensors]
    lines = ["from mindspore import ops"]
    for name in sorted(set(re.findall(r"\b(\w+)\(", " ".join(texts))) & set(defined)):
        lines.append(f"from migrate.emit.helpers.{defined[name]} import {name}")
    lines += [f"def everything({', '.join(names)}):", "    return ("]
    lines += [f"        {text}," for text in texts] + ["    )"]
    lines += [f"def loss({', '.join(names)}):", "    total = 0.0"]
    lines += [f"    for out in everything({', '.join(names)}):"]
    lines += ["        for part in out if isinstance(out, (tuple, list)) else (out,):"]
    lines += ["            if part.is_floating_point():"]
    lines += ["                total = total + (part * part).sum()", "    return total"]
    Path("function_calls.py").write_text("\n".join(lines) + "\n")
    sys.path.insert(0, ".")
    module = importlib.import_module("function_calls")

    wrong = []
    values = [tensor for _, tensor in tensors]
    for mode, run in (("pynative", lambda f: f), ("graph", mindspore.jit)):
        results = run(module.everything)(*values)
        for (expression, _), result, expected in zip(cases, results, wanted, strict=True):
            for left, right in zip(parts(result), expected, strict=True):
                if said := differs(left, right):
                    wrong.append(f"{mode}: {expression}: {said}")
    places = tuple(names.index(name) for name, _ in labels)
    found = mindspore.grad(module.loss, grad_position=places)(*values)
    for (name, expression), left, right in zip(labels, parts(found), slopes, strict=True):
        if said := differs(left, right):
            wrong.append(f"gradient for {name} of {expression}: {said}")
    return wrong


@pytest.mark.frameworks
@pytest.mark.parametrize("group", list(GROUPS))
def test_helpers_agree_with_torch(group: str, run_in_worker: Callable[..., Any]) -> None:
    assert run_in_worker(compare, GROUPS[group], timeout=400) == []

"""Build torch modules and our Cells from one text, run one step of both, measure the distance."""

from __future__ import annotations

import importlib
import os
import pickle
import sys
import warnings
from pathlib import Path

import mindspore
import numpy as np
import torch
from mindspore import Tensor

RENAMED = {
    "gamma": "weight",
    "beta": "bias",
    "embedding_table": "weight",
    "moving_mean": "running_mean",
    "moving_variance": "running_var",
}


def helpers(root):
    """Everything that the modules_*.py helper files define."""
    names = {}
    for path in sorted((Path(root) / "migrate/emit/helpers").glob("modules_*.py")):
        names |= vars(importlib.import_module(f"migrate.emit.helpers.{path.stem}"))
    return names


def draw(spec, random):
    if spec in ("unit", "fixed"):
        return random.uniform(0.05, 0.95, (6, 4)).astype(np.float32)
    if isinstance(spec[-1], tuple):
        return random.integers(0, spec[0], spec[1])
    return random.standard_normal(spec).astype(np.float32)


def flat(value):
    return [x for part in value for x in flat(part)] if isinstance(value, tuple) else [value]


def difference(a, b):
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if a.shape != b.shape:
        return f"shapes {a.shape} and {b.shape}"
    return float(np.abs(a - b).max(initial=0))


def same_weights(theirs, ours, random):
    """Give both sides the same random parameters and buffers; the pairs that correspond."""
    state = theirs.state_dict()
    pairs = []
    for name, parameter in ours.parameters_and_names():
        key = ".".join(RENAMED.get(part, part) for part in name.split(".") if part != "bn2d")
        if key not in state:
            continue  # MindSpore keeps, frozen, what torch leaves out
        value = random.standard_normal(state[key].shape).astype(np.float32)
        value = np.abs(value) + 0.5 if "var" in key else value
        state[key].copy_(torch.tensor(value))
        parameter.set_data(Tensor(value.reshape(parameter.shape)))
        pairs.append((key, parameter))
    left = set(state) - {key for key, _ in pairs} - {"num_batches_tracked"}
    assert not left, f"no Cell parameter for {left}"
    return pairs


def compare(text, specs, names, jit):
    """The largest difference of every output, gradient and running statistic."""
    random = np.random.default_rng(0)
    theirs = eval(text, vars(torch.nn)).train()
    ours = eval(text, names).set_train()
    pairs = same_weights(theirs, ours, random)
    inputs = [draw(spec, random) for spec in specs]
    wrt = [i for i, x in enumerate(inputs) if x.dtype == np.float32 and specs[i] != "fixed"]
    given = [torch.tensor(x, requires_grad=i in wrt) for i, x in enumerate(inputs)]
    expected = flat(theirs(*given))
    weights = [random.standard_normal(tuple(x.shape)).astype(np.float32) for x in expected]
    sum((x * torch.tensor(w)).sum() for x, w in zip(expected, weights, strict=True)).backward()
    learned = dict(theirs.named_parameters())
    trained = [(key, parameter) for key, parameter in pairs if key in learned]
    sizes = [Tensor(w) for w in weights]

    def loss(*values):
        outputs = ours(*values)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        total = 0.0
        for i in range(len(sizes)):
            total = total + (outputs[i] * sizes[i]).sum()
        return total, outputs

    parameters = mindspore.ParameterTuple([p for _, p in trained]) if trained else None
    step = mindspore.value_and_grad(loss, tuple(wrt) or None, parameters, has_aux=True)
    (_, outputs), gradients = (mindspore.jit(step) if jit else step)(*map(Tensor, inputs))
    of_inputs, of_weights = gradients if wrt and trained else (gradients, gradients)
    found = {}
    for i, (wanted, output) in enumerate(zip(expected, flat(outputs), strict=True)):
        found[f"output {i}"] = difference(wanted.detach(), output.asnumpy())
    if wrt:
        for i, gradient in zip(wrt, flat(of_inputs), strict=True):
            found[f"gradient {i}"] = difference(given[i].grad, gradient.asnumpy())
    for (key, _), gradient in zip(trained, of_weights, strict=False):
        wanted = learned[key].grad.reshape(gradient.shape)
        found[f"gradient {key}"] = difference(wanted, gradient.asnumpy())
    for key, parameter in pairs:
        if key.startswith("running"):
            found[key] = difference(theirs.state_dict()[key], parameter.asnumpy())
    return found


def main(request):
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    cases, compiled, root, answer = pickle.loads(Path(request).read_bytes())
    sys.path.insert(0, root)
    names = helpers(root)
    results = {}
    for text, specs in cases:
        for jit in (False, True) if text.startswith(compiled) else (False,):
            try:
                results[text, jit] = compare(text, specs, names, jit)
            except Exception as error:
                results[text, jit] = f"{type(error).__name__}: {error}"
    Path(answer).write_bytes(pickle.dumps(results))
    # mindspore may crash while Python winds down; the answer is written.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])

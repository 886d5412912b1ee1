"""torch's module database (module_db): same weights, same inputs, same outputs and gradients?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from migrate.verify.agree import difference, flat, judged
from migrate.verify.bridge import to_mindspore, to_torch
from migrate.verify.execute import AGREES, Outcome, failure, repeated
from migrate.verify.own_layers import LAYERS
from migrate.verify.program import Unspellable, Writer

PREFIX = "module:"
OWN = "layer:"
_MOST = 14
_GRAPH = 2
_LOCAL = {
    "gamma": "weight",
    "beta": "bias",
    "moving_mean": "running_mean",
    "moving_variance": "running_var",
    "embedding_table": "weight",
    "w": "weight",
}


@dataclass(slots=True)
class Layer:
    """One way to build a layer, and one way to call it."""

    api: str
    text: str
    build: list[Any]  # tensors given to the constructor
    inputs: list[Any]
    training: bool
    graph: bool = False
    notes: list[str] = field(default_factory=list)


def case_names() -> dict[str, list[str]]:
    from torch.testing._internal.common_modules import module_db

    return {f"{OWN}{api}": [api] for api in LAYERS} | {
        f"{PREFIX}{info.name}": [f"torch.{info.name}"] for info in module_db if not info.is_lazy
    }


def layers_of(key: str) -> Iterator[Layer | str]:
    """The module's samples; a text says why one cannot be written down."""
    import torch
    from torch.testing._internal.common_modules import module_db

    info = next(info for info in module_db if f"{PREFIX}{info.name}" == key)
    modes = (True, False) if info.train_and_eval_differ else (True,)
    for training in modes:
        torch.manual_seed(0)
        given = info.module_inputs_func(
            info, device="cpu", dtype=torch.float32, requires_grad=True, training=training
        )
        usable = [sample for sample in given if sample.forward_input is not None]
        step = max(1.0, len(usable) / _MOST)
        chosen = [usable[int(place * step)] for place in range(min(len(usable), _MOST))]
        for place, sample in enumerate(chosen):
            try:
                layer = _layer(f"torch.{info.name}", sample, training)
            except Unspellable as reason:
                yield str(reason)
                continue
            layer.graph = place < _GRAPH and training
            yield layer


def _own_layers(api: str) -> Iterator[Layer]:
    import torch

    draw = torch.Generator().manual_seed(13)
    for made, shapes in LAYERS[api]:
        inputs: list[Any] = []
        for shape in shapes:
            if isinstance(shape, str):
                classes, _, sizes = shape.partition(":")
                size = tuple(map(int, sizes.split()))
                inputs.append(torch.randint(int(classes), size, generator=draw))
            else:
                inputs.append(torch.randn(shape, generator=draw).requires_grad_())
        names = [f"x{place}" for place in range(len(inputs))]
        text = _text(made, [], names, ", ".join(names))
        yield Layer(api, text, [], inputs, training=True, graph=True)


def _text(made: str, build: list[str], names: list[str], call: str) -> str:
    """A module around the layer, as a program would have it."""
    head = "".join(f", {name}: torch.Tensor" for name in build)
    inner = "".join(f", {name}: torch.Tensor" for name in names)
    return (
        "class {name}(torch.nn.Module):\n"
        f"    def __init__(self{head}):\n"
        "        super().__init__()\n"
        f"        self.layer = {made}\n\n"
        f"    def forward(self{inner}):\n"
        f"        return self.layer({call})\n"
    )


def _layer(api: str, sample: Any, training: bool) -> Layer:
    built, called = sample.constructor_input, sample.forward_input
    maker, caller = Writer(), Writer()
    made = ", ".join(maker.arguments(built.args, built.kwargs))
    call = ", ".join(caller.arguments(called.args, called.kwargs))
    build = [f"x{place}" for place in range(len(maker.inputs))]
    names = [f"x{place}" for place in range(len(caller.inputs))]
    text = _text(f"{api}({made})", build, names, call)
    return Layer(api, text, maker.inputs, caller.inputs, training)


def run_layer(layer: Layer, theirs: Any, ours: Any) -> Outcome:
    """Forward, gradients of inputs and weights, running statistics; then the same compiled."""
    import torch

    torch.manual_seed(0)
    net = theirs(*(value.detach().clone() for value in layer.build)).float()
    for weight in net.parameters():  # layers start with zeros and ones: nothing would show
        if weight.dim() > 0 and float(weight.detach().std() if weight.numel() > 1 else 0) == 0:
            weight.data += 0.3 * torch.randn_like(weight)
    net.train(layer.training)
    outcome: Outcome = {}
    try:
        cell = ours(*map(to_mindspore, layer.build))
        pairs = _pair(net, cell)
        cell.set_train(layer.training)
    except Exception as error:
        return {"forward": failure(error)}
    leaves = [v.detach().clone().requires_grad_(v.requires_grad) for v in layer.inputs]
    arguments = [to_mindspore(value) for value in layer.inputs]
    start = {name: tensor.detach().clone() for name, tensor in net.state_dict().items()}
    expected = net(*leaves)
    try:
        actual = to_torch(cell(*arguments))
    except Exception as error:
        return {"forward": failure(error)}
    again = _rerun(net, start, layer)
    drawn = bool(difference(_plain(expected), _plain(again)))
    outcome["forward"] = judged(_plain(expected), actual, values=not drawn)
    if outcome["forward"].startswith(AGREES) and not drawn and (reason := _buffers(net, pairs)):
        outcome["forward"] = f"disagrees: {reason}"
    if drawn or not outcome["forward"].startswith(AGREES):
        return outcome
    plan = _torch_gradients(net, expected, leaves)
    if plan is not None:
        outcome["gradient"] = _gradients(plan, cell, pairs, arguments)
    if layer.graph:
        agreed = outcome.get("gradient", "").startswith(AGREES)
        repeat = (lambda: _gradients(plan, cell, pairs, arguments)) if agreed else None
        outcome["graph"] = _compiled(expected, cell, arguments, repeat)
    return outcome


def _rerun(net: Any, start: dict[str, Any], layer: Layer) -> Any:
    """The same call once more, with other random numbers and the statistics of the start."""
    import copy

    import torch

    twin = copy.deepcopy(net)
    twin.load_state_dict(start)
    torch.manual_seed(99)
    with torch.no_grad():
        return twin(*(value.detach().clone() for value in layer.inputs))


def _pair(net: Any, cell: Any) -> dict[str, Any]:
    """torch name -> MindSpore parameter, after giving it torch's value."""
    tensors = {
        name: tensor
        for name, tensor in net.state_dict().items()
        if not name.endswith("num_batches_tracked")
    }
    waiting = {_torch_name(name): parameter for name, parameter in cell.parameters_and_names()}
    if not tensors:
        return {}
    given = {name for name, _ in net.named_buffers()}
    pairs: dict[str, Any] = {name: waiting.pop(name) for name in tensors if name in waiting}
    for name, tensor in tensors.items():
        if name not in pairs:
            same = [n for n, p in waiting.items() if p.size == tensor.numel()]
            if not same and name in given:
                continue  # a loss keeps its class weights as a buffer, a Cell as it likes
            if not same:
                raise ValueError(f"no MindSpore parameter corresponds to {name}")
            pairs[name] = waiting.pop(same[0])
    for name, parameter in pairs.items():
        value = to_mindspore(tensors[name]).reshape(parameter.shape)
        parameter.set_data(value.astype(parameter.dtype))
    return pairs


def _torch_name(name: str) -> str:
    prefix, _, local = name.rpartition(".")
    prefix = prefix.replace("bn2d", "").rstrip(".")
    return f"{prefix}.{_LOCAL.get(local, local)}" if prefix else _LOCAL.get(local, local)


def _buffers(net: Any, pairs: dict[str, Any]) -> str:
    """Running statistics after the step."""
    for name, buffer in net.named_buffers():
        if name in pairs:
            found = to_torch(pairs[name]).reshape(buffer.shape)
            reason = difference(buffer.detach(), found)
            if reason:
                return f"buffer {name}: {reason}"
    return ""


def _torch_gradients(net: Any, expected: Any, leaves: list[Any]) -> Any:
    import torch

    everything = flat(expected)
    chosen = [i for i, o in enumerate(everything) if torch.is_tensor(o) and o.requires_grad]
    outputs = [everything[i] for i in chosen]
    weights = dict(net.named_parameters())
    places = [i for i, leaf in enumerate(leaves) if leaf.requires_grad]
    if not outputs or not (places or weights):
        return None
    draw = torch.Generator().manual_seed(7)
    cotangents = [torch.randn(o.shape, generator=draw) for o in outputs]
    targets = [leaves[i] for i in places] + list(weights.values())
    found = torch.autograd.grad(outputs, targets, cotangents, allow_unused=True)
    full = [torch.zeros_like(t) if g is None else g for t, g in zip(targets, found, strict=True)]
    return (
        chosen,
        cotangents,
        places,
        full[: len(places)],
        dict(zip(weights, full[len(places) :], strict=True)),
    )


def _gradients(plan: Any, cell: Any, pairs: dict[str, Any], arguments: list[Any]) -> str:
    import mindspore

    chosen, cotangents, places, inputs, weights = plan
    given = {place: to_mindspore(c) for place, c in zip(chosen, cotangents, strict=True)}
    kept = [name for name in weights if pairs[name].requires_grad]

    def loss(*values: Any) -> Any:
        total = None
        for place, output in enumerate(flat(cell(*values))):
            if place in given:
                part = (output * given[place]).sum()
                total = part if total is None else total + part
        return total

    try:
        trained = mindspore.ParameterTuple([pairs[name] for name in kept]) if kept else None
        compute = mindspore.grad(loss, tuple(places) if places else None, weights=trained)
        found = to_torch(compute(*arguments))
    except Exception as error:
        return failure(error)
    ours = flat(found)
    theirs = [*inputs, *(weights[name] for name in kept)]
    names = [f"input {i}" for i in places] + kept
    worst = AGREES
    for name, left, right in zip(names, theirs, ours, strict=True):
        verdict = judged(left, right.reshape(left.shape), gradient=True)
        if not verdict.startswith(AGREES):
            return verdict.replace(":", f": {name}:", 1)
        worst = verdict if worst == AGREES else worst
    return worst


def _compiled(
    expected: Any, cell: Any, arguments: list[Any], gradients: Callable[[], str] | None
) -> str:
    import mindspore

    try:
        cell.construct = mindspore.jit(cell.construct)
        found = to_torch(cell(*arguments))
    except Exception as error:
        return failure(error)
    verdict = judged(_plain(expected), found)
    return repeated(gradients) if gradients and verdict.startswith(AGREES) else verdict


def _plain(value: Any) -> Any:
    import torch

    if torch.is_tensor(value):
        return value.detach()
    return tuple(map(_plain, value)) if isinstance(value, (list, tuple)) else value


def program(key: str) -> tuple[list[Layer | str], str]:
    """All samples, and the program that defines them."""
    own = key.startswith(OWN)
    layers = list(_own_layers(key.removeprefix(OWN)) if own else layers_of(key))
    pieces = [
        layer.text.replace("{name}", f"Sample{place}")
        for place, layer in enumerate(layers)
        if isinstance(layer, Layer)
    ]
    return layers, "import torch\n\n\n" + "\n\n".join(pieces)


def run_case(key: str, folder: Path, start: int, note: Any) -> None:
    """Note every sample of one module."""
    from migrate.verify.session import at_the_edge, ported_programs, without_batch

    layers, text = program(key)
    both = ported_programs(text, folder)
    note({"trials": len(layers)})
    for place, layer in enumerate(layers):
        record = {"place": place, "variant": "function", "dtype": "float32"}
        if place < start:
            continue
        if isinstance(layer, str):
            note({**record, "api": f"torch.{key.removeprefix(PREFIX)}", "skipped": layer})
            continue
        record |= {"api": layer.api}
        note({**record, "begins": True})
        name = f"Sample{place}"
        outcome = both.refusal(name)
        if outcome is None:
            try:
                outcome = run_layer(layer, getattr(both.theirs, name), getattr(both.ours, name))
            except Exception as error:
                outcome = {"skipped": f"{type(error).__name__}: {error}"[:200]}
        if edge := at_the_edge(layer.inputs) or without_batch(layer.api, layer.inputs):
            record["edge"] = edge
        if any(not text.startswith("agrees") for text in outcome.values()):
            made = next(line for line in layer.text.splitlines() if "self.layer =" in line)
            record["call"] = made.strip().removeprefix("self.layer = ")
        note({**record, **outcome})

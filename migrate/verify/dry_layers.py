"""Layers, optimizers and schedules on MindSpore's Ascend backend without a device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from migrate.verify import layers, training
from migrate.verify.bridge import to_mindspore
from migrate.verify.dry_run import run_stages
from migrate.verify.session import (
    Both,
    Note,
    at_the_edge,
    ported_programs,
    reaching,
    renew,
    without_batch,
)

_SAMPLES = 4
_LOW = ("float16", "bfloat16")
_EPOCHS = 3
_COMPILED = 2  # configurations of an optimizer
_BY_VALUES = {"torch.optim.LBFGS": "decides by values, which a dry run lacks, how often to step"}


def run_layers(key: str, folder: Path, start: int, note: Note) -> None:
    """Some samples in float32, the first also in two bytes."""
    samples, text = layers.program(key)
    both = ported_programs(text, folder)
    usable = [
        (f"Sample{place}", layer)
        for place, layer in enumerate(samples)
        if isinstance(layer, layers.Layer)
    ]
    usable.sort(key=lambda pair: bool(_edge(pair[1])))
    chosen = [(name, layer, "float32") for name, layer in usable[:_SAMPLES]]
    chosen += [(name, layer, dtype) for dtype in _LOW for name, layer in usable[:1]]
    note({"trials": len(chosen)})
    for place, (name, layer, dtype) in enumerate(chosen):
        if place < start:
            continue
        record = {"place": place, "api": layer.api, "variant": "function", "dtype": dtype}
        if edge := _edge(layer):
            record["edge"] = edge
        note({**record, "begins": True})
        graph = place == 0
        outcome = _refusal(both, name, record)
        if outcome is None:
            outcome = _run_layer(both, name, layer, dtype, note, graph=graph)
        note({**record, **outcome})
        renew(record, outcome, place + 1 < len(chosen), note)


def _edge(layer: layers.Layer) -> str:
    return at_the_edge(layer.inputs) or without_batch(layer.api, layer.inputs)


def _refusal(both: Both, name: str, record: dict[str, Any]) -> dict[str, str] | None:
    stopped = both.refusal(name)
    if stopped is not None:
        record["by_porter"] = True
    return stopped


def _run_layer(
    both: Both, name: str, layer: layers.Layer, dtype: str, note: Note, *, graph: bool
) -> dict[str, str]:
    import mindspore

    given = getattr(mindspore, dtype)
    try:
        cell = getattr(both.ours, name)(*map(to_mindspore, layer.build))
    except Exception as error:
        return {"forward": f"program failed: {type(error).__name__}: {error}"[:240]}
    cell.set_train(layer.training)
    if dtype != "float32":
        for parameter in cell.get_parameters():
            if parameter.dtype == mindspore.float32:
                parameter.set_dtype(given)
    arguments = [_cast(to_mindspore(value), given) for value in layer.inputs]
    places = tuple(i for i, value in enumerate(layer.inputs) if bool(value.requires_grad))
    trained = cell.trainable_params()

    def compiled() -> Any:
        cell.construct = mindspore.jit(cell.construct)
        return cell

    return run_stages(
        cell,
        arguments,
        reaching(note),
        places=places,
        weights=mindspore.ParameterTuple(trained) if trained else None,
        graph=graph,
        compiled=compiled,
    )


def _cast(value: Any, dtype: Any) -> Any:
    import mindspore

    return value.astype(dtype) if value.dtype == mindspore.float32 else value


def run_training(key: str, folder: Path, start: int, note: Note) -> None:
    """An update in each configuration of an optimizer, or some epochs of a schedule."""
    api, calls, text = training.program(key)
    both = ported_programs(text, folder)
    note({"trials": len(calls)})
    for place in range(start, len(calls)):
        record = {"place": place, "api": api, "variant": "function", "dtype": "float32"}
        note({**record, "begins": True})
        outcome = _refusal(both, f"sample_{place}", record)
        if outcome is None:
            make = getattr(both.ours, f"sample_{place}")
            if api in _BY_VALUES:
                note({**record, "skipped": _BY_VALUES[api]})
                continue
            schedule = key.startswith(training.SCHEDULE)
            outcome = (
                _run_schedule(make, training.shapes_of(key), note)
                if schedule
                else _run_optimizer(make, training.shapes_of(key), note, graph=place < _COMPILED)
            )
        note({**record, **outcome})
        renew(record, outcome, place + 1 < len(calls), note)


def _run_optimizer(make: Any, shapes: Any, note: Note, *, graph: bool) -> dict[str, str]:
    _, parameters = training.parameters(shapes)
    made: list[Any] = []

    def update(*gradients: Any) -> Any:
        return made[0](gradients)

    def first(*gradients: Any) -> Any:
        made.append(make(parameters))
        return update(*gradients)

    def compiled() -> Any:
        import mindspore

        optimizer = make(training.parameters(shapes)[1])

        def inside(*gradients: Any) -> Any:
            return optimizer(gradients)

        return mindspore.jit(inside)

    gradients = [to_mindspore(value) for value in training.parameters(shapes)[0]]
    return run_stages(first, gradients, reaching(note), graph=graph, compiled=compiled)


def _run_schedule(make: Any, shapes: Any, note: Note) -> dict[str, str]:
    """Schedules are arithmetic of the host; what they write into the optimizer is not."""

    def epochs() -> None:
        optimizer, schedule = make(training.parameters(shapes)[1])
        plateau = "Plateau" in type(schedule).__name__
        for _ in range(_EPOCHS):
            float(optimizer.param_groups[0]["lr"])
            schedule.step(*((1.0,) if plateau else ()))

    return run_stages(epochs, (), reaching(note))

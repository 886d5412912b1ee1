"""One training step (or one evaluation) of the model that a TARGET names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindspore
from mindspore import nn

from migrate.errors import RequestError
from migrate.parity.mindspore_side import amp, call
from migrate.parity.request import inputs, losses, optimizers, plan, target
from migrate.parity.workers.worker_main import Progress
from migrate.preflight.child.building import Building
from migrate.preflight.child.line_markers import LineMarkers

_LOSS_SCALE = 1024.0


def take_step(
    job: dict[str, Any], built: Building, markers: LineMarkers, progress: Progress
) -> None:
    """Run the model as training would."""
    what = plan.from_json(job["plan"])
    mindspore.set_seed(what.seed)
    model = built.model_on_ascend(markers.files, progress)
    if not isinstance(model, nn.Cell):
        raise RequestError(
            f"gives a {type(model).__name__}, not a mindspore.nn.Cell",
            where=job["target"],
            next_step="name the ported model: `ms-migrate port DIR -o OUT` writes one",
        )
    model.set_train(what.train)
    network: Any = model
    if what.amp != "O0":
        network = amp.lower(
            model, what.amp, "by cells" if what.amp == "O1" else "", progress.folder
        )
        network.set_train(what.train)
    arrays = inputs.draw(what.inputs, what.seed)
    flat, forward = call.caller(network, arrays, list(arrays), progress.folder)
    given = tuple(flat.values())
    step = _training_step(job, what, model, forward) if what.train else forward
    if job["mode"] == "graph":
        step = mindspore.jit(step)
    markers.start()
    for index in range(what.steps):
        progress.enter(f"step {index + 1} of {what.steps}")
        step(*given)
        mindspore.runtime.synchronize()
    progress.enter("done")


def _training_step(
    job: dict[str, Any], what: plan.Plan, model: nn.Cell, forward: Callable[..., Any]
) -> Callable[..., Any]:
    """Loss, gradients of the trainable parameters, and the optimizer's update."""
    loss_of = _loss(job, what)
    scale = _LOSS_SCALE if what.amp != "O0" else 1.0
    trainable = model.trainable_params()
    if not trainable:
        return forward
    optimizer = _optimizer(job, what, model, trainable)

    def scaled_loss(*given: Any) -> Any:
        return loss_of(forward(*given)) * scale

    gradients_of = mindspore.value_and_grad(
        scaled_loss, None, mindspore.ParameterTuple(optimizer.parameters)
    )
    divide = mindspore.ops.HyperMap()
    average = nn.DistributedGradReducer(optimizer.parameters) if job["ranks"] > 1 else None

    def step(*given: Any) -> Any:
        loss, gradients = gradients_of(*given)
        if scale != 1.0:
            gradients = divide(mindspore.ops.partial(_divided, scale), gradients)
        if average is not None:
            gradients = average(gradients)
        optimizer(gradients)
        return loss

    return step


def _divided(scale: float, gradient: Any) -> Any:
    return gradient / scale


def _optimizer(job: dict[str, Any], what: plan.Plan, model: nn.Cell, trainable: list[Any]) -> Any:
    if job["optimizer_target"]:
        return target.load(target.parse(job["optimizer_target"]))(model)
    name, settings = optimizers.parse(what.optimizer)
    by_name = {parameter.name: parameter for parameter in trainable}
    return optimizers.mindspore_optimizer(name, settings, by_name)


def _loss(job: dict[str, Any], what: plan.Plan) -> Callable[[Any], Any]:
    goal: Any = None
    if what.target is not None:
        goal = mindspore.Tensor(next(iter(inputs.draw([what.target], what.seed + 1).values())))
    if job["loss_target"]:
        own = target.load(target.parse(job["loss_target"]))
        function = own() if isinstance(own, type) else own

        def by_user(output: Any) -> Any:
            return function(output, goal)

        return by_user
    name, options = losses.parse(what.loss)
    if name == "project":
        return _mean_of_outputs
    inner = losses.mindspore_loss(name, options)
    classes = what.classes

    def on_first(output: Any) -> Any:
        first = _tensors(output)[0].astype(mindspore.float32)
        wanted = _class_numbers(first, classes) if goal is None else goal
        logits, wanted = losses.class_axis(name, first, wanted)
        return inner(logits, wanted)

    return on_first


def _class_numbers(output: Any, classes: Any) -> Any:
    """A target for cross entropy: one class for each position, on the last axis or on axis 1."""
    shape = output.shape
    if len(shape) > 2 and shape[-1] == classes:
        return mindspore.ops.zeros(shape[:-1], mindspore.int32)
    return mindspore.ops.zeros((shape[0], *shape[2:]), mindspore.int32)


def _mean_of_outputs(output: Any) -> Any:
    """Without a loss of the user's: every floating-point output counts, so that all of it has a
    gradient.
    """
    total = 0.0
    for tensor in _tensors(output):
        if tensor.dtype in (
            mindspore.float16,
            mindspore.float32,
            mindspore.float64,
            mindspore.bfloat16,
        ):
            total = total + tensor.astype(mindspore.float32).mean()
    return total


def _tensors(output: Any) -> list[Any]:
    """The tensors in an output, in code that MindSpore can compile."""
    if isinstance(output, mindspore.Tensor):
        return [output]
    found = []
    if isinstance(output, dict):
        for item in output.values():
            found += _tensors(item)
    elif isinstance(output, (tuple, list)):
        for item in output:
            found += _tensors(item)
    return found

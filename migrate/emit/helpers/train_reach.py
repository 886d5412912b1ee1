"""Parameters that a loss does not reach: torch leaves their gradient None, and its optimizers pass
them by, without decay and without momentum.

mindspore.value_and_grad gives zeros for them, which are gradients to an optimizer. A backward pass
over the record of a forward pass tells the two apart.
"""

import mindspore
from mindspore import Parameter, Tensor, ops
from mindspore._c_expression import run_backward
from mindspore.common.recompute import _pynative_executor


def recorded_gradients(function, inputs, weights):
    """The loss, and the gradient of each weight: None where the loss does not depend on it."""
    on = _pynative_executor.grad_flag()
    _pynative_executor.set_grad_flag(True)
    _pynative_executor.set_enable_grad(True)
    try:
        loss = function(*inputs)
        trained = [p for p in weights if p.requires_grad]
        if not trained or not loss._has_auto_grad():
            return loss, [None] * len(weights)
        ways = (False, False, tuple(trained), True)
        found = run_backward((loss,), (ops.ones_like(loss),), *ways, accumulate_grad=False)
    finally:
        _pynative_executor.set_grad_flag(on)
    by_weight = {id(p): gradient for p, gradient in zip(trained, found, strict=True)}
    return loss, [by_weight.get(id(p)) for p in weights]


def mark_missing(weights, missing):
    """Note at each parameter whether the gradient that was just computed is torch's None."""
    for parameter, is_missing in zip(weights, missing, strict=True):
        parameter.has_no_gradient = is_missing


def with_zeros(weights, gradients):
    """Gradients for all: zeros where there is none, with a note at the parameter."""
    mark_missing(weights, [gradient is None for gradient in gradients])
    pairs = zip(weights, gradients, strict=True)
    return tuple(ops.zeros_like(p) if gradient is None else gradient for p, gradient in pairs)


def without_frozen(weights, gradients, missing):
    """Zeros, with a note, for frozen weights, too: MindSpore computes their gradients."""
    gone = [one or not p.requires_grad for one, p in zip(missing, weights, strict=True)]
    mark_missing(weights, gone)
    pairs = zip(gone, gradients, strict=True)
    return tuple(ops.zeros_like(gradient) if one else gradient for one, gradient in pairs)


def unreached(function, inputs, weights, gradients, untrained):
    """Which weights a compiled step does not reach, asked once: only zeros are in question."""
    zero = [not gradient.asnumpy().any() for gradient in gradients]
    if not any(zero):
        return zero
    before = [(parameter, parameter.copy()) for parameter in untrained]
    mode = mindspore.get_context("mode")
    mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
    try:
        _, found = recorded_gradients(function, inputs, weights)
    finally:
        mindspore.set_context(mode=mode)
        for parameter, value in before:
            ops.assign(parameter, value)
    return [is_zero and one is None for is_zero, one in zip(zero, found, strict=True)]


def apply_to_reached(optimizer, gradients, step):
    """step(gradients), as torch's optimizers do it: parameters without a gradient stay as they are,
    and each parameter counts its own steps. One that is frozen may have a gradient from before.
    """
    parameters = list(optimizer.parameters)
    active = [
        place
        for place, parameter in enumerate(parameters)
        if not getattr(parameter, "has_no_gradient", not parameter.requires_grad)
    ]
    counts = vars(optimizer).get("_steps_taken")
    if counts is None and len(active) == len(parameters):
        return step(gradients)
    total = getattr(optimizer, "state_step", None)
    if counts is None:
        taken = int(total.asnumpy()) if isinstance(total, Parameter) else 0
        counts = [taken] * len(parameters)
        object.__setattr__(optimizer, "_steps_taken", counts)
    for count in sorted({counts[place] for place in active}):
        chosen = {place for place in active if counts[place] == count}
        if isinstance(total, Parameter):
            ops.assign(total, Tensor(count, total.dtype))
        before = _values_except(optimizer, chosen)
        step(gradients)
        for parameter, value in before:
            ops.assign(parameter, value)
    for place in active:
        counts[place] += 1
    if isinstance(total, Parameter):
        ops.assign(total, Tensor(max(counts), total.dtype))
    return True


def _values_except(optimizer, chosen):
    """The other parameters and what the optimizer remembers of them, to be put back."""
    size = len(optimizer.parameters)
    rows = [optimizer.parameters]
    rows += [
        row
        for row in vars(optimizer).values()
        if isinstance(row, (tuple, list))
        and len(row) == size
        and row is not optimizer.parameters
        and all(isinstance(one, Parameter) for one in row)
    ]
    others = [place for place in range(size) if place not in chosen]
    return [(row[place], row[place].copy()) for row in rows for place in others]

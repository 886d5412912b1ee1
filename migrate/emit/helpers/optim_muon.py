"""torch.optim.Muon, which MindSpore lacks."""

import math
from functools import partial

import mindspore
from mindspore import ops

from migrate.emit.helpers.optim_mapped import MappedOptimizer


def _as_bfloat16(x):
    """Rounded as torch's bfloat16 results are; MindSpore multiplies no bfloat16 on CPU."""
    return x.astype(mindspore.bfloat16).astype(mindspore.float32)


def _newton_schulz(update, coefficients, steps, eps):
    """Newton-Schulz iteration towards the nearest orthogonal matrix."""
    first, second, third = coefficients
    tall = update.shape[0] > update.shape[1]
    matrix = _as_bfloat16(update)
    matrix = matrix.T if tall else matrix
    length = _as_bfloat16(ops.sqrt((matrix * matrix).sum()))
    matrix = _as_bfloat16(matrix / ops.maximum(length, eps))
    for _ in range(steps):
        gram = _as_bfloat16(ops.matmul(matrix, matrix.T))
        change = _as_bfloat16(second * gram + third * ops.matmul(gram, gram))
        matrix = _as_bfloat16(first * matrix + ops.matmul(change, matrix))
    return matrix.T if tall else matrix


def _muon(lr, numbers, newton, adjust, param, grad, buffer):
    weight_decay, momentum, nesterov = numbers
    coefficients, steps, eps = newton
    rows, columns = param.shape
    ops.assign(buffer, momentum * buffer + (1 - momentum) * grad)
    change = buffer
    if nesterov:
        change = (1 - momentum) * grad + momentum * buffer
    ratio = math.sqrt(max(1.0, rows / columns))
    if adjust == "match_rms_adamw":
        ratio = 0.2 * math.sqrt(max(rows, columns))
    change = _newton_schulz(change, coefficients, steps, eps)
    ops.assign(param, param * (1 - lr * weight_decay) - lr * ratio * change)
    return True


class Muon(MappedOptimizer):
    """Momentum whose update is made orthogonal; for matrices only."""

    def __init__(
        self,
        params,
        lr=0.001,
        weight_decay=0.1,
        momentum=0.95,
        nesterov=True,
        ns_coefficients=(3.4445, -4.775, 2.0315),
        eps=1e-07,
        ns_steps=5,
        adjust_lr_fn=None,
    ):
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)
        for parameter in self.parameters:
            if parameter.ndim != 2:
                raise ValueError(f"Muon takes matrices only, not a shape of {parameter.shape}")
        self.buffers = self.moments("momentum_buffer")

    @mindspore.jit
    def update(
        self,
        gradients,
        number,
        lr,
        weight_decay,
        momentum,
        nesterov,
        ns_coefficients,
        eps,
        ns_steps,
        adjust_lr_fn,
    ):
        """One step for the parameters of one group."""
        start, end = self.group_start_id[number], self.group_start_id[number + 1]
        newton = ns_coefficients, ns_steps, eps
        step = partial(_muon, lr, (weight_decay, momentum, nesterov), newton, adjust_lr_fn)
        self.hyper_map(step, self.parameters[start:end], gradients, self.buffers[start:end])
        return True

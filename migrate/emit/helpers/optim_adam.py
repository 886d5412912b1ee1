"""torch.optim.Adam and AdamW; MindSpore's Adam adds eps before the bias correction."""

from functools import partial

import mindspore
from mindspore import Parameter, Tensor, ops

from migrate.emit.helpers.helper_origin import uses
from migrate.emit.helpers.optim_mapped import MappedOptimizer

_LARGEST = uses("largest moments")  # asked here: compiled code cannot ask


def weight_decayed(param, grad, lr, weight_decay, decoupled):
    """The gradient, after the weight decay has gone into it or into the weights."""
    if decoupled:
        ops.assign(param, param * (1 - lr * weight_decay))
    elif weight_decay != 0:
        grad = grad + weight_decay * param
    return grad


def _adam(rates, decay, betas, eps, param, grad, mean, square):
    grad = weight_decayed(param, grad, rates[0], *decay)
    ops.Adam()(param, mean, square, rates[1], rates[2], rates[0], betas[0], betas[1], eps, grad)
    return True


def _wide_adam(rates, decay, betas, eps, param, grad, mean, square):
    """The same without the kernel, which has no double precision."""
    lr, power1, power2 = [ops.cast(rate, param.dtype) for rate in rates]
    beta1, eps = ops.cast(betas[0], param.dtype), ops.cast(eps, param.dtype)
    grad = weight_decayed(param, grad, lr, *decay)
    ops.assign(mean, beta1 * mean + (1 - beta1) * grad)
    ops.assign(square, betas[1] * square + (1 - betas[1]) * grad * grad)
    step_size = lr * ops.sqrt(1 - power2) / (1 - power1)
    ops.assign(param, param - step_size * mean / (ops.sqrt(square) + eps))
    return True


def _amsgrad(rates, decay, betas, eps, param, grad, mean, square, largest):
    lr, power1, power2 = rates
    grad = weight_decayed(param, grad, lr, *decay)
    ops.assign(mean, betas[0] * mean + (1 - betas[0]) * grad)
    ops.assign(square, betas[1] * square + (1 - betas[1]) * grad * grad)
    ops.assign(largest, ops.maximum(largest, square))
    step_size = lr * ops.sqrt(1 - power2) / (1 - power1)
    ops.assign(param, param - step_size * mean / (ops.sqrt(largest) + eps))
    return True


class Adam(MappedOptimizer):
    """Adam with torch's arithmetic; weight decay goes into the gradient unless it is decoupled."""

    def __init__(
        self,
        params,
        lr=0.001,
        betas=(0.9, 0.999),
        eps=1e-08,
        weight_decay=0,
        amsgrad=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
        fused=None,
        decoupled_weight_decay=False,
    ):
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)
        # Parameters, so that a schedule can change them without a new compilation.
        self.beta1s = [
            Parameter(Tensor(group["betas"][0], mindspore.float32), name=f"beta1_group_{number}")
            for number, group in enumerate(self.param_groups)
        ]
        self.exp_avg = self.moments("exp_avg")
        self.exp_avg_sq = self.moments("exp_avg_sq")
        # Without amsgrad the running maximum is never read: no memory for it.
        self.max_exp_avg_sq = self.exp_avg_sq
        if _LARGEST and any(group["amsgrad"] for group in self.param_groups):
            self.max_exp_avg_sq = self.moments("max_exp_avg_sq")

    @mindspore.jit
    def update(self, gradients, number, lr, betas, eps, weight_decay, amsgrad, decoupled):
        """One step for the parameters of one group."""
        start, end = self.group_start_id[number], self.group_start_id[number + 1]
        params, means = self.parameters[start:end], self.exp_avg[start:end]
        squares = self.exp_avg_sq[start:end]
        beta1, beta2 = self.beta1s[number], betas[1]
        rates = lr, ops.pow(beta1, self.state_step), ops.pow(beta2, self.state_step)
        # MindSpore's kernel corrects the mean and the square at once: eps has to follow.
        eps = eps * ops.sqrt(1 - rates[2])
        if _LARGEST:  # noqa: SIM102 (compiled, `and` is no constant)
            if amsgrad:
                largest = self.max_exp_avg_sq[start:end]
                step = partial(_amsgrad, rates, (weight_decay, decoupled), (beta1, beta2), eps)
                self.hyper_map(step, params, gradients, means, squares, largest)
                return True
        one = _wide_adam if self.wide else _adam
        step = partial(one, rates, (weight_decay, decoupled), (beta1, beta2), eps)
        self.hyper_map(step, params, gradients, means, squares)
        return True


class AdamW(Adam):
    """AdamW: the decay goes into the weights."""

    def __init__(
        self,
        params,
        lr=0.001,
        betas=(0.9, 0.999),
        eps=1e-08,
        weight_decay=0.01,
        amsgrad=False,
        *,
        maximize=False,
        foreach=None,
        capturable=False,
        differentiable=False,
        fused=None,
    ):
        decay, largest = weight_decay, amsgrad
        super().__init__(
            params, lr, betas, eps, decay, largest, maximize=maximize, decoupled_weight_decay=True
        )

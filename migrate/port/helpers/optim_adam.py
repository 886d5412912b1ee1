"""torch.optim.Adam; MindSpore's own adds eps before the bias correction."""

import mindspore
from mindspore import Parameter, Tensor, ops
from mindspore.experimental import optim


class Adam(optim.Optimizer):
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
        self.state_step = Parameter(Tensor(0, mindspore.float32), name="state_step")
        self.exp_avg = self.parameters.clone(prefix="exp_avg", init="zeros")
        self.exp_avg_sq = self.parameters.clone(prefix="exp_avg_sq", init="zeros")
        # Without amsgrad the running maximum is never read: no memory for it.
        self.max_exp_avg_sq = self.exp_avg_sq
        if any(group["amsgrad"] for group in self.param_groups):
            self.max_exp_avg_sq = self.parameters.clone(prefix="max_exp_avg_sq", init="zeros")

    @mindspore.jit
    def update(self, lr, beta1, beta2, eps, weight_decay, flags, gradients, start, end):
        """One step for the parameters of one group."""
        amsgrad, maximize, decoupled = flags
        step_size = lr / (1 - ops.pow(beta1, self.state_step))
        correction = ops.sqrt(1 - ops.pow(beta2, self.state_step))
        for index in range(start, end):
            param, grad = self.parameters[index], gradients[index]
            mean, square = self.exp_avg[index], self.exp_avg_sq[index]
            if maximize:
                grad = -grad
            decay = 1.0
            if decoupled:
                decay = 1 - lr * weight_decay
            elif weight_decay != 0:
                grad = grad + weight_decay * param
            ops.assign(mean, beta1 * mean + (1 - beta1) * grad)
            ops.assign(square, beta2 * square + (1 - beta2) * grad * grad)
            if amsgrad:
                ops.assign(
                    self.max_exp_avg_sq[index], ops.maximum(self.max_exp_avg_sq[index], square)
                )
                square = self.max_exp_avg_sq[index]
            ops.assign(
                param, decay * param - step_size * mean / (ops.sqrt(square) / correction + eps)
            )
        return True

    def construct(self, gradients):
        ops.assign_add(self.state_step, 1.0)
        for number, group in enumerate(self.param_groups):
            flags = (group["amsgrad"], group["maximize"], group["decoupled_weight_decay"])
            lr = self.lrs[number]
            if isinstance(group.get("lr"), float):
                lr = ops.cast(group.get("lr"), mindspore.float32)
            self.update(
                lr,
                self.beta1s[number],
                group["betas"][1],
                group["eps"],
                group["weight_decay"],
                flags,
                gradients,
                self.group_start_id[number],
                self.group_start_id[number + 1],
            )
        return True

"""torch's learning rate schedules that MindSpore lacks or calls with a Tensor for the epoch."""

import math

import mindspore
from mindspore import Parameter, Tensor, ops
from mindspore.experimental.optim import lr_scheduler


class LambdaLR(lr_scheduler.LambdaLR):
    """Multiply the first learning rate by a function of the epoch, an int as in torch."""

    def get_lr(self):
        epoch = int(self.last_epoch)
        return [
            lr * factor(epoch) for factor, lr in zip(self.lr_lambdas, self.base_lrs, strict=True)
        ]


class MultiplicativeLR(lr_scheduler.MultiplicativeLR):
    """Multiply the last learning rate by a function of the epoch, an int as in torch."""

    def get_lr(self):
        epoch = int(self.last_epoch)
        if epoch == 0:
            return [lr * 1.0 for lr in self._last_lr]
        return [
            lr * factor(epoch) for factor, lr in zip(self.lr_lambdas, self._last_lr, strict=True)
        ]


class MultiStepLR(lr_scheduler.MultiStepLR):
    """Multiply the learning rate by gamma at every milestone; step(epoch) goes to any epoch, for
    which MindSpore's own has the formula of another schedule.
    """

    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        self.ends = sorted(int(milestone) for milestone in milestones)
        super().__init__(optimizer, list(self.ends), float(gamma), last_epoch)

    def _get_closed_form_lr(self):
        passed = sum(end <= int(self.last_epoch) for end in self.ends)
        return [lr * self.gamma**passed for lr in self.base_lrs]


def _log(value, base):
    return math.log(float(value), base)


class CosineAnnealingWarmRestarts(lr_scheduler.CosineAnnealingWarmRestarts):
    """Cosines that start again, each T_mult times as long; MindSpore's own takes a logarithm that
    it does not have when step(epoch) goes past the first of them.
    """

    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1):
        super().__init__(optimizer, T_0, T_mult, eta_min, last_epoch)
        self.log = _log


class ChainedScheduler:
    """Step several schedules of one optimizer together; each changes what the one before left."""

    def __init__(self, schedulers, optimizer=None):
        self.schedulers = list(schedulers)
        self.optimizer = optimizer or self.schedulers[0].optimizer

    def step(self):
        for scheduler in self.schedulers:
            scheduler.step()

    def get_last_lr(self):
        return self.schedulers[-1].get_last_lr()


def _momentums(optimizer):
    """The momentum (or beta1) of each group as a Parameter that a schedule can change."""
    if hasattr(optimizer, "beta1s"):
        return optimizer.beta1s
    for number, group in enumerate(optimizer.param_groups):
        if "momentum" not in group:
            raise NotImplementedError(
                f"cycle_momentum=True cannot change {type(optimizer).__name__}: "
                "pass cycle_momentum=False"
            )
        if not isinstance(group["momentum"], Parameter):
            start = Tensor(group["momentum"], mindspore.float32)
            group["momentum"] = Parameter(start, name=f"momentum_group_{number}")
    return [group["momentum"] for group in optimizer.param_groups]


def _one_per_group(optimizer, value):
    groups = len(optimizer.param_groups)
    return list(value) if isinstance(value, (list, tuple)) else [value] * groups


class OneCycleLR(lr_scheduler.LRScheduler):
    """Learning rate up to max_lr and down again, momentum the other way round."""

    def __init__(
        self,
        optimizer,
        max_lr,
        total_steps=None,
        epochs=None,
        steps_per_epoch=None,
        pct_start=0.3,
        anneal_strategy="cos",
        cycle_momentum=True,
        base_momentum=0.85,
        max_momentum=0.95,
        div_factor=25.0,
        final_div_factor=10000.0,
        three_phase=False,
        last_epoch=-1,
    ):
        if last_epoch != -1:
            raise NotImplementedError("last_epoch: load the state of the schedule instead")
        self.total_steps = total_steps or epochs * steps_per_epoch
        self.cosine = anneal_strategy == "cos"
        self.max_lrs = _one_per_group(optimizer, max_lr)
        self.div_factor, self.final_div_factor = div_factor, final_div_factor
        rise = float(pct_start * self.total_steps) - 1
        if three_phase:
            self.ends = (rise, 2 * rise, self.total_steps - 1)
            self.levels = ("start", "max", "start", "end")
        else:
            self.ends = (rise, self.total_steps - 1)
            self.levels = ("start", "max", "end")
        self.momentums = _momentums(optimizer) if cycle_momentum else []
        self.base_momentums = _one_per_group(optimizer, base_momentum)
        self.max_momentums = _one_per_group(optimizer, max_momentum)
        super().__init__(optimizer)
        self._note_in_groups(optimizer)

    def _note_in_groups(self, optimizer):
        """torch's schedule reads its ends from the groups, also after a checkpoint was loaded."""
        self.base_lrs = [top / self.div_factor for top in self.max_lrs]
        for number, group in enumerate(optimizer.param_groups):
            start = self.base_lrs[number]
            group.update(initial_lr=start, max_lr=self.max_lrs[number])
            group["min_lr"] = start / self.final_div_factor
            if self.momentums:
                group["max_momentum"] = self.max_momentums[number]
                group["base_momentum"] = self.base_momentums[number]

    def _between(self, values):
        """The value at this step on the way through the phases."""
        step = int(self.last_epoch)
        if step > self.total_steps:
            raise ValueError(f"step {step} of a cycle of {self.total_steps}")
        begin = 0
        for end, first, last in zip(self.ends, values, values[1:], strict=False):
            if step <= end or end == self.ends[-1]:
                share = (step - begin) / (end - begin)
                if self.cosine:
                    return last + (first - last) * (1 + math.cos(math.pi * share)) / 2
                return first + (last - first) * share
            begin = end
        return values[-1]

    def get_lr(self):
        rates = []
        for top in self.max_lrs:
            start = top / self.div_factor
            level = {"start": start, "max": top, "end": start / self.final_div_factor}
            rates.append(
                Tensor(self._between([level[name] for name in self.levels]), mindspore.float32)
            )
        return rates

    def step(self, epoch=None):
        super().step(epoch)
        for momentum, low, high in zip(
            self.momentums, self.base_momentums, self.max_momentums, strict=False
        ):
            values = [low if name == "max" else high for name in self.levels]
            ops.assign(momentum, Tensor(self._between(values), mindspore.float32))


class CyclicLR(lr_scheduler.CyclicLR):
    """MindSpore's CyclicLR, with the momentum that torch moves against the learning rate."""

    def __init__(
        self,
        optimizer,
        base_lr,
        max_lr,
        step_size_up=2000,
        step_size_down=None,
        mode="triangular",
        gamma=1.0,
        scale_fn=None,
        scale_mode="cycle",
        cycle_momentum=True,
        base_momentum=0.8,
        max_momentum=0.9,
        last_epoch=-1,
    ):
        self.low_lrs = _one_per_group(optimizer, base_lr)
        self.high_lrs = _one_per_group(optimizer, max_lr)
        self.momentums = _momentums(optimizer) if cycle_momentum else []
        self.base_momentums = _one_per_group(optimizer, base_momentum)
        self.max_momentums = _one_per_group(optimizer, max_momentum)
        super().__init__(
            optimizer,
            base_lr,
            max_lr,
            step_size_up=step_size_up,
            step_size_down=step_size_down,
            mode=mode,
            gamma=gamma,
            scale_fn=scale_fn,
            scale_mode=scale_mode,
            last_epoch=last_epoch,
        )

    def step(self, epoch=None):
        super().step(epoch)
        for number, momentum in enumerate(self.momentums):
            low, high = self.low_lrs[number], self.high_lrs[number]
            share = (float(self.optimizer.lrs[number]) - low) / (high - low)
            least, most = self.base_momentums[number], self.max_momentums[number]
            ops.assign(momentum, Tensor(most - (most - least) * share, mindspore.float32))

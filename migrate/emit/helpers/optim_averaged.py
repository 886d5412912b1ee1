"""torch.optim.swa_utils: averaged copies of a model, and their learning rate."""

import copy
import math

import mindspore
from mindspore import Tensor, nn, ops

from migrate.emit.helpers.modules_members import buffer, buffers, parameters
from migrate.emit.helpers.optim_groups import param_groups


class AveragedModel(nn.Cell):
    """A copy of a model whose parameters are averages: of equal shares, or as avg_fn says."""

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        self.module = copy.deepcopy(model)
        self.n_averaged = buffer(Tensor(0, mindspore.int64), "n_averaged")
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def construct(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def update_parameters(self, model):
        own, theirs = list(parameters(self.module)), list(parameters(model))
        if self.use_buffers:
            own, theirs = own + list(buffers(self.module)), theirs + list(buffers(model))
        count = int(self.n_averaged.asnumpy())
        if count == 0:
            for mine, new in zip(own, theirs, strict=True):
                ops.assign(mine, new)
        elif self.multi_avg_fn is not None:
            self.multi_avg_fn(own, theirs, count)
        else:
            average = self.avg_fn or get_swa_avg_fn()
            for mine, new in zip(own, theirs, strict=True):
                ops.assign(mine, average(mine, new, count).astype(mine.dtype))
        if not self.use_buffers:
            for mine, new in zip(buffers(self.module), buffers(model), strict=True):
                ops.assign(mine, new)
        ops.assign(self.n_averaged, Tensor(count + 1, mindspore.int64))


def get_swa_avg_fn():
    """Equal shares."""
    return lambda average, new, count: average + (new - average) / (count + 1)


def get_ema_avg_fn(decay=0.999):
    """Shares that fall off exponentially."""
    return lambda average, new, count: decay * average + (1 - decay) * new


def _for_all(function):
    def assign_all(averages, values, count):
        for average, value in zip(averages, values, strict=True):
            ops.assign(average, function(average, value, count).astype(average.dtype))

    return assign_all


def get_swa_multi_avg_fn():
    """Equal shares, all parameters together."""
    return _for_all(get_swa_avg_fn())


def get_ema_multi_avg_fn(decay=0.999):
    """Shares that fall off exponentially, all parameters together."""
    return _for_all(get_ema_avg_fn(decay))


def update_bn(loader, model, device=None):
    """Running statistics of the data as a whole: every batch has an equal share."""
    norms = [
        c for _, c in model.cells_and_names() if isinstance(c, (nn.BatchNorm1d, nn.BatchNorm2d))
    ]
    if not norms:
        return
    training = model.training
    model.set_train()
    sums = [[ops.zeros_like(norm.moving_mean), ops.zeros_like(norm.moving_mean)] for norm in norms]
    count = 0
    for batch in loader:
        for norm in norms:  # zeros, so that what comes is this batch's share alone
            ops.assign(norm.moving_mean, ops.zeros_like(norm.moving_mean))
            ops.assign(norm.moving_variance, ops.zeros_like(norm.moving_variance))
        model(batch[0] if isinstance(batch, (list, tuple)) else batch)
        count += 1
        for norm, sums_of_it in zip(norms, sums, strict=True):
            share = norm.momentum  # of the new batch: the layer keeps it as torch states it
            sums_of_it[0] = sums_of_it[0] + norm.moving_mean / share
            sums_of_it[1] = sums_of_it[1] + norm.moving_variance / share
    for norm, (mean, variance) in zip(norms, sums, strict=True):
        ops.assign(norm.moving_mean, mean / count)
        ops.assign(norm.moving_variance, variance / count)
    model.set_train(training)


class SWALR:
    """Go from the learning rate to swa_lr within anneal_epochs steps, and stay there."""

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        self.optimizer, self.anneal_epochs, self.count = optimizer, anneal_epochs, 0
        self.shape = {"cos": lambda t: (1 - math.cos(math.pi * t)) / 2, "linear": lambda t: t}[
            anneal_strategy
        ]
        groups = param_groups(optimizer)
        self.ends = list(swa_lr) if isinstance(swa_lr, (list, tuple)) else [swa_lr] * len(groups)

    def _share(self, count):
        return self.shape(max(0.0, min(1.0, count / max(1, self.anneal_epochs))))

    def step(self, epoch=None):
        self.count += 1
        before, now = self._share(self.count - 1), self._share(self.count)
        for group, end in zip(param_groups(self.optimizer), self.ends, strict=True):
            start = end if before == 1 else (group["lr"] - before * end) / (1 - before)
            group["lr"] = end * now + start * (1 - now)

    def get_last_lr(self):
        return [group["lr"] for group in param_groups(self.optimizer)]

    def state_dict(self):
        return {"count": self.count, "ends": self.ends}

    def load_state_dict(self, state_dict):
        self.count, self.ends = state_dict["count"], state_dict["ends"]

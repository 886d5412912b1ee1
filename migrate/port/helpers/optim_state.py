"""state_dict and load_state_dict for MindSpore's optimizers and schedules, which have none."""

from mindspore import Parameter, Tensor


def optimizer_state_dict(optimizer):
    """Everything the optimizer changes, learning rates included, by name as numpy arrays."""
    return {p.name: p.asnumpy() for p in [*optimizer.get_parameters(), *optimizer.lrs]}


def load_optimizer_state_dict(optimizer, state_dict):
    """Put back what optimizer_state_dict gave."""
    for parameter in [*optimizer.get_parameters(), *optimizer.lrs]:
        parameter.set_data(Tensor(state_dict[parameter.name], parameter.dtype))


def _counters(scheduler):
    return {name: value for name, value in vars(scheduler).items() if isinstance(value, Parameter)}


def scheduler_state_dict(scheduler):
    """The schedule's counters and the learning rates it last set."""
    state = {name: value.asnumpy().item() for name, value in _counters(scheduler).items()}
    state["last_lr"] = [float(lr) for lr in scheduler.get_last_lr()]
    inner = getattr(scheduler, "_schedulers", None) or getattr(scheduler, "schedulers", [])
    state["schedulers"] = [scheduler_state_dict(one) for one in inner]
    return state


def load_scheduler_state_dict(scheduler, state_dict):
    """Put back what scheduler_state_dict gave; the optimizer's learning rates follow."""
    inner = getattr(scheduler, "_schedulers", None) or getattr(scheduler, "schedulers", [])
    for one, state in zip(inner, state_dict["schedulers"], strict=True):
        load_scheduler_state_dict(one, state)
    for name, parameter in _counters(scheduler).items():
        parameter.set_data(Tensor(state_dict[name], parameter.dtype))
    for lr, value in zip(scheduler.optimizer.lrs, state_dict["last_lr"], strict=True):
        lr.set_data(Tensor(value, lr.dtype))

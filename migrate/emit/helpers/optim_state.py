"""state_dict and load_state_dict for MindSpore's optimizers and schedules, which have none."""

import numpy as np
from mindspore import Parameter, Tensor, ops


def _changing(optimizer):
    """What an optimizer changes besides the weights: moments, counters and learning rates."""
    weights = {id(p) for p in optimizer.parameters}
    moments = [p for p in optimizer.get_parameters() if id(p) not in weights]
    return [*moments, *optimizer.lrs]


def optimizer_state_dict(optimizer):
    """Everything the optimizer changes besides the weights, by name as numpy arrays."""
    changing = {p.name: p.asnumpy() for p in _changing(optimizer)}
    kept = _own_state(optimizer)
    return {**changing, "state": kept} if kept else changing


def _own_state(optimizer):
    """What an optimizer of the program's own keeps for each parameter, by the parameter's place."""
    return {
        place: {
            name: value.asnumpy() if isinstance(value, Tensor) else value
            for name, value in optimizer.state[parameter].items()
        }
        for place, parameter in enumerate(optimizer.parameters)
        if parameter in optimizer.state
    }


def load_optimizer_state_dict(optimizer, state_dict):
    """Put back what optimizer_state_dict gave, in the same order, or what torch's gave."""
    if "param_groups" in state_dict:
        _load_from_torch(optimizer, state_dict)
        return
    changing = _changing(optimizer)
    state_dict = dict(state_dict)
    for place, kept in state_dict.pop("state", {}).items():
        optimizer.state[optimizer.parameters[int(place)]] = {
            name: Tensor(value) if isinstance(value, np.ndarray) else value
            for name, value in kept.items()
        }
    if len(changing) != len(state_dict):
        raise ValueError(f"{len(state_dict)} values for an optimizer that has {len(changing)}")
    for parameter, value in zip(changing, state_dict.values(), strict=True):
        ops.assign(parameter, Tensor(value, parameter.dtype))


# What MindSpore's own optimizers call torch's moments.
_MOMENTS = {
    "momentum_buffer": ("momentum_buffer", "accum", "moment"),
    "square_avg": ("square_avg", "mean_square"),
    "grad_avg": ("grad_avg", "mean_grad"),
}


def _load_from_torch(optimizer, state_dict):
    """A converted checkpoint of torch's: moments by the place of their parameter, and rates."""
    for lr, group in zip(optimizer.lrs, state_dict["param_groups"], strict=True):
        ops.assign(lr, Tensor(float(group["lr"]), lr.dtype))
    order = [place for group in state_dict["param_groups"] for place in group["params"]]
    if len(order) != len(optimizer.parameters):
        raise ValueError(
            f"moments of {len(order)} parameters, and there are {len(optimizer.parameters)}"
        )
    for number, place in enumerate(order):
        for name, value in state_dict["state"].get(place, {}).items():
            value = getattr(value, "asnumpy", lambda value=value: value)()
            if name == "step":
                step = getattr(optimizer, "state_step", None)
                if step is not None:
                    ops.assign(step, Tensor(np.full(step.shape, value), step.dtype))
                continue
            if value is None:
                continue
            owners = [n for n in _MOMENTS.get(name, (name,)) if hasattr(optimizer, n)]
            if not owners:
                raise ValueError(f"{type(optimizer).__name__} has no {name}")
            moment = getattr(optimizer, owners[0])[number]
            if tuple(moment.shape) != tuple(np.shape(value)):
                raise ValueError(
                    f"{name} of parameter {place} has another shape: {np.shape(value)}"
                )
            ops.assign(moment, Tensor(value, moment.dtype))
            if name == "momentum_buffer":
                for first in (getattr(optimizer, n, None) for n in ("first", "stat")):
                    if first is not None:
                        ops.assign(first[number], ops.zeros_like(first[number]))


def _counters(scheduler):
    """What a schedule counts with: Parameters in most, plain numbers in ReduceLROnPlateau."""
    kinds = (Parameter, bool, int, float)
    return {name: value for name, value in vars(scheduler).items() if isinstance(value, kinds)}


def scheduler_state_dict(scheduler):
    """The schedule's counters and the learning rates it last set."""
    state = {
        name: value.asnumpy().item() if isinstance(value, Parameter) else value
        for name, value in _counters(scheduler).items()
    }
    state["last_lr"] = [float(lr) for lr in scheduler.optimizer.lrs]
    inner = getattr(scheduler, "_schedulers", None) or getattr(scheduler, "schedulers", [])
    state["schedulers"] = [scheduler_state_dict(one) for one in inner]
    return state


def load_scheduler_state_dict(scheduler, state_dict):
    """Put back what scheduler_state_dict gave, or torch's; the learning rates follow."""
    inner = getattr(scheduler, "_schedulers", None) or getattr(scheduler, "schedulers", [])
    of_torch = "_last_lr" in state_dict
    if of_torch:
        parts = state_dict.get("_schedulers", [])
        state_dict = {**state_dict, "last_lr": state_dict["_last_lr"], "schedulers": parts}
    for one, state in zip(inner, state_dict["schedulers"], strict=True):
        load_scheduler_state_dict(one, state)
    for name, value in _counters(scheduler).items():
        if of_torch and not isinstance(state_dict.get(name), (bool, int, float)):
            continue
        if isinstance(value, Parameter):
            ops.assign(value, Tensor(state_dict[name], value.dtype))
        else:
            setattr(scheduler, name, state_dict[name])
    for lr, value in zip(scheduler.optimizer.lrs, state_dict["last_lr"], strict=True):
        ops.assign(lr, Tensor(value, lr.dtype))


def set_last_epoch(scheduler, epoch):
    """Go on counting epochs from here: MindSpore's schedules keep the number in a Parameter."""
    held = getattr(scheduler, "last_epoch", None)
    if isinstance(held, Parameter):
        ops.assign(held, Tensor(epoch, held.dtype))
    else:
        scheduler.last_epoch = epoch

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
    """Put back what optimizer_state_dict gave, in the same order."""
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
    """Put back what scheduler_state_dict gave; the optimizer's learning rates follow."""
    inner = getattr(scheduler, "_schedulers", None) or getattr(scheduler, "schedulers", [])
    for one, state in zip(inner, state_dict["schedulers"], strict=True):
        load_scheduler_state_dict(one, state)
    for name, value in _counters(scheduler).items():
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

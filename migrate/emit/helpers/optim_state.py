"""state_dict and load_state_dict for MindSpore's optimizers and schedules, which have none."""

import mindspore
import numpy as np
from mindspore import Parameter, Tensor, ops

from migrate.emit.helpers.helper_origin import uses
from migrate.emit.helpers.modules_parameter_names import as_held
from migrate.emit.helpers.optim_groups import param_groups

# Rows of MindSpore's own optimizers under torch's names.
_MOMENTS = {
    "momentum_buffer": ("momentum_buffer", "buffers", "accum", "moment"),
    "square_avg": ("square_avg", "mean_square"),
    "grad_avg": ("grad_avg", "mean_grad"),
}
_OWN_NAMES = {own: name for name, owners in _MOMENTS.items() for own in owners}
_NO_MOMENTS = ("parameters", "lrs", "beta1s")


def _rows(optimizer):
    """What an optimizer remembers of each parameter, by torch's name."""
    found = {}
    for name, row in vars(optimizer).items():
        if name in _NO_MOMENTS or not isinstance(row, (tuple, list)):
            continue
        if len(row) != len(optimizer.parameters) or not all(isinstance(p, Parameter) for p in row):
            continue
        # In Graph mode a Cell keeps copies of tuples: the Parameters in them are the same.
        if all(row[0] is not other[0] for other in (optimizer.parameters, *found.values())):
            if uses("optimizers of MindSpore's"):
                name = _OWN_NAMES.get(name, name)
            found[name] = row
    return found


def _takes_largest(optimizer):
    """MindSpore's Adam has a row of largest moments whether it uses them or not."""
    return any(group.get("amsgrad", False) for group in param_groups(optimizer))


def optimizer_state_dict(optimizer):
    """torch's form: the moments of each parameter by its place, and the settings of the groups."""
    rows = _rows(optimizer)
    if uses("largest moments") and not _takes_largest(optimizer):
        rows.pop("max_exp_avg_sq", None)
    step = getattr(optimizer, "state_step", None)
    steps = vars(optimizer).get("_steps_taken") if uses("weights without gradients") else None
    if steps is None and step is not None:
        steps = [float(step.asnumpy())] * len(optimizer.parameters)
    state = {}
    for place, parameter in enumerate(optimizer.parameters):
        kept = {name: Tensor(row[place].asnumpy()) for name, row in rows.items()}
        if steps is not None:
            kept["step"] = Tensor(float(steps[place]), mindspore.float32)
        if uses("optimizers of the program's own") and parameter in optimizer.state:
            for name, value in optimizer.state[parameter].items():
                kept[name] = Tensor(value.asnumpy()) if isinstance(value, Tensor) else value
        if kept:
            state[place] = kept
    groups, first = [], 0
    for group in param_groups(optimizer):
        size = len(group["params"])
        settings = {name: group[name] for name in group if name != "params"}
        groups.append({**settings, "params": list(range(first, first + size))})
        first += size
    return {"state": state, "param_groups": groups}


def load_optimizer_state_dict(optimizer, state_dict):
    """Put back what optimizer_state_dict gave, or torch's own, converted."""
    order = [place for group in state_dict["param_groups"] for place in group["params"]]
    if len(order) != len(optimizer.parameters):
        raise ValueError(
            f"moments of {len(order)} parameters, and there are {len(optimizer.parameters)}"
        )
    for group, saved in zip(param_groups(optimizer), state_dict["param_groups"], strict=True):
        if not uses("largest moments") and saved.get("amsgrad"):
            raise ValueError("the checkpoint is of an optimizer with amsgrad=True")
        for name in set(saved) & set(group) - {"params"}:
            group[name] = _like(group[name], saved[name])
    rows, kinds, steps = _rows(optimizer), vars(optimizer).get("_moment_kinds", {}), []
    for number, place in enumerate(order):
        saved = state_dict["state"].get(place, state_dict["state"].get(str(place), {}))
        kept = {name: value for name, value in saved.items() if value is not None}
        adam = uses("_adam") or uses("optimizers of MindSpore's")
        if adam and not (uses("largest moments") and _takes_largest(optimizer)):
            kept.pop("max_exp_avg_sq", None)
        if "momentum_buffer" in kept:
            kept.setdefault("first", 0.0)  # 1 until the buffer has a value
        if hasattr(optimizer, "state_step"):  # one of the program's own counts in its state
            steps.append(float(kept.pop("step", 0.0)))
        for name, row in rows.items():
            _, start = kinds.get(id(row[0]), (name, "zeros"))
            if name in kept or start is not None:
                start = {"zeros": 0.0, "ones": 1.0}.get(start, start)
                _assign(row[number], kept.pop(name, start), name, place)
        kept.pop("first", None)
        if uses("optimizers of the program's own") and not hasattr(optimizer, "state_step"):
            _keep_own(optimizer, number, kept)
        elif any(np.ndim(value) for value in kept.values()):  # numbers follow from the steps taken
            raise ValueError(f"{type(optimizer).__name__} has no {', '.join(sorted(kept))}")
    _count_on(optimizer, steps)


def _like(old, new):
    """A setting in the form that the optimizer has it in."""
    if isinstance(old, tuple):  # torch's None is a value that is computed here
        return tuple(was if now is None else now for was, now in zip(old, new, strict=True))
    return float(new) if isinstance(old, float) else new


def _assign(parameter, value, name, place):
    value = value.asnumpy() if isinstance(value, Tensor) else value
    if uses("Conv1d"):
        value = as_held(np.asarray(value), parameter)
    if np.ndim(value) and tuple(parameter.shape) != tuple(np.shape(value)):
        raise ValueError(f"{name} of parameter {place} has another shape: {np.shape(value)}")
    value = np.broadcast_to(np.asarray(value), parameter.shape)
    ops.assign(parameter, Tensor(value.copy(), parameter.dtype))


def _keep_own(optimizer, number, kept):
    """What an optimizer of the program's own keeps; the others have a row for all they keep."""
    if kept:
        optimizer.state[optimizer.parameters[number]] = {
            name: Tensor(value) if isinstance(value, np.ndarray) else value
            for name, value in kept.items()
        }


def _count_on(optimizer, steps):
    """Steps go on from these counts; parameters that were passed by have fewer."""
    total = getattr(optimizer, "state_step", None)
    if total is None or not steps:
        return
    ops.assign(total, Tensor(max(steps), total.dtype))
    differ = any(step != steps[0] for step in steps)
    if uses("weights without gradients"):
        counts = [int(step) for step in steps] if differ else None
        object.__setattr__(optimizer, "_steps_taken", counts)
    elif differ:
        raise ValueError("parameters of the checkpoint took different numbers of steps")


def _counters(scheduler):
    """Names of what a schedule counts with, and torch's names for them."""
    kinds = (Parameter, bool, int, float)
    found = {name: name for name, value in vars(scheduler).items() if isinstance(value, kinds)}
    if uses("schedules that wait") and "wait" in found:
        found["wait"] = "num_bad_epochs"  # of ReduceLROnPlateau, whose counters are plain numbers
    return found


def _inner(scheduler):
    return getattr(scheduler, "_schedulers", None) or getattr(scheduler, "schedulers", [])


def scheduler_state_dict(scheduler):
    """The schedule's counters and the learning rates it last set, in torch's form."""
    state = {}
    for name, of_torch in _counters(scheduler).items():
        value = getattr(scheduler, name)
        state[of_torch] = value.asnumpy().item() if isinstance(value, Parameter) else value
    if "last_epoch" in state:
        state["last_epoch"] = int(state["last_epoch"])
    if hasattr(scheduler, "base_lrs"):
        state["base_lrs"] = [float(lr) for lr in scheduler.base_lrs]
    state["_last_lr"] = [float(lr) for lr in scheduler.optimizer.lrs]
    if uses("schedules of functions"):
        if hasattr(scheduler, "lr_lambdas"):
            state["lr_lambdas"] = [None] * len(scheduler.lr_lambdas)  # nor does torch save any
        if hasattr(scheduler, "_scale_fn_custom"):
            state["_scale_fn_custom"] = None
    if uses("schedules of schedules") and _inner(scheduler):
        state["_schedulers"] = [scheduler_state_dict(one) for one in _inner(scheduler)]
    return state


def load_scheduler_state_dict(scheduler, state_dict):
    """Put back what scheduler_state_dict gave, or torch's; the learning rates follow."""
    if uses("schedules of schedules"):
        for one, state in zip(_inner(scheduler), state_dict.get("_schedulers", []), strict=True):
            load_scheduler_state_dict(one, state)
    for name, of_torch in _counters(scheduler).items():
        value, held = state_dict.get(of_torch), getattr(scheduler, name)
        if not isinstance(value, (bool, int, float)):
            continue
        if isinstance(held, Parameter):
            ops.assign(held, Tensor(value, held.dtype))
        else:
            setattr(scheduler, name, value)
    if hasattr(scheduler, "base_lrs") and "base_lrs" in state_dict:
        scheduler.base_lrs = list(state_dict["base_lrs"])
    rates = state_dict.get("_last_lr", scheduler.optimizer.lrs)  # older files of torch have none
    for lr, value in zip(scheduler.optimizer.lrs, rates, strict=True):
        ops.assign(lr, Tensor(float(value), lr.dtype))


def set_last_epoch(scheduler, epoch):
    """Go on counting epochs from here: MindSpore's schedules keep the number in a Parameter."""
    held = getattr(scheduler, "last_epoch", None)
    if isinstance(held, Parameter):
        ops.assign(held, Tensor(epoch, held.dtype))
    else:
        scheduler.last_epoch = epoch

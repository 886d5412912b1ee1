"""Parameters and buffers under torch's names, because programs choose them by name.

`"bias" in name` must find the beta of a norm, and `LayerNorm.weight` its gamma: MindSpore would
leave both in the group with weight decay, and nothing would say so.
"""

import re
from collections import OrderedDict

from mindspore import Parameter, nn

from migrate.emit.helpers.helper_origin import uses

_RUNNING = ("moving_mean", "moving_variance", "running_mean", "running_var", "num_batches_tracked")
_NORMS = ("BatchNorm", "SyncBatchNorm", "GroupNorm", "InstanceNorm", "LayerNorm")
_NAMES_OF_NORMS = {
    "gamma": "weight",
    "beta": "bias",
    "moving_mean": "running_mean",
    "moving_variance": "running_var",
}


_RECURRENT = re.compile(r"(weight|bias)_(ih|hh|hr)_l(\d+)(_reverse)?")
_KINDS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")


def in_torch_order(pairs):
    """By layer where MindSpore orders recurrent weights by kind, and running statistics last:
    programs count on the order as on the names.
    """
    first = {}
    for place, (name, _) in enumerate(pairs):
        first.setdefault(name.rpartition(".")[0], place)

    def key(pair):
        path, _, local = pair[0].rpartition(".")
        if uses("recurrent layers"):
            return first[path], _is_buffer(*pair), _recurrent_place(local)
        return first[path], _is_buffer(*pair)

    return sorted(pairs, key=key)


def _recurrent_place(name):
    """Layer, direction and kind of a recurrent layer's parameter."""
    found = _RECURRENT.fullmatch(name)
    if not found:
        return (0, False, 0)
    kind, gate, layer, reverse = found.groups()
    return (int(layer), bool(reverse), _KINDS.index(f"{kind}_{gate}"))


def _is_a(cell, *classes):
    """Of one of MindSpore's classes, for any number of axes; some exist on few devices, and a
    class of the program's own may be called the same.
    """
    return any(
        base.__name__.startswith(classes) and base.__module__.startswith("mindspore.")
        for base in type(cell).__mro__
    )


def _torch_local(cell, name):
    """What torch calls a parameter of a layer."""
    counts = uses("CumulativeBatchNorm") and type(cell).__name__ == "CumulativeBatchNorm"
    if name in _NAMES_OF_NORMS and (counts or _is_a(cell, *_NORMS)):
        return _NAMES_OF_NORMS[name]
    if uses("weights with other names"):
        kind = {"embedding_table": "Embedding", "w": "PReLU"}.get(name)
        if kind and _is_a(cell, kind):
            return "weight"
    return name


def _torch_child(cell, name):
    """What torch calls a part of a layer; nothing where torch has no such part."""
    if name == "bn2d" and _is_a(cell, "BatchNorm3d"):
        return ""
    if name in ("dense1", "dense2") and _is_a(cell, "TransformerEncoder", "TransformerDecoder"):
        return name.replace("dense", "linear")
    return name


def _torch_paths(cell, path="", torch_path=""):
    """Every Cell by its path, with the path that torch would give it."""
    yield path, torch_path, cell
    for name, child in cell._cells.items():
        if child is not None:
            known = _torch_child(cell, name) if uses("parts with other names") else name
            below = ".".join(filter(None, (torch_path, known)))
            yield from _torch_paths(child, f"{path}.{name}" if path else name, below)


def torch_names(module, names):
    """torch's name for each of MindSpore's."""
    found = {}
    if uses("names that depend on the layer"):
        places = {path: (torch_path, cell) for path, torch_path, cell in _torch_paths(module)}
        for name in names:
            path, _, local = name.rpartition(".")
            torch_path, cell = places.get(path, (path, None))
            found[name] = ".".join(filter(None, (torch_path, _torch_local(cell, local))))
    else:
        for name in names:
            path, dot, local = name.rpartition(".")
            found[name] = f"{path}{dot}{_NAMES_OF_NORMS.get(local, local)}"
    return found


def mark_absent(parameters, absent=True):
    """Parameters that torch's layer does not have: affine=False, bias=False, no running values."""
    for parameter in parameters:
        parameter.absent = absent


def _is_absent(parameter):
    return uses("mark_absent") and getattr(parameter, "absent", False)


def _is_buffer(name, parameter):
    marked = uses("buffer") and getattr(parameter, "is_buffer", False)
    return marked or name.endswith(_RUNNING) or not isinstance(parameter, Parameter)


def _with_torch_names(module, pairs, prefix):
    names = torch_names(module, [name for name, _ in pairs])
    return [(".".join(filter(None, (prefix, names[name]))), value) for name, value in pairs]


def named_parameters(module, prefix="", recurse=True, remove_duplicate=True):
    """torch's names and the parameters, without the running statistics."""
    pairs = [
        (name, parameter)
        for name, parameter in module.parameters_and_names(expand=recurse)
        if not (_is_absent(parameter) or _is_buffer(name, parameter))
    ]
    yield from _with_torch_names(module, in_torch_order(pairs), prefix)


def named_buffers(module, prefix="", recurse=True, remove_duplicate=True):
    """torch's names and the buffers, the running statistics among them."""
    pairs = [
        (name, parameter)
        for name, parameter in module.parameters_and_names(expand=recurse)
        if not _is_absent(parameter) and _is_buffer(name, parameter)
    ]
    pairs += module.named_buffers("", recurse, remove_duplicate)
    if uses("late_buffer"):
        pairs = _with_late_buffers(module, pairs, recurse)
    yield from _with_torch_names(module, pairs, prefix)


def _with_late_buffers(module, pairs, recurse=True):
    """With the buffers that were None when they were registered, and are tensors by now, each
    behind what its module had before it.
    """
    for path, cell in module.cells_and_names():
        start = f"{path}." if path else ""
        for name, before in getattr(cell, "late_buffers", ()):
            if getattr(cell, name) is None or (path and not recurse):
                continue
            behind = {start + one for one in (*before, *_late_names(cell, name))}
            places = [i + 1 for i, (one, _) in enumerate(pairs) if one in behind]
            below = [i for i, (one, _) in enumerate(pairs) if one.startswith(start)]
            place = max(places) if places else below[0] if below else len(pairs)
            pairs = [*pairs[:place], (start + name, getattr(cell, name)), *pairs[place:]]
    return pairs


def _late_names(cell, name):
    """The late buffers that were registered before this one."""
    names = [one for one, _ in cell.late_buffers]
    return names[: names.index(name)]


def answers_itself(module, method):
    """What is no Cell, or is one with a method of its own of this name; super() has none."""
    if isinstance(module, super):
        return False
    return getattr(type(module), method, None) is not getattr(nn.Cell, method)


def own_state(module):
    """MindSpore's state dict, without what torch's layers do not have."""
    state = nn.Cell.state_dict(module)
    if uses("late_buffer"):
        state = OrderedDict(_with_late_buffers(module, list(state.items())))
    if uses("mark_absent") or uses("buffer"):
        absent = {
            name
            for name, value in module.parameters_and_names()
            if _is_absent(value) or getattr(value, "is_transient", False)
        }
        return OrderedDict((name, value) for name, value in state.items() if name not in absent)
    return state


def state_dict(module, prefix=""):
    """Parameters and buffers by torch's names; what has its own way answers for itself."""
    if uses("state_dict methods"):
        if answers_itself(module, "state_dict"):
            return module.state_dict()
        module = module.__self__ if isinstance(module, super) else module
    own = own_state(module)
    names = torch_names(module, own)
    ordered = in_torch_order(list(own.items()))
    return OrderedDict((prefix + names[name], value) for name, value in ordered)


def as_held(value, tensor):
    """A value of torch's in the shape of what holds it: a Conv1d's weight has one axis more."""
    shape = tuple(tensor.shape)
    given = tuple(value.shape)
    added = len(shape) == 4 and shape[2] == 1 and given == (*shape[:2], shape[3])
    taken = len(given) == 4 and given[2] == 1 and shape == (*given[:2], given[3])
    return value.reshape(shape) if added or taken else value

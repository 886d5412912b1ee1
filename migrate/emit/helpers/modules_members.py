"""A Cell's members as torch lists them: running statistics are buffers, not parameters."""

import contextlib
import re
from collections import OrderedDict

from mindspore import Parameter, nn, ops

from migrate.emit.helpers.helper_origin import uses
from migrate.emit.helpers.modules_parameter_names import (
    _is_absent,
    _is_buffer,
    in_torch_order,
    named_buffers,
)


def buffer(value, name, persistent=True):
    """A buffer that the program changes: a Parameter without gradient, which torch lists apart."""
    if value is None:
        return None  # torch keeps the place of a buffer that is not there
    parameter = Parameter(value, name=name, requires_grad=False)
    parameter.is_buffer = True
    parameter.is_transient = not persistent
    # A copy of the model keeps its buffers apart too.
    parameter.__deepcopy__ = lambda memo: buffer(parameter.copy(), parameter.name, persistent)
    return parameter


def late_buffer(module, name):
    """The place of a buffer that gets its first tensor later, and is listed from then on."""
    before = (*module._params, *module._buffers)
    known = getattr(module, "late_buffers", ())
    object.__setattr__(module, "late_buffers", (*known, (name, before)))


def name_parameters(module):
    """Name each parameter after its place, as one that was put in at once would be named."""
    for name, parameter in module.parameters_and_names():
        parameter.name = name


def set_child(module, name, child):
    """setattr of a layer; a SequentialCell calls the layers that it lists."""
    if isinstance(module, nn.SequentialCell) and name in module._cells:
        module[list(module._cells).index(name)] = child
    else:
        setattr(module, name, child)


def set_parameter(module, name, data, requires_grad=True):
    """Give a layer another parameter, under the name that the old one has in the whole model."""
    old = getattr(module, name, None)
    full = old.name if isinstance(old, Parameter) else name
    setattr(module, name, Parameter(data, name=full, requires_grad=requires_grad))


def parameters(module, recurse=True):
    """The parameters, without the running statistics."""
    pairs = module.parameters_and_names(expand=recurse)
    if uses("recurrent layers"):
        pairs = in_torch_order(list(pairs))
    for name, parameter in pairs:
        if not (_is_absent(parameter) or _is_buffer(name, parameter)):
            yield parameter


def buffers(module, recurse=True):
    """The buffers, the running statistics among them."""
    for _, buffer in named_buffers(module, recurse=recurse):
        yield buffer


@contextlib.contextmanager
def preserve_running_stats(*models):
    """Run models for their results alone: running statistics stay as they are."""
    kept = [
        (parameter, parameter.copy())
        for model in models
        if isinstance(model, nn.Cell)
        for name, parameter in model.parameters_and_names()
        if _is_buffer(name, parameter)
    ]
    yield
    for parameter, value in kept:
        ops.assign(parameter, value)


def set_requires_grad(module, requires_grad=True):
    """Freeze or thaw all parameters; running statistics stay untrainable."""
    for parameter in parameters(module):
        parameter.requires_grad = requires_grad
    return module


def add_module(module, name, child):
    """torch's add_module; a SequentialCell has to be told to run the new child.

    torch takes any name without a dot, MindSpore no spaces and the like.
    """
    setattr(module, re.sub(r"[^\w.-]", "_", name, flags=re.ASCII), child)
    if isinstance(module, nn.SequentialCell):
        module._is_dynamic_name.append(False)
        module.cell_list = list(module._cells.values())


def set_submodule(cell, target, module, strict=False):
    """Replace the Cell at a dotted path."""
    path, _, name = target.rpartition(".")
    parent = cell.get_sub_cell(path) if path else cell
    if strict and name not in parent.name_cells():
        raise AttributeError(f"there is no Cell called {target!r}")
    if isinstance(parent, (nn.SequentialCell, nn.CellList)):
        parent[int(name)] = module
    else:
        setattr(parent, name, module)


def delete_layer(sequential, index):
    """`del sequential[index]`: as torch does, number the layers that are left."""
    del sequential[index]
    cells = list(sequential._cells.values())
    sequential._cells = OrderedDict((str(place), cell) for place, cell in enumerate(cells))
    sequential._is_dynamic_name = [True] * len(cells)
    sequential.cell_list = cells


def pop_cell(cells, key):
    """Remove a Cell from a list of Cells and return it."""
    taken = cells[key]
    del cells[key]
    return taken


def extend_sequential(cells, sequential):
    """Append Cells one by one."""
    for cell in sequential:
        cells.append(cell)
    return cells

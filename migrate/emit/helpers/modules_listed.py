"""What a Cell consists of, for compiled code.

The compiler runs no method of a Cell that yields, but it reads attributes, and one that is no
property is computed by Python. To it a CellList is a tuple of Cells.
"""

from mindspore import nn

from migrate.emit.helpers.modules_members import buffers, parameters
from migrate.emit.helpers.modules_parameter_names import named_buffers, named_parameters


class _Listed:
    """An attribute whose value is the tuple of what a function yields for the Cell."""

    def __init__(self, members):
        self.members = members

    def __get__(self, cell, owner=None):
        return self if cell is None else tuple(self.members(cell))


def _attribute(name, members):
    """Give all Cells such an attribute; its name."""
    setattr(nn.Cell, name, _Listed(members))
    return name


def _children(cell):
    """All but places that hold nothing."""
    return [child for child in cell.cells() if child is not None]


def _named_children(cell):
    return [(name, child) for name, child in cell.name_cells().items() if child is not None]


def _modules(cell):
    return [each for _, each in cell.cells_and_names()]


def _named_modules(cell):
    return cell.cells_and_names()


_PARAMETERS = _attribute("torch_parameters", parameters)
_NAMED_PARAMETERS = _attribute("torch_named_parameters", named_parameters)
_BUFFERS = _attribute("torch_buffers", buffers)
_NAMED_BUFFERS = _attribute("torch_named_buffers", named_buffers)
_CHILDREN = _attribute("torch_children", _children)
_NAMED_CHILDREN = _attribute("torch_named_children", _named_children)
_MODULES = _attribute("torch_modules", _modules)
_NAMED_MODULES = _attribute("torch_named_modules", _named_modules)


def _of_each(cells, name):
    """The members of several Cells, under the names that a list of them gives."""
    found = ()
    for index, cell in enumerate(cells):
        for inner, member in getattr(cell, name):
            found += ((f"{index}.{inner}", member),)
    return found


def parameters_of(module):
    """torch's parameters() as a tuple, also in compiled code."""
    if isinstance(module, tuple):
        return tuple([parameter for _, parameter in _of_each(module, _NAMED_PARAMETERS)])
    return getattr(module, _PARAMETERS)


def named_parameters_of(module):
    """torch's named_parameters() as a tuple, also in compiled code."""
    if isinstance(module, tuple):
        return _of_each(module, _NAMED_PARAMETERS)
    return getattr(module, _NAMED_PARAMETERS)


def buffers_of(module):
    """torch's buffers() as a tuple, also in compiled code."""
    if isinstance(module, tuple):
        return tuple([buffer for _, buffer in _of_each(module, _NAMED_BUFFERS)])
    return getattr(module, _BUFFERS)


def named_buffers_of(module):
    """torch's named_buffers() as a tuple, also in compiled code."""
    if isinstance(module, tuple):
        return _of_each(module, _NAMED_BUFFERS)
    return getattr(module, _NAMED_BUFFERS)


def children_of(module):
    """torch's children() as a tuple, also in compiled code."""
    return module if isinstance(module, tuple) else getattr(module, _CHILDREN)


def named_children_of(module):
    """torch's named_children() as a tuple, also in compiled code."""
    if isinstance(module, tuple):
        return tuple([(f"{index}", cell) for index, cell in enumerate(module)])
    return getattr(module, _NAMED_CHILDREN)


def modules_of(module):
    """torch's modules() as a tuple, also in compiled code."""
    return getattr(module, _MODULES)


def named_modules_of(module):
    """torch's named_modules() as a tuple, also in compiled code."""
    return getattr(module, _NAMED_MODULES)

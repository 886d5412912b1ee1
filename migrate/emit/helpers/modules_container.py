"""torch's parameter containers, and lists of cells made of any iterable."""

import inspect

from mindspore import Parameter, nn


class _Prefixed:
    """A container that knows its own name in the model, for the names of Cells that come later."""

    def update_parameters_name(self, prefix="", recurse=True):
        super().update_parameters_name(prefix, recurse)
        self.name_prefix = prefix

    def append(self, cell):
        super().append(cell)
        self._name_after_me(str(len(self) - 1), cell)

    def insert_child_to_cell(self, child_name, child_cell):
        super().insert_child_to_cell(child_name, child_cell)
        self._name_after_me(child_name, child_cell)

    def _name_after_me(self, name, cell):
        if getattr(self, "name_prefix", ""):
            cell.update_parameters_name(f"{self.name_prefix}{name}.")


class ModuleList(_Prefixed, nn.CellList):
    """nn.CellList that may start empty, and keeps the place of a layer that is None."""

    def __init__(self, modules=None):
        super().__init__(list(modules or ()))

    def append(self, cell):
        if cell is not None and None not in self._cells.values():
            super().append(cell)
            return
        # MindSpore takes the list's own name from its first cells, which None has not.
        place = str(len(self))
        self._cells[place] = cell
        if cell is not None:
            cell.update_parameters_name(f"{place}.")
            self._name_after_me(place, cell)

    def set_grad(self, requires_grad=True):
        self.requires_grad = requires_grad
        for cell in self._cells.values():
            if cell is not None:
                cell.set_grad(requires_grad)

    def extend(self, modules):
        for cell in modules:
            self.append(cell)
        return self


class Sequential(_Prefixed, nn.SequentialCell):
    """nn.SequentialCell to derive from: Cells that become attributes run too, in their order."""

    def __setattr__(self, name, value):
        is_new = isinstance(value, nn.Cell) and name not in self._cells
        super().__setattr__(name, value)
        if isinstance(value, nn.Cell):
            if is_new:
                self._is_dynamic_name.append(False)
            self.cell_list = list(self._cells.values())


class ModuleDict(_Prefixed, nn.Cell):
    """Cells by name, containers too; compiled code reaches them by key and as attributes."""

    def __init__(self, modules=None):
        super().__init__()
        self._list_cells()
        self.update(modules or {})

    def update(self, modules):
        for name, cell in modules.items() if hasattr(modules, "items") else modules:
            self[name] = cell

    def insert_child_to_cell(self, child_name, child_cell):
        super().insert_child_to_cell(child_name, child_cell)
        self._list_cells()

    def _list_cells(self):
        """Tuples of names and cells: what a compiled construct can iterate over."""
        self.cell_names = tuple(self._cells)
        self.cell_list = tuple(self._cells.values())
        self.cell_pairs = tuple(self._cells.items())

    def __setitem__(self, name, cell):
        if name in self._cells:
            self._cells[name] = cell
            self._list_cells()
        else:
            cell.update_parameters_name(name + ".")
            self.insert_child_to_cell(name, cell)

    def __getitem__(self, name):
        return self._cells[name]

    def __delitem__(self, name):
        del self._cells[name]
        self._list_cells()

    def __contains__(self, name):
        return name in self._cells

    def __len__(self):
        return len(self._cells)

    def __iter__(self):
        return iter(self.cell_names)

    def pop(self, key):
        cell = self[key]
        del self[key]
        return cell

    def clear(self):
        self._cells.clear()
        self._list_cells()

    def keys(self):
        return self.cell_names

    def values(self):
        return self.cell_list

    def items(self):
        return self.cell_pairs


def _not_compiled():
    """Graph mode takes what these methods give for constants, which get no gradient."""
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_code.co_name == "compile" and "mindspore" in frame.f_code.co_filename:
            raise RuntimeError(
                "in compiled code, read the parameters by values(), get() or items()"
            )
        frame = frame.f_back


class ParameterList(nn.Cell):
    """Parameters by position, named 0, 1, ... as in torch."""

    def __init__(self, values=None):
        super().__init__()
        self.held = ()
        self.extend(values or ())

    def append(self, value):
        value = value if isinstance(value, Parameter) else Parameter(value)
        self.insert_param_to_cell(str(len(self)), value)
        object.__setattr__(self, "held", tuple(self._params.values()))
        return self

    def extend(self, values):
        for value in values:
            self.append(value)
        return self

    def values(self):
        return self.held

    def __len__(self):
        return len(self.held)

    def __iter__(self):
        _not_compiled()
        return iter(self.held)

    def __getitem__(self, index):
        _not_compiled()
        return self.held[index]

    def __setitem__(self, index, value):
        self.held[index].set_data(value)

    def construct(self):
        raise NotImplementedError("a ParameterList holds parameters and is not called")


class ParameterDict(nn.Cell):
    """Parameters by name."""

    def __init__(self, parameters=None):
        super().__init__()
        self.update(parameters or {})

    def update(self, parameters):
        pairs = parameters.items() if hasattr(parameters, "items") else parameters
        for key, value in pairs:
            self[key] = value
        self._list_parameters()

    def _list_parameters(self):
        object.__setattr__(self, "held_names", tuple(self._params))
        object.__setattr__(self, "held", tuple(self._params.values()))
        object.__setattr__(self, "held_pairs", tuple(self._params.items()))

    def __setitem__(self, key, value):
        if key in self._params:
            self._params[key].set_data(value)
        else:
            value = value if isinstance(value, Parameter) else Parameter(value)
            self.insert_param_to_cell(key, value)
            self._list_parameters()

    def __getitem__(self, key):
        _not_compiled()
        return self._params[key]

    def __contains__(self, key):
        return key in self._params

    def __len__(self):
        return len(self._params)

    def __iter__(self):
        return iter(self._params)

    def get(self, key, default=None):
        for name, parameter in self.held_pairs:
            if name == key:
                return parameter
        return default

    def keys(self):
        return self.held_names

    def values(self):
        return self.held

    def items(self):
        return self.held_pairs

    def construct(self):
        raise NotImplementedError("a ParameterDict holds parameters and is not called")

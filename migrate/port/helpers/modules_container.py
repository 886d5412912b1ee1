"""torch's parameter containers, and lists of cells made of any iterable."""

from mindspore import Parameter, nn


class Sequential(nn.SequentialCell):
    """nn.SequentialCell to derive from: Cells that become attributes run too, in their order."""

    def __setattr__(self, name, value):
        is_new = isinstance(value, nn.Cell) and name not in self._cells
        super().__setattr__(name, value)
        if isinstance(value, nn.Cell):
            if is_new:
                self._is_dynamic_name.append(False)
            self.cell_list = list(self._cells.values())


class ModuleDict(nn.Cell):
    """Cells by name, to derive from; Graph mode takes nn.CellDict's subclasses for dicts."""

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


class ParameterList(nn.Cell):
    """Parameters by position, named 0, 1, ... as in torch."""

    def __init__(self, values=None):
        super().__init__()
        self.extend(values or ())

    def append(self, value):
        value = value if isinstance(value, Parameter) else Parameter(value)
        self.insert_param_to_cell(str(len(self)), value)
        return self

    def extend(self, values):
        for value in values:
            self.append(value)
        return self

    def __len__(self):
        return len(self._params)

    def __iter__(self):
        return iter(self._params.values())

    def __getitem__(self, index):
        return list(self._params.values())[index]

    def __setitem__(self, index, value):
        self[index].set_data(value)

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

    def __setitem__(self, key, value):
        if key in self._params:
            self._params[key].set_data(value)
        else:
            value = value if isinstance(value, Parameter) else Parameter(value)
            self.insert_param_to_cell(key, value)

    def __getitem__(self, key):
        return self._params[key]

    def __contains__(self, key):
        return key in self._params

    def __len__(self):
        return len(self._params)

    def __iter__(self):
        return iter(self._params)

    def get(self, key, default=None):
        return self._params.get(key, default)

    def keys(self):
        return self._params.keys()

    def values(self):
        return self._params.values()

    def items(self):
        return self._params.items()

    def construct(self):
        raise NotImplementedError("a ParameterDict holds parameters and is not called")

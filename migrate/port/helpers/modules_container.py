"""torch's parameter containers, and lists of cells made of any iterable."""

from mindspore import Parameter, nn


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

"""torch's optimizer.param_groups: settings that read as numbers and take effect when changed."""

from collections.abc import MutableMapping

from mindspore import Parameter, Tensor, ops


class ParamGroup(MutableMapping):
    """One group of an optimizer. MindSpore keeps its learning rate in a Parameter."""

    def __init__(self, group):
        self.group = group

    def __getitem__(self, key):
        value = self.group[key]
        return value.asnumpy().item() if isinstance(value, Tensor) else value

    def __setitem__(self, key, value):
        value = value.asnumpy().item() if isinstance(value, Tensor) else value
        if isinstance(self.group.get(key), Parameter):
            # Not set_data: after that a compiled update goes on with the old value.
            ops.assign(self.group[key], Tensor(value, self.group[key].dtype))
        else:
            self.group[key] = value

    def __delitem__(self, key):
        del self.group[key]

    def __iter__(self):
        return iter(self.group)

    def __len__(self):
        return len(self.group)

    def __repr__(self):
        return repr(dict(self))


def param_groups(optimizer):
    """The groups of an optimizer, as torch gives them."""
    return [ParamGroup(group) for group in optimizer.param_groups]

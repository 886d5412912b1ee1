"""torch's optimizer.param_groups: settings that read as numbers and take effect when changed."""

from collections.abc import MutableMapping

import numpy as np
from mindspore import Parameter, Tensor, ops

from migrate.emit.helpers.helper_origin import uses


class ParamGroup(MutableMapping):
    """One group of an optimizer. MindSpore keeps its learning rate in a Parameter."""

    def __init__(self, group, beta1=None):
        self.group = group
        self.beta1 = beta1

    def __getitem__(self, key):
        value = self.group[key]
        if uses("Adam") and key == "betas" and self.beta1 is not None:
            now = self.beta1.asnumpy().item()
            if np.float32(value[0]) != now:  # a schedule has changed it
                return (now, *value[1:])
        return written_number(value)

    def __setitem__(self, key, value):
        value = value.asnumpy().item() if isinstance(value, Tensor) else value
        if uses("Adam") and key == "betas" and self.beta1 is not None:
            # A Parameter, which schedules change; the second beta is read from the group.
            ops.assign(self.beta1, Tensor(value[0], self.beta1.dtype))
        if isinstance(self.group.get(key), Parameter):
            # Not set_data: after that a compiled update goes on with the old value.
            ops.assign(self.group[key], Tensor(value, self.group[key].dtype))
            self.group[key].written = value
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


def written_number(value):
    """The number as the program wrote it: 1, or 0.0002 where float32 has 0.00019999999494757503."""
    if not isinstance(value, Tensor):
        return value
    number = value.asnumpy()[()]
    written = getattr(value, "written", None)
    if written is not None and np.float32(written) == number:  # a schedule may have changed it
        return written
    return float(str(number)) if isinstance(number, np.floating) else number.item()


def param_groups(optimizer):
    """The groups of an optimizer, as torch gives them."""
    groups = optimizer.param_groups
    if not uses("Adam"):
        return [ParamGroup(group) for group in groups]
    beta1s = getattr(optimizer, "beta1s", [None] * len(groups))
    return [ParamGroup(group, beta1) for group, beta1 in zip(groups, beta1s, strict=True)]

"""Devices: MindSpore has one for the whole process, and `device_target` says which.

torch's names stay in options and comparisons: "cuda" means an accelerator, whatever it is here.
"""

import warnings

import mindspore

_ACCELERATORS = ("ascend", "npu", "cuda", "gpu", "xpu", "mps", "hpu")


def _kind(name):
    """cpu, accelerator, or another name of torch's (meta)."""
    first = name.partition(":")[0].lower()
    return "accelerator" if first in _ACCELERATORS else first


class device(str):
    """torch.device: MindSpore's name of a device, equal to torch's names of the same kind.

    Of an accelerator it is the one that the process has.
    """

    def __new__(cls, type, index=None):
        if not isinstance(type, str):
            type, index = "cuda", type
        if index is None:
            index = device_index(type)
        name, kind = type.partition(":")[0], _kind(type)
        if kind == "accelerator":
            name = mindspore.get_context("device_target")
            if name == "CPU":
                warnings.warn(f"{type} is wanted, and MindSpore runs on the CPU", stacklevel=2)
                index = None
        elif kind == "cpu":
            name, index = "CPU", None
        return str.__new__(cls, name if index is None else f"{name}:{index}")

    @property
    def type(self):
        return device_type(self)

    @property
    def index(self):
        return device_index(self)

    def __eq__(self, other):
        if not isinstance(other, str):
            return NotImplemented
        numbers = {device_index(self), device_index(other)} - {None}
        return _kind(self) == _kind(other) and len(numbers) < 2

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(_kind(self))

    def __contains__(self, part):
        return str.__contains__(self, part) or _kind(part) == _kind(self)

    def startswith(self, prefix, *limits):
        prefixes = prefix if isinstance(prefix, tuple) else (prefix,)
        return any(_kind(one) == _kind(self) for one in prefixes) or str.startswith(
            self, prefix, *limits
        )

    def __str__(self):
        return self._text()

    def __format__(self, spec):
        return format(self._text(), spec)

    def __repr__(self):
        index = device_index(self)
        return f"device(type={self._text().partition(':')[0]!r}" + (
            ")" if index is None else f", index={index})"
        )

    def _text(self):
        """torch's name of the CPU; an accelerator is called by its own."""
        return "cpu" if _kind(self) == "cpu" else str.__str__(self)


def device_type(name):
    """torch's device.type, of MindSpore's names too: equals "cuda" on every accelerator."""
    kind = str.partition(name, ":")[0]
    return "cpu" if kind == "CPU" else str.__new__(device, kind)


def device_index(name):
    """The number in a device name such as cuda:1, None without one."""
    number = str.partition(name, ":")[2]
    return int(number) if number else None


# One process has one device: asked once, because Graph mode cannot ask.
ON_ACCELERATOR = mindspore.get_context("device_target") != "CPU"

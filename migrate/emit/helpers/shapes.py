"""Shapes in the forms that torch accepts."""


def as_shape(size):
    """A shape given as one number or as a sequence, as a tuple."""
    return tuple(size) if isinstance(size, (tuple, list)) else (size,)


def device_index(device):
    """The number in a device name such as cuda:1, None without one."""
    number = device.partition(":")[2]
    return int(number) if number else None

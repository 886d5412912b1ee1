"""Shapes in the forms that torch accepts."""


def as_shape(size):
    """A shape given as one number or as a sequence, as a tuple."""
    return tuple(size) if isinstance(size, (tuple, list)) else (size,)

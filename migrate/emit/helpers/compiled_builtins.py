"""Functions of Python that compiled code takes only of values, or without their gradients."""


def all_of(values):
    """all()."""
    result = True
    for value in values:
        result = result and value
    return result


def any_of(values):
    """any()."""
    result = False
    for value in values:
        result = result or value
    return result


def reduce_values(function, values, *start):
    """functools.reduce, whose gradient is lost in compiled code."""
    values = list(values)
    result = start[0] if start else values[0]
    for value in values if start else values[1:]:
        result = function(result, value)
    return result

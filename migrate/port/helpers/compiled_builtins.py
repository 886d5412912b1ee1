"""Builtins of Python that compiled code takes only of values, not of calls in their argument."""


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

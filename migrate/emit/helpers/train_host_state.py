"""What a graph would compute once though it changes from call to call: numbers that Python and
numpy draw, what an iterator gives.
"""

import random
import types
from collections.abc import Iterator

import numpy as np
from mindspore import nn

from migrate.emit.helpers.helper_origin import of_helpers

_DRAWING_MODULES = ("random", "numpy.random", "secrets")
_DRAWING_KINDS = (np.random.Generator, np.random.RandomState, random.Random, Iterator)


def changes_by_itself(function, around):
    """Whether the step, or a function or Cell that it calls, uses such a source. `around`: what it
    and the functions that it calls read.
    """
    if any(_is_source(value) for value in around.values()):
        return True
    functions = [function, *(v for v in around.values() if isinstance(v, types.FunctionType))]
    if any(map(_uses_source, functions)):
        return True
    cells = [value for value in around.values() if isinstance(value, nn.Cell)]
    return any(_cell_uses_source(part) for cell in cells for _, part in cell.cells_and_names())


def _is_source(value):
    """`rng`, an iterator, or a function that is the method of one: `from random import random`."""
    return isinstance(value, _DRAWING_KINDS) or isinstance(
        getattr(value, "__self__", None), _DRAWING_KINDS
    )


def _uses_source(function):
    """The function reads such a source, from its module or from the functions around it."""
    code = function.__code__
    known = function.__globals__
    values = [known[name] for name in code.co_names if name in known]
    for cell in function.__closure__ or ():
        try:
            values.append(cell.cell_contents)
        except ValueError:  # not bound yet
            continue
    for value in values:
        module = value.__name__ if isinstance(value, types.ModuleType) else ""
        if (
            _is_source(value)
            or module in _DRAWING_MODULES
            or (module == "numpy" and _names_random(code))
        ):
            return True
    return False


def _names_random(code):
    return "random" in code.co_names


def _cell_uses_source(cell):
    """construct, the methods and functions that it calls, and the attributes that they read."""
    cls, functions = type(cell), [type(cell).construct]
    for function in functions:  # grows on the way
        home = function.__module__ or "mindspore"
        if home.startswith("mindspore") or of_helpers(function):
            continue
        if _uses_source(function):
            return True
        for name in function.__code__.co_names:
            if _is_source(vars(cell).get(name)):
                return True
            called = getattr(cls, name, None) or function.__globals__.get(name)
            if isinstance(called, types.FunctionType) and called not in functions:
                functions.append(called)
    return False

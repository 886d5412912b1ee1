"""Functions that hold arguments, in forms that compile.

MindSpore 2.10 compiles a call of functools.partial without its gradient, and nothing says so; a
function that has defaults and is the value of an attribute does not compile at all.
"""

import functools


class compiled_partial(functools.partial):
    """functools.partial, with a call that the compiler can follow."""

    def __call__(self, *args, **keywords):
        held = dict(self.keywords)
        held.update(keywords)
        return self.func(*self.args, *args, **held)


class WithDefaults:
    """A function whose last arguments have these values where they are left out."""

    def __init__(self, function, *values):
        self.function = function
        self.values = values
        self.required = function.__code__.co_argcount - len(values)

    def __call__(self, *args):
        return self.function(*args, *self.values[len(args) - self.required :])

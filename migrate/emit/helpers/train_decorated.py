"""Functions that a decorator wraps: Graph mode follows `__wrapped__`, which functools.wraps sets,
and compiles the bare function without its decorator.
"""

import functools
import inspect
import types

from migrate.emit.helpers.helper_origin import of_helpers


def decorated(function, owner=None):
    """The name of a wrapped function that this one reaches, itself included; empty for none."""
    pending, seen = [function], set()
    for one in pending:  # grows on the way
        home = getattr(one, "__module__", None) or "mindspore"
        if not isinstance(one, types.FunctionType) or one in seen:
            continue
        if home.partition(".")[0] in ("mindspore", "numpy") or of_helpers(one):
            continue
        seen.add(one)
        if hasattr(one, "__wrapped__"):
            if not hasattr(one, "autocast"):
                return one.__name__
            pending.append(one.__wrapped__)  # a graph is told of autocast by a mark
        pending += _named_in(one, owner)
    return ""


def _named_in(function, owner):
    """What the names in a function stand for: globals, variables around it, members of modules and
    of its class.
    """
    code = function.__code__
    known = {name: function.__globals__.get(name) for name in code.co_names}
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            known[name] = cell.cell_contents
        except ValueError:  # not bound yet
            continue
    modules = [value for value in known.values() if isinstance(value, types.ModuleType)]
    own = [one for one in modules if one.__name__.partition(".")[0] not in ("mindspore", "numpy")]
    found = list(known.values())
    found += [vars(module).get(name) for module in own for name in code.co_names]
    if owner is not None:
        found += [inspect.getattr_static(owner, name, None) for name in code.co_names]
    return found


@functools.cache
def decorated_in(cls):
    """The same for what a class of layers computes."""
    return decorated(inspect.getattr_static(cls, "construct", None), cls)

"""Settings that Graph mode takes for constants: a graph is built again when one has changed."""

import functools
import types
import warnings
import weakref

import mindspore
from mindspore import Tensor, nn

from migrate.emit.helpers.helper_origin import uses
from migrate.emit.helpers.train_decorated import decorated_in

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
# MindSpore's own records of a Cell, which change from call to call.
_RECORDS = frozenset(vars(nn.Cell())) | {"current_phase", "sequence_modified", "_func_graph_flags"}
_LIBRARIES = ("mindspore", "numpy", "builtins")
_MOST_GRAPHS = 8
_said: set[str] = set()  # reasons of which a warning was given
_globals_read: dict[type, list[object]] = {}  # of each class of Cells
# Of each Cell that was called in Graph mode: the settings of its graphs.
_graphs: weakref.WeakKeyDictionary[nn.Cell, list[object]] = weakref.WeakKeyDictionary()


class Settings:
    """What a graph of a Cell was built with: its parts and Parameters, their mode, and the settings
    that the program may change.
    """

    def __init__(self, cell):
        self.values = []
        for _, part in cell.cells_and_names():
            self.values += [part, part.training, *part.get_parameters(expand=False)]
            if uses("settings that change"):
                if uses("hooks of layers"):
                    self.values.append(_hooks(part))
                for cls, key in _settings_of(type(part)):
                    _collect(vars(cls).get(key), self.values, 2)
                for key, value in vars(part).items():
                    if key not in _RECORDS and not key.startswith("__"):
                        self.values.append(key)
                        _collect(value, self.values, 3)
                if uses("variables of modules that change"):
                    for values, key in _globals_of(type(part)):
                        _collect(values.get(key), self.values, 2)

    def same(self, other):
        pairs = zip(self.values, other.values)  # noqa: B905
        same = len(self.values) == len(other.values)
        if not uses("settings that change"):
            return same and all(old is new for old, new in pairs)
        return same and all(_same_setting(old, new) for old, new in pairs)


@functools.cache
def _settings_of(cls):
    """(class, name) of the values that the classes of a part hold themselves."""
    own = [base for base in cls.__mro__ if not base.__module__.startswith(_LIBRARIES)]
    return [
        (base, name)
        for base in own
        for name, value in vars(base).items()
        if not name.startswith("__") and isinstance(value, (*_PLAIN, list, dict, tuple))
    ]


def _same_setting(old, new):
    """Plain values are equal, others the same object."""
    if old is new:
        return True
    return type(old) is type(new) and isinstance(old, _PLAIN) and old == new


def _collect(value, found, depth):
    """The value with what is in it: items, and the attributes of a plain object."""
    if isinstance(value, _PLAIN):
        found.append(value)
    elif isinstance(value, (list, tuple, set, frozenset)) and depth:
        found.append(len(value))
        for item in value:
            _collect(item, found, depth - 1)
    elif isinstance(value, dict) and depth:
        found.append(len(value))
        for key, item in value.items():
            found.append(key)
            _collect(item, found, depth - 1)
    elif not isinstance(value, (Tensor, nn.Cell, type, types.FunctionType, types.ModuleType)):
        attributes = getattr(value, "__dict__", None)
        own = attributes and depth and not type(value).__module__.startswith(_LIBRARIES)
        found.append(value)
        for name, item in attributes.items() if own else ():
            found.append(name)
            _collect(item, found, depth - 1)
    else:
        found.append(value)


def _hooks(cell):
    """How many hooks a Cell has."""
    kinds = ("forward_hook", "forward_pre_hook", "backward_hook", "backward_pre_hook")
    return sum(len(getattr(cell, f"_lazy_{kind}", None) or ()) for kind in kinds)


def _run_in_python(cell, reason, args, kwargs):
    """Call the Cell in PyNative mode, and go on in Graph mode."""
    if reason not in _said:
        _said.add(reason)
        warnings.warn(
            f"not compiled, runs in PyNative mode: {reason}", RuntimeWarning, stacklevel=4
        )
    mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
    try:
        return cell(*args, **kwargs)
    finally:
        mindspore.set_context(mode=mindspore.GRAPH_MODE)


def _globals_of(cls):
    """(namespace, name) of the globals that the methods of a class and the functions they call may
    read.
    """
    if cls not in _globals_read:
        found, functions = {}, []
        for base in cls.__mro__:
            if not base.__module__.startswith(_LIBRARIES):
                functions += [f for f in vars(base).values() if isinstance(f, types.FunctionType)]
        for function in functions:  # grows on the way
            for name in function.__code__.co_names:
                value = function.__globals__.get(name)
                if isinstance(value, types.FunctionType) and value not in functions:
                    if not (value.__module__ or "mindspore").startswith(_LIBRARIES):
                        functions.append(value)
                elif isinstance(value, types.ModuleType):
                    if not value.__name__.startswith(_LIBRARIES):
                        names = function.__code__.co_names
                        read = [n for n in names if isinstance(vars(value).get(n), _PLAIN)]
                        found.update(((value.__name__, n), (vars(value), n)) for n in read)
                elif name in function.__globals__ and not callable(value):
                    key = function.__module__, name
                    found[key] = function.__globals__, name
        _globals_read[cls] = list(found.values())
    return _globals_read[cls]


def python_only(cell):
    """Why a network cannot be compiled: hooks, whose effects a graph loses, or what a class says of
    itself (`not_compiled`); empty where it can.
    """
    for _, part in cell.cells_and_names():
        reason = getattr(type(part), "not_compiled", "")
        if reason:
            return f"{type(part).__name__}: {reason}"
        if uses("decorators") and (name := decorated_in(type(part))):
            return f"{type(part).__name__}: a graph leaves out the decorator of {name}()"
        if uses("hooks of layers") and _hooks(part):
            return f"{type(part).__name__} has hooks, whose effects a graph loses"
    return ""


def _compile_and_run(self, *args, **kwargs):
    reason = python_only(self)
    if reason:
        return _run_in_python(self, reason, args, kwargs)
    settings = Settings(self)
    known = _graphs.setdefault(self, [])
    number = next((i for i, one in enumerate(known) if one.same(settings)), len(known))
    if number == len(known):
        known.append(settings)
        if number == _MOST_GRAPHS:
            warnings.warn(
                f"{type(self).__name__} is compiled again whenever one of its settings changes, "
                f"{number} times so far: PyNative mode may be faster",
                RuntimeWarning,
                stacklevel=3,
            )
    before = self.phase
    self.phase = f"{before}.{number}" if number else before
    try:
        return _compiled_once(self, *args, **kwargs)
    finally:
        self.phase = before
        known[number] = Settings(self)  # what the graph itself has set is no change


# A Cell that is called in Graph mode goes on with the graph of its first settings; after this,
# `net.tau = 0.5`, `net.head = nn.Dense(4, 2)` and `group["momentum"] = 0.8` count.
_compiled_once = nn.Cell.compile_and_run
watched_settings = nn.Cell.compile_and_run = _compile_and_run

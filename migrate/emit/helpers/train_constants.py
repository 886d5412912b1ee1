"""What a compiled training step takes for constants: it is built again when one of them is another
one.
"""

import collections
import types

from mindspore import nn

from migrate.emit.helpers.helper_origin import of_helpers
from migrate.emit.helpers.train_settings import Settings

_UNBOUND = types.CellType()
_CONTAINERS = (list, dict, set, collections.deque)


def _surroundings(function):
    """What Graph mode takes for constants: values a function reads from outside, the attributes it
    and the functions and methods it calls read of them, and the settings of Cells.
    """
    around, words, functions = {}, set(), [function]
    for called in functions:  # grows on the way
        code, known = called.__code__, called.__globals__
        for name, cell in zip(code.co_freevars, called.__closure__ or (), strict=True):
            if cell != _UNBOUND:  # a variable that no branch has bound yet
                around.setdefault(name, cell.cell_contents)
        around |= {n: known[n] for n in code.co_names if n in known and n not in around}
        words |= set(code.co_names)
        owners = [type(value) for value in around.values() if not isinstance(value, nn.Cell)]
        found = [around.get(n) for n in code.co_names]
        found += [vars(owner).get(n) for owner in owners for n in code.co_names]
        functions += [
            one
            for one in found
            if isinstance(one, types.FunctionType)
            and not (one.__module__ or "mindspore").startswith("mindspore")
            and not of_helpers(one)
            and one not in functions
        ]
    _add_contents(around, words)
    return around


def _add_contents(around, words):
    """The settings of Cells, what containers hold, and the attributes of these names."""
    pending = list(around.items())
    while pending:
        name, value = pending.pop()
        if isinstance(value, nn.Cell):
            around[f"{name}.settings"] = Settings(value)
        elif isinstance(value, _CONTAINERS):
            around[f"{name}.items"] = tuple(_items(value, 2))  # it may hold others at the next call
        elif not isinstance(value, (types.ModuleType, type, types.FunctionType)):
            attributes = getattr(value, "__dict__", {})
            for word in sorted(words):
                if word in attributes and f"{name}.{word}".count(".") < 4:
                    around[f"{name}.{word}"] = attributes[word]
                    pending.append((f"{name}.{word}", attributes[word]))


def _items(container, depth):
    """What a container holds now, and what the containers in it do."""
    yield len(container)
    for item in container.items() if isinstance(container, dict) else container:
        if depth > 0 and isinstance(item, (*_CONTAINERS, tuple)):
            yield from _items(item, depth - 1)
        else:
            yield item


def _same(known, around):
    """Plain values must be equal, all others the same objects."""
    if known.keys() != around.keys():
        return False
    for name, old in known.items():
        new = around[name]
        if isinstance(old, (bool, int, float, str, bytes)):
            if type(old) is not type(new) or old != new:
                return False
        elif isinstance(old, Settings):
            if type(new) is not Settings or not old.same(new):
                return False
        elif isinstance(old, (tuple, list)) and type(old) is type(new):
            if len(old) != len(new) or any(
                a is not b and not (isinstance(a, (bool, int, float, str)) and a == b)
                for a, b in zip(old, new, strict=True)
            ):
                return False
        elif old is not new:
            return False
    return True


def _name_apart(around):
    """Two Cells in one graph may not have parameters of the same name: prefix the Cell's name."""
    names = {}
    for path, cell in around.items():
        if not isinstance(cell, nn.Cell):
            continue
        parameters = list(cell.get_parameters())
        if len({p.name for p in parameters}) < len({id(p) for p in parameters}):
            for name, parameter in cell.parameters_and_names():  # a layer that was put in later
                parameter.name = name
        if any(names.get(p.name, p) is not p for p in parameters):
            cell.update_parameters_name(path.rpartition(".")[2] + ".")
        names |= {p.name: p for p in parameters}

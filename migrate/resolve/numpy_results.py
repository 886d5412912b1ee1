"""What numpy gives: arrays, and from them numbers that act as arrays and as Python's numbers."""

from __future__ import annotations

from migrate.resolve.values import INT, CallableOf, ListOf, Value, instance

ARRAY = instance("numpy.ndarray")
ENTRY = instance("numpy.generic")  # of an array, or what is left of one: an array or a number
_SHAPE = ListOf(INT, "tuple")  # a plain tuple, also where it is printed

# To one number, unless an axis is given.
_REDUCTIONS = frozenset(
    {
        "all", "any", "argmax", "argmin", "max", "mean", "median", "min", "prod", "ptp", "std",
        "sum", "var", "amax", "amin", "ceil", "floor", "sqrt", "round", "log", "log2", "exp",
    }
)  # fmt: skip
_NUMBERS = frozenset(
    {
        "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
        "float32", "float64",
    }
)  # fmt: skip
_DRAWS = frozenset({"choice", "normal", "rand", "randint", "randn", "random", "uniform"})


def is_numpy(cls: object) -> bool:
    return cls in ("numpy.ndarray", "numpy.generic")


def array_member(name: str) -> Value:
    """`a.shape`, `a.max`"""
    if name == "shape":
        return _SHAPE
    if name in ("size", "ndim", "itemsize", "nbytes"):
        return INT
    return CallableOf(ENTRY if name in _REDUCTIONS or name == "item" else ARRAY)


def numpy_result(function: str) -> Value:
    """Of a call by its name below numpy: `linspace`, `random.randint`."""
    name = function.rpartition(".")[2]
    drawn = function.startswith("random.") and name in _DRAWS
    return ENTRY if drawn or name in _REDUCTIONS or name in _NUMBERS else ARRAY

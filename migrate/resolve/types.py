"""Type words: what the table's `returns` and the user's annotations say about a value."""

from __future__ import annotations

import ast
import re
from functools import cache, lru_cache

from migrate.resolve.hierarchy import instances_of, is_module
from migrate.resolve.numpy_results import ENTRY, is_numpy
from migrate.resolve.values import (
    BOOL,
    FLOAT,
    FOREIGN,
    INT,
    MODULE,
    NONE,
    NUMBER,
    PARAMETER,
    SIZE,
    STR,
    TENSOR,
    UNKNOWN,
    CallableOf,
    Container,
    External,
    Instance,
    Known,
    ListOf,
    ProjectClass,
    TupleOf,
    Union,
    Value,
    instance,
    join,
    options_of,
)

_WORDS: dict[str, Value] = {
    "Tensor": TENSOR,
    "Parameter": PARAMETER,
    "Module": MODULE,
    "self": MODULE,  # a method that gives the module it was called on
    "int": INT,
    "float": FLOAT,
    "number": NUMBER,
    "bool": BOOL,
    "str": STR,
    "Size": SIZE,
    "None": NONE,
    "dtype": instance("torch.dtype"),
    "device": instance("torch.device"),
    "ndarray": instance("numpy.ndarray"),
    "list": ListOf(UNKNOWN),
    "tuple": ListOf(UNKNOWN, "tuple"),
    "dict": ListOf(UNKNOWN, "dict"),
}
_ITERABLES = {
    "list": "list",
    "List": "list",
    "Sequence": "list",
    "MutableSequence": "list",
    "Iterable": "iterator",
    "Iterator": "iterator",
    "Generator": "iterator",
    "iterator": "iterator",
    "Collection": "list",
    "Set": "list",
    "set": "list",
    "ModuleList": "list",
}
_MAPPINGS = frozenset(
    {"dict", "Dict", "Mapping", "MutableMapping", "OrderedDict", "DefaultDict", "defaultdict"}
)


@lru_cache(maxsize=512)
def from_word(text: str) -> Value:
    """Read a `returns` text of the table: Tensor, tuple[Tensor, int], iterator[Module],
    torch.nn.LSTM.
    """
    if not text:
        return UNKNOWN
    return _from_node(ast.parse(text, mode="eval").body)


def _from_node(node: ast.expr) -> Value:
    if isinstance(node, ast.Constant):
        return NONE if node.value is None else UNKNOWN
    if isinstance(node, ast.Name):
        return _WORDS.get(node.id, UNKNOWN)
    if isinstance(node, ast.Attribute):
        return instance(ast.unparse(node))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return join(_from_node(node.left), _from_node(node.right))
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        items = tuple(_from_node(item) for item in inner)
        if node.value.id == "tuple":
            return TupleOf(items) if len(items) > 1 else ListOf(items[0], "tuple")
        if node.value.id == "dict":
            return ListOf(items[-1], "dict")
        return ListOf(items[0], _ITERABLES.get(node.value.id, "list"))
    return UNKNOWN


def as_instance(value: Value) -> Value:
    """What a variable annotated with this value holds."""
    if isinstance(value, External):
        return named_instance(value.name)
    if isinstance(value, ProjectClass):
        return Instance(value)
    if isinstance(value, Known) and value.value is None:
        return NONE
    if isinstance(value, Union):
        result: Value = UNKNOWN
        for option in value.options:
            result = join(result, as_instance(option))
        return result
    return UNKNOWN


# torch.Tensor, torch.FloatTensor, torch.cuda.LongTensor, and what tensors once were wrapped in.
_TENSOR_CLASS = re.compile(r"torch\.(cuda\.)?\w*Tensor|torch\.autograd\.(variable\.)?Variable")


@cache
def named_instance(name: str) -> Value:
    """An object of a library class; builtins and the common torch types get their own values."""
    if name in ("torch.Size",):
        return SIZE
    if _TENSOR_CLASS.fullmatch(name):
        return TENSOR
    if name == "torch.nn.parameter.Parameter":
        return PARAMETER
    head, _, last = name.rpartition(".")
    if head in ("builtins", "typing", "collections.abc"):
        if last in ("Any", "object", "Callable", "Hashable"):
            return UNKNOWN
        if last in _MAPPINGS:
            return ListOf(UNKNOWN, "dict")
        if last in _ITERABLES:
            return ListOf(UNKNOWN, _ITERABLES[last])
        if last in ("tuple", "Tuple"):
            return ListOf(UNKNOWN, "tuple")
        return _WORDS.get(last, instance(name))
    result: Value = UNKNOWN
    for cls in instances_of(name):
        result = join(result, instance(cls))
    return result


def subscripted(generic: Value, arguments: list[Value]) -> Value:
    """What a variable annotated `Generic[arguments]` holds.

    The arguments are instances already, as for variables.
    """
    last = generic.name.rpartition(".")[2] if isinstance(generic, External) else ""
    if last == "Optional":
        return join(arguments[0], NONE)
    if last in ("Union", "Literal"):
        result: Value = UNKNOWN
        for argument in arguments:
            result = join(result, argument)
        return result
    if last in ("tuple", "Tuple"):
        if len(arguments) == 2 and isinstance(arguments[1], Known) and arguments[1].value is ...:
            return ListOf(arguments[0], "tuple")
        return TupleOf(tuple(arguments))
    if last in _MAPPINGS:
        return ListOf(arguments[-1], "dict")
    if last in _ITERABLES:
        return ListOf(arguments[0], _ITERABLES[last])
    if last == "Callable":
        return CallableOf(arguments[-1])
    if last in ("Type", "type"):
        return CallableOf(arguments[0])
    if last in ("Annotated", "Final", "ClassVar", "Required", "NotRequired"):
        return arguments[0]
    return as_instance(generic)


def item_of(value: Value) -> Value:
    """What iterating over a value gives."""
    if value is FOREIGN:
        return FOREIGN
    result: Value = UNKNOWN
    for option in options_of(value):
        if isinstance(option, ListOf):
            result = join(result, option.item if option.kind != "dict" else STR)
        elif isinstance(option, TupleOf):
            for item in option.items:
                result = join(result, item)
        elif isinstance(option, Instance):
            if option.cls in ("torch.Tensor", "torch.nn.Parameter"):
                result = join(result, TENSOR)
            elif option.cls in ("torch.nn.ModuleList", "torch.nn.Sequential"):
                result = join(result, option.item if isinstance(option, Container) else MODULE)
            elif option.cls == "torch.nn.ModuleDict":
                result = join(result, STR)
            elif is_numpy(option.cls):
                result = join(result, ENTRY)
            elif option.cls == "torch.utils.data.DataLoader":
                result = join(result, ListOf(TENSOR))  # a batch: tensors, by position or by key
            elif option.cls == "torch.nn.ParameterList":
                result = join(result, PARAMETER)
            elif (
                isinstance(option.cls, ProjectClass)
                and "torch.nn.Sequential" in option.cls.library_bases()
            ):
                result = join(result, MODULE)
            elif option.cls == "builtins.str":
                result = join(result, STR)
    return result


def is_library_layer(value: Value) -> bool:
    """May be a layer of torch's own; classes of the program's own are what they are."""
    return any(
        isinstance(option, Instance) and isinstance(option.cls, str) and is_module(option.cls)
        for option in options_of(value)
    )

"""From a sample to source: tensors become parameters, everything else is written as a literal.

The text is what a user would have written, so that porting it exercises rows, rules and helpers
exactly as for users.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

OPERATORS = {
    "__radd__": "{b} + {a}",
    "__rsub__": "{b} - {a}",
    "__rmul__": "{b} * {a}",
    "__rdiv__": "{b} / {a}",
    "__rtruediv__": "{b} / {a}",
    "__rmod__": "{b} % {a}",
    "__rpow__": "{b} ** {a}",
    "__rmatmul__": "{b} @ {a}",
    "__rand__": "{b} & {a}",
    "__ror__": "{b} | {a}",
    "__rxor__": "{b} ^ {a}",
    "__getitem__": "{a}[{b}]",
}


_SETTINGS = ("LinearCrossEntropyOptions", "PairwiseDistance")  # whose repr is a call


class Unspellable(ValueError):
    """An argument that no program text can hold: a generator, a callback."""


@dataclass(slots=True)
class Trial:
    """One small function, its inputs, and what is asked of its results."""

    api: str  # the torch name whose row is on trial
    text: str  # the function's source, with {name} for its own name
    inputs: list[Any]  # torch tensors, one for each parameter
    dtype: str = "float32"
    variant: str = "function"
    process: Callable[[Any], Any] | None = None  # removes what is arbitrary (signs, order)
    gradient: bool = False
    doubtful: bool = False  # torch's own tests expect a wrong gradient
    graph: bool = False
    random: bool = False
    clustered: bool = False  # random, but not number by number: whole channels are dropped
    names: list[str] = field(default_factory=list)

    def source(self, name: str) -> str:
        return self.text.replace("{name}", name)


@dataclass(slots=True)
class Writer:
    """Collects parameters while arguments are written."""

    inputs: list[Any] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    index: bool = False

    def value(self, value: Any) -> str:
        import torch

        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if isinstance(value, (torch.Size, tuple)) and not hasattr(value, "_fields"):
            inner = ", ".join(map(self.value, value))
            return f"({inner},)" if len(value) == 1 else f"({inner})"
        if isinstance(value, list):
            return f"[{', '.join(map(self.value, value))}]"
        if value is None or isinstance(value, (bool, str)):
            return repr(value)
        if isinstance(value, int):
            return repr(int(value))
        if isinstance(value, float):
            return repr(float(value)) if math.isfinite(value) else f"float('{float(value)}')"
        if isinstance(value, complex):
            return repr(complex(value))
        if value is Ellipsis:
            return "..."
        if isinstance(value, slice):
            return f"slice({', '.join(map(self.value, (value.start, value.stop, value.step)))})"
        if isinstance(value, torch.device):
            return repr(str(value))
        if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
            return str(value)
        if isinstance(value, torch.nn.TransformerEncoderLayer):
            return _encoder_layer(value)
        if type(value).__name__ in _SETTINGS:
            return f"torch.nn.{value!r}"
        if hasattr(value, "item") and getattr(value, "shape", None) == ():
            return self.value(value.item())
        raise Unspellable(f"a {type(value).__name__} cannot be written down")

    def tensor(self, value: Any) -> str:
        name = self.names.get(id(value))
        if name is None:
            name = f"x{len(self.inputs)}"
            self.names[id(value)] = name
            self.inputs.append(value)
        return name

    def arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[str]:
        written = [self.value(value) for value in args]
        return written + [f"{name}={self.value(value)}" for name, value in kwargs.items()]

    def head(self) -> str:
        parameters = ", ".join(f"x{i}: torch.Tensor" for i in range(len(self.inputs)))
        return f"def {{name}}({parameters}):\n"


def call_of(api: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """A function that makes one call of a torch name, and its inputs."""
    writer = Writer()
    expression = spell(writer, api, args, kwargs)
    return f"{writer.head()}    return {expression}\n", writer.inputs


def in_place_call(
    api: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[str, list[Any]]:
    """A copy is changed and given back: what callers of `x.add_(y)` see."""
    writer = Writer()
    own = writer.value(args[0])
    rest = ", ".join(writer.arguments(args[1:], kwargs))
    if api.startswith("torch.Tensor."):
        changed = f"y.{api.rpartition('.')[2]}({rest})"
    else:
        changed = f"{api}(y{', ' + rest if rest else ''})"
    body = f"    y = {own}.clone()\n    {changed}\n    return y\n"
    return writer.head() + body, writer.inputs


def spell(writer: Writer, api: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """One call as people write it: methods on their receiver, operators between operands."""
    if not api.startswith("torch.Tensor."):
        return f"{api}({', '.join(writer.arguments(args, kwargs))})"
    member = api.removeprefix("torch.Tensor.")
    if member.endswith(".__get__"):
        return f"{writer.value(args[0])}.{member.removesuffix('.__get__')}"
    if member in OPERATORS:
        own, other = writer.value(args[0]), writer.value(args[1])
        if member == "__getitem__" and isinstance(args[1], tuple) and args[1]:
            other = ", ".join(map(writer.value, args[1])) + ("," if len(args[1]) == 1 else "")
        if member == "__rpow__" and other.startswith("-"):
            other = f"({other})"
        return OPERATORS[member].format(a=own, b=other)
    receiver = writer.value(args[0])
    return f"{receiver}.{member}({', '.join(writer.arguments(args[1:], kwargs))})"


def traced(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[str, str, list[Any]]:
    """What a wrapper of torch's databases really calls, written out: (api, text, inputs)."""
    from torch.overrides import TorchFunctionMode, resolve_name

    writer = Writer()
    for value in _tensors([args, kwargs]):
        writer.tensor(value)
    lines: list[str] = []
    apis: list[str] = []
    kept: list[Any] = []  # ids name values only while these live

    class Recorder(TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            result = func(*args, **(kwargs or {}))
            api = resolve_name(func) or ""
            asked = list(_tensors([result])) or api in ("torch.Tensor.item", "torch.Tensor.tolist")
            if not asked or api.endswith(("requires_grad.__get__", "is_leaf.__get__")):
                return result
            if not api.startswith("torch."):
                raise Unspellable(f"{api or func} has no public name")
            api = api.replace("torch._C._nn.", "torch.nn.functional.")
            name = f"t{len(lines)}"
            lines.append(f"    {name} = {spell(writer, api, args, kwargs or {})}\n")
            apis.append(api.removesuffix(".__get__"))
            kept.append((result, args, kwargs))
            if not isinstance(result, (list, tuple)):
                writer.names[id(result)] = name
            else:
                for place, item in enumerate(result):
                    writer.names[id(item)] = f"{name}[{place}]"
            return result

    with Recorder():
        result = function(*args, **kwargs)
    if not lines:
        raise Unspellable("the wrapper calls nothing that has a public name")
    last = writer.names.get(id(result), "") or _container(writer, result, f"t{len(lines) - 1}")
    text = writer.head() + "".join(lines) + f"    return {last}\n"
    return apis[-1], text, writer.inputs


def _container(writer: Writer, result: Any, otherwise: str) -> str:
    """A tuple that the wrapper itself put together, from values that have names."""
    if not isinstance(result, (list, tuple)):
        return otherwise
    names = [writer.names.get(id(item)) for item in result]
    return f"({', '.join(map(str, names))},)" if names and all(names) else otherwise


def _tensors(values: Any) -> Any:
    import torch

    if isinstance(values, torch.Tensor):
        yield values
    elif isinstance(values, dict):
        for value in values.values():
            yield from _tensors(value)
    elif isinstance(values, (list, tuple)):
        for value in values:
            yield from _tensors(value)


def _encoder_layer(layer: Any) -> str:
    """The one module that torch's databases hand to another module's constructor."""
    return (
        f"torch.nn.TransformerEncoderLayer({layer.linear1.in_features}, "
        f"{layer.self_attn.num_heads}, {layer.linear1.out_features}, dropout={layer.dropout.p}, "
        f"activation='{layer.activation.__name__}', "
        f"batch_first={layer.self_attn.batch_first}, norm_first={layer.norm_first}, "
        f"bias={layer.linear1.bias is not None})"
    )

"""Adaptive pooling of an input whose size is known is plain pooling with a fixed kernel.

Sizes come from `--input-shape NAME=SHAPE` for a parameter of forward and are followed through the
layers that the class makes with constant arguments. Where anything is not known, nothing is said.
"""

from __future__ import annotations

import ast

from migrate.pipeline.context import Context
from migrate.resolve.values import Known, TupleOf, Value
from migrate.syntax.access import is_store
from migrate.syntax.ast_index import all_nodes
from migrate.table.signature import Signature

Shape = tuple[int, ...]
_WINDOWS = ("torch.nn.Conv2d", "torch.nn.MaxPool2d", "torch.nn.AvgPool2d")
_ADAPTIVE = "torch.nn.AdaptiveAvgPool2d"
_KEEP_SIZE = (
    "Norm",
    "LU",
    "Sigmoid",
    "Tanh",
    "Dropout",
    "Identity",
    "Hard",
)  # "LU": ReLU, GELU, SiLU


def find_sized_pools(context: Context) -> dict[ast.AST, tuple[int, int]]:
    """Constructor calls of adaptive pools -> kernel, where the input size divides evenly."""
    found: dict[ast.AST, tuple[int, int]] = {}
    if not context.input_shapes:
        return found
    for cls in context.module_classes.values():
        reader = _Reader(context, cls.node)
        reader.read()
        for constructor, sizes in reader.pools.items():
            if len(sizes) == 1:
                found[constructor] = next(iter(sizes))
    return found


class _Reader:
    """Follows one class's forward."""

    def __init__(self, context: Context, node: ast.ClassDef) -> None:
        self.context = context
        self.node = node
        self.layers = self._layers()
        self.pools: dict[ast.AST, set[tuple[int, int]]] = {}

    def _layers(self) -> dict[str, ast.expr]:
        """Attributes that are assigned once."""
        found: dict[str, list[ast.expr]] = {}
        for node in all_nodes(self.node):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
                found.setdefault(node.targets[0].attr, []).append(node.value)
        return {name: values[0] for name, values in found.items() if len(values) == 1}

    def read(self) -> None:
        for item in self.node.body:
            if isinstance(item, ast.FunctionDef) and item.name == "forward":
                known: dict[str, Shape | None] = {
                    a.arg: self.context.input_shapes.get(a.arg) for a in item.args.args
                }
                for statement in item.body:
                    self._statement(statement, known)

    def _statement(self, statement: ast.stmt, known: dict[str, Shape | None]) -> None:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            known[statement.targets[0].id] = self._shape(statement.value, known)
        elif isinstance(statement, ast.Return) and statement.value is not None:
            self._shape(statement.value, known)
        else:
            for node in all_nodes(statement):
                if isinstance(node, ast.Name) and is_store(node):
                    known[node.id] = None

    def _shape(self, node: ast.expr, known: dict[str, Shape | None]) -> Shape | None:
        if isinstance(node, ast.Name):
            return known.get(node.id)
        if not isinstance(node, ast.Call) or not node.args:
            return None
        shape = self._shape(node.args[0], known)
        if shape is None:
            return None
        layer = _of_self(node.func)
        if layer in self.layers:
            return self._layer(self.layers[layer], shape)
        usage = self.context.usage(node.func)
        name = usage.api.rpartition(".")[2] if usage else ""
        return shape if name in ("relu", "gelu", "silu", "dropout", "sigmoid", "tanh") else None

    def _layer(self, made: ast.expr, shape: Shape) -> Shape | None:
        usage = self.context.usage(made.func) if isinstance(made, ast.Call) else None
        if usage is None or not isinstance(made, ast.Call) or len(shape) != 4:
            return None
        if usage.api == "torch.nn.Sequential":
            result: Shape | None = shape
            for part in made.args:
                result = self._layer(part, result) if result is not None else None
            return result
        if usage.api in _WINDOWS:
            return self._window(usage.api, made, shape)
        if usage.api == _ADAPTIVE:
            return self._adaptive(made, shape)
        name = usage.api.rpartition(".")[2]
        return shape if any(word in name for word in _KEEP_SIZE) else None

    def _window(self, api: str, made: ast.Call, shape: Shape) -> Shape | None:
        entry = self.context.table.get(api)
        signature = entry.main.signature if entry else None
        if signature is None:
            return None
        kernel = self._pair(made, signature, "kernel_size", None)
        stride = self._pair(made, signature, "stride", (1, 1) if "Conv" in api else kernel)
        padding = self._pair(made, signature, "padding", (0, 0))
        dilation = self._pair(made, signature, "dilation", (1, 1))
        if kernel is None or stride is None or padding is None or dilation is None:
            return None
        if self._given(made, signature, "ceil_mode") is not None:
            return None
        sizes = [
            (size + 2 * p - d * (k - 1) - 1) // s + 1
            for size, k, s, p, d in zip(shape[2:], kernel, stride, padding, dilation, strict=True)
        ]
        return (*shape[:2], *sizes)

    def _adaptive(self, made: ast.Call, shape: Shape) -> Shape | None:
        arguments = [*made.args, *(keyword.value for keyword in made.keywords)]
        out = _numbers(self.context.type(arguments[0])) if len(arguments) == 1 else None
        if out is None:
            return None
        height, width = shape[2:]
        if height % out[0] == 0 and width % out[1] == 0:
            self.pools.setdefault(made, set()).add((height // out[0], width // out[1]))
        return (*shape[:2], *out)

    def _given(self, made: ast.Call, signature: Signature, name: str) -> ast.expr | None:
        for keyword in made.keywords:
            if keyword.arg == name:
                return keyword.value
        index = signature.names.index(name) if name in signature.names else len(made.args)
        return made.args[index] if index < len(made.args) else None

    def _pair(
        self, made: ast.Call, signature: Signature, name: str, default: tuple[int, int] | None
    ) -> tuple[int, int] | None:
        node = self._given(made, signature, name)
        return default if node is None else _numbers(self.context.type(node))


def _of_self(node: ast.expr) -> str:
    """The attribute's name in `self.name`."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return ""
    return node.attr if node.value.id == "self" else ""


def _numbers(value: Value) -> tuple[int, int] | None:
    """A constant number or pair."""
    if isinstance(value, Known) and isinstance(value.value, int):
        return value.value, value.value
    if isinstance(value, TupleOf) and len(value.items) == 2:
        numbers = [item.value for item in value.items if isinstance(item, Known)]
        if len(numbers) == 2 and all(isinstance(number, int) for number in numbers):
            return numbers[0], numbers[1]
    return None

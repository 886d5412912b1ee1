"""The layers inside a container: what a name of `for layer in self.features` may hold.

for name, layer in self.model._modules.items():
    x = layer(x)          # any layer of the model, also one that changes x in place
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from migrate.flow.answer import unknown
from migrate.resolve.values import Instance, ProjectClass, ProjectFunction, options_of
from migrate.syntax.ast_index import all_nodes

if TYPE_CHECKING:
    from migrate.flow.events import Definition
    from migrate.flow.function import FunctionFlow
    from migrate.flow.layers import Layer, Layers

_LISTING = frozenset({"children", "named_children", "modules", "named_modules", "items", "values"})
_PASSED_ON = frozenset({"enumerate", "reversed", "list", "tuple", "iter", "zip", "dict", "sorted"})
_HOLDERS = frozenset({"Sequential", "ModuleList", "ModuleDict", "OrderedDict"})
_FILLING = frozenset({"append", "extend", "insert", "add_module"})
_ATTRIBUTES = frozenset({"_modules", "features", "classifier"})
_DEEPEST = 6


class LayerMembers:
    """Finds the members of containers; the layers themselves are asked of `Layers`."""

    def __init__(self, layers: Layers) -> None:
        self._layers = layers

    def of_loop(self, definition: Definition, flow: FunctionFlow) -> list[Layer | None]:
        """What a target of a loop gets in turn."""
        statement = definition.statement
        if definition.kind != "loop" or not isinstance(statement, (ast.For, ast.AsyncFor)):
            return []
        return list(self.of(statement.iter, flow))

    def of(self, node: ast.expr, flow: FunctionFlow, depth: int = 0) -> Iterator[Layer | None]:
        """Every layer that lies directly in what an expression holds."""
        if depth > _DEEPEST:
            return
        depth += 1
        if isinstance(node, ast.Call):
            yield from self._of_call(node, flow, depth)
        elif isinstance(node, ast.Attribute):
            yield from self._of_attribute(node, flow, depth)
        elif isinstance(node, (ast.Subscript, ast.Starred)):
            yield from self.of(node.value, flow, depth)
        elif isinstance(node, ast.Name):
            yield from self._of_name(node, flow, depth)
        elif isinstance(node, ast.BinOp):
            yield from self.of(node.left, flow, depth)
            yield from self.of(node.right, flow, depth)
        else:
            for part in _written(node):
                yield self._layers.of(part, flow)

    def _of_call(self, call: ast.Call, flow: FunctionFlow, depth: int) -> Iterator[Layer | None]:
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        if isinstance(call.func, ast.Attribute) and name in _LISTING:
            yield from self.of(call.func.value, flow, depth)
            return
        if name in _PASSED_ON or name in _HOLDERS:
            for argument in call.args:
                if name == "Sequential" and not _is_collection(argument):
                    yield self._layers.of(argument, flow)
                else:
                    yield from self.of(argument, flow, depth)
            return
        api = flow.symbols.api(call.func) or ""
        if api.startswith("torchvision.models."):
            yield _library_model(ast.unparse(call.func))
            return
        made = flow.symbols.type(call.func)
        if isinstance(made, ProjectClass):
            yield from self._of_class(made, depth)
        elif isinstance(made, ProjectFunction):
            inner = self._layers.flow_of(made)
            names = [argument.arg for argument in made.node.args.args]
            for value in self._layers.returned_values(made):
                yield from self.of(value, inner, depth)
                if isinstance(value, ast.Name) and value.id in names:  # `return model`
                    given = dict(zip(names, call.args, strict=False)).get(value.id)
                    yield from self.of(given, flow, depth) if given is not None else ()

    def _of_attribute(
        self, node: ast.Attribute, flow: FunctionFlow, depth: int
    ) -> Iterator[Layer | None]:
        found = False
        for option in options_of(flow.symbols.type(node.value)):
            if isinstance(option, Instance) and isinstance(option.cls, ProjectClass):
                for value, method in self._layers.assigned(option.cls, node.attr):
                    found = True
                    yield from self.of(value, self._layers.flow_of(method), depth)
        if not found and node.attr in _ATTRIBUTES:
            yield from self.of(node.value, flow, depth)

    def _of_class(self, cls: ProjectClass, depth: int) -> Iterator[Layer | None]:
        """The children of an object of the program."""
        for value, method in self._layers.all_assigned(cls):
            inner = self._layers.flow_of(method)
            yield self._layers.of(value, inner)
            yield from self.of(value, inner, depth)

    def _of_name(self, node: ast.Name, flow: FunctionFlow, depth: int) -> Iterator[Layer | None]:
        for definition in flow.defuse.reaching(node):
            if definition.value is not None:
                yield from self.of(definition.value, flow, depth)
            elif isinstance(definition.statement, (ast.For, ast.AsyncFor)):
                yield from self.of(definition.statement.iter, flow, depth)
        for call in _fillings(node.id, flow):
            for argument in call.args:
                yield self._layers.of(argument, flow)
                if _is_collection(argument):
                    yield from self.of(argument, flow, depth)
        for option in options_of(flow.symbols.type(node)):
            if isinstance(option, Instance) and isinstance(option.cls, ProjectClass):
                yield from self._of_class(option.cls, depth)


def _library_model(name: str) -> Layer:
    from migrate.flow.layers import Layer

    reason = f"{name} has layers that change their input in place"
    return Layer(unknown(reason), "maybe", "")


def _is_collection(node: ast.expr) -> bool:
    return isinstance(node, (ast.Starred, ast.List, ast.Tuple, ast.Dict, ast.ListComp)) or (
        isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("OrderedDict", "list")
    )


def _written(node: ast.expr) -> list[ast.expr]:
    """The parts of a list, dict or comprehension; of a pair, its second part."""
    if isinstance(node, (ast.List, ast.Tuple)):
        pairs = [part.elts[-1] for part in node.elts if isinstance(part, ast.Tuple) and part.elts]
        return pairs or [
            part.value if isinstance(part, ast.Starred) else part for part in node.elts
        ]
    if isinstance(node, ast.Dict):
        return list(node.values)
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        return [node.elt]
    return [node.value] if isinstance(node, ast.DictComp) else []


def _fillings(name: str, flow: FunctionFlow) -> Iterator[ast.Call]:
    """`layers.append(nn.ReLU(True))`, in the function that has the list."""
    for node in all_nodes(flow.cfg.scope):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _FILLING
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == name
        ):
            yield node

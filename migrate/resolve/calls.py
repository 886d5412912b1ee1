"""What a call gives: constructors, functions, modules that are called, and a few builtins."""

from __future__ import annotations

import ast

from migrate.resolve.binding import fitting_overloads
from migrate.resolve.expressions import NAMES, Expressions
from migrate.resolve.hierarchy import is_module
from migrate.resolve.members import class_is_module
from migrate.resolve.modules import ROOTS
from migrate.resolve.types import from_word, item_of, named_instance
from migrate.resolve.values import (
    BOOL,
    FLOAT,
    INT,
    MODULE,
    STR,
    TENSOR,
    UNKNOWN,
    CallableOf,
    External,
    Instance,
    Known,
    ListOf,
    Method,
    ProjectClass,
    ProjectFunction,
    SuperOf,
    TupleOf,
    Value,
    external,
    instance,
    is_tensor,
    join,
    options_of,
    type_of_constant,
)

_BUILTIN_RESULTS: dict[str, Value] = {
    "len": INT,
    "int": INT,
    "float": FLOAT,
    "str": STR,
    "repr": STR,
    "bool": BOOL,
    "isinstance": BOOL,
    "hasattr": BOOL,
    "callable": BOOL,
    "any": BOOL,
    "all": BOOL,
    "id": INT,
    "round": instance("builtins.number"),
}
_SAME_ITEMS = {
    "list": "list",
    "sorted": "list",
    "tuple": "tuple",
    "set": "list",
    "iter": "iterator",
    "reversed": "iterator",
}


class Calls(Expressions):
    """Call half of the expressions."""

    def call(self, node: ast.Call) -> Value:
        function = node.func
        if isinstance(function, ast.Name) and function.id == "super":
            return self._super(node)
        if isinstance(function, NAMES):
            callee = self.reference(function, "call")
            usage = self.usages.get(id(function))
            if usage is not None:
                usage.call = node
        else:
            callee = self.evaluate(function)
        called = callee.name if isinstance(callee, External) else ""
        types_at = 1 if called in ("builtins.isinstance", "builtins.issubclass") else -1
        stated_at = 0 if called in ("typing.cast", "torch.jit.annotate") else -1
        values: list[Value] = []
        for index, argument in enumerate(node.args):
            if index == types_at:
                self._type_argument(argument)
                values.append(UNKNOWN)
            elif index == stated_at:
                values.append(self.annotation(argument))
            else:
                values.append(self.evaluate(argument))
        keywords = {k.arg: self.evaluate(k.value) for k in node.keywords}
        if stated_at == 0 and values:
            return values[0]
        if called == "builtins.getattr":
            literal = self._getattr_literal(node, values)
            if literal is not None:
                return literal
        result: Value = UNKNOWN
        for option in options_of(callee):
            result = join(result, self._invoke(option, node, values, keywords))
        return result

    def _type_argument(self, node: ast.expr) -> None:
        """Classes that are only compared with: isinstance(m, (nn.Conv2d, nn.Linear))."""
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        for part in parts:
            if isinstance(part, NAMES):
                self.reference(part, "type")
            else:
                self.evaluate(part)

    def _super(self, node: ast.Call) -> Value:
        for argument in node.args:
            self.evaluate(argument)
        frame = self.frame
        while frame is not None and (frame.function is None or frame.function.owner is None):
            if frame.parent is None:
                return UNKNOWN
            frame = frame.parent
        assert frame.function is not None and frame.function.owner is not None
        return SuperOf(frame.function.owner)

    def _getattr_literal(self, node: ast.Call, values: list[Value]) -> Value | None:
        if len(values) < 2 or not isinstance(values[1], Known):
            return None
        owner, name = values[0], values[1].value
        if isinstance(owner, External) and isinstance(name, str):
            # The module itself was recorded as a value; the member it is asked for says more.
            self.usages.pop(id(node.args[0]), None)
            self.record(node, f"{owner.name}.{name}", "value")
            return external(f"{owner.name}.{name}")
        return UNKNOWN

    # Callees ------------------------------------------------------------------------------------

    def _invoke(
        self, callee: Value, node: ast.Call, values: list[Value], keywords: dict[str | None, Value]
    ) -> Value:
        if isinstance(callee, External):
            return self._library(callee.name, node, values, keywords)
        if isinstance(callee, ProjectClass):
            init = self._method_of(callee, "__init__")
            if init is not None:
                self.run_function(init, bind_hints(init, values, keywords, bound=True))
            return Instance(callee)
        if isinstance(callee, ProjectFunction):
            return self.run_function(callee, bind_hints(callee, values, keywords, bound=False))
        if isinstance(callee, Method):
            if isinstance(callee.function, ProjectFunction):
                static = _is_static(callee.function)
                return self.run_function(
                    callee.function, bind_hints(callee.function, values, keywords, bound=not static)
                )
            if callee.function == "builtins.dict.values":
                return callee.receiver
            return self._row_result(callee.function, node, values, keywords)
        if isinstance(callee, Instance):
            return self._called_instance(callee, values, keywords)
        if isinstance(callee, CallableOf):
            return callee.result
        if (
            callee is UNKNOWN
            and self._inside_module()
            and any(is_tensor(value) for value in values)
        ):
            # self.some_layer(x): a layer we could not see, which mostly gives a tensor
            return TENSOR if _is_self_attribute(node.func) else UNKNOWN
        return UNKNOWN

    def _called_instance(
        self, callee: Instance, values: list[Value], keywords: dict[str | None, Value]
    ) -> Value:
        if isinstance(callee.cls, ProjectClass):
            for name in ("__call__", "forward"):
                method = self._method_of(callee.cls, name)
                if method is not None:
                    return self.run_function(
                        method, bind_hints(method, values, keywords, bound=True)
                    )
            return TENSOR if class_is_module(callee.cls) else UNKNOWN
        if is_module(self.canonical(callee.cls)):
            entry = self.table.get(callee.cls)
            return from_word(entry.returns()) if entry and entry.returns() else TENSOR
        return UNKNOWN

    def _method_of(self, cls: ProjectClass, name: str) -> ProjectFunction | None:
        for base in cls.lineage():
            if isinstance(base, ProjectClass) and isinstance(base.body.get(name), ProjectFunction):
                return base.body[name]  # type: ignore[return-value]
        return None

    # Libraries ----------------------------------------------------------------------------------

    def _library(
        self, name: str, node: ast.Call, values: list[Value], keywords: dict[str | None, Value]
    ) -> Value:
        root, _, rest = name.partition(".")
        if root in ROOTS:
            return self._row_result(name, node, values, keywords)
        if root == "builtins":
            return self._builtin(rest, values)
        if name in ("functools.partial", "functools.partialmethod") and values:
            made: Value = UNKNOWN
            for option in options_of(values[0]):
                made = join(made, self._invoke(option, node, values[1:], keywords))
            return CallableOf(made)
        if name in ("copy.deepcopy", "copy.copy") and values:
            return values[0]
        if name == "collections.OrderedDict":
            return ListOf(UNKNOWN, "dict")
        if root == "math":
            return FLOAT
        if root == "numpy" and rest[:1].islower():
            return instance("numpy.ndarray")
        return UNKNOWN

    def _row_result(
        self, name: str, node: ast.Call, values: list[Value], keywords: dict[str | None, Value]
    ) -> Value:
        entry = self.table.get(name)
        if entry is None:
            return UNKNOWN
        if entry.kind == "class":
            return named_instance(entry.torch)
        forms = fitting_overloads(entry, values, keywords, node)
        result: Value = UNKNOWN
        for form in forms or entry.overloads:
            result = join(result, from_word(form.returns))
        first = entry.main.signature
        # functools.partial passes its arguments on: then they do not stand where node's do.
        own = bool(values) and len(values) == len(node.args)
        if (
            own
            and first
            and first.parameters
            and first.parameters[0].name == "input"
            and values[0] is UNKNOWN
        ):
            self.believe_tensor(node.args[0])
        return result

    def _builtin(self, name: str, values: list[Value]) -> Value:
        if name in _BUILTIN_RESULTS:
            return _BUILTIN_RESULTS[name]
        if not values:
            return ListOf(UNKNOWN, "dict") if name == "dict" else UNKNOWN
        if name in _SAME_ITEMS:
            return (
                values[0]
                if isinstance(values[0], TupleOf)
                else ListOf(item_of(values[0]), _SAME_ITEMS[name])
            )
        if name == "enumerate":
            return ListOf(TupleOf((INT, item_of(values[0]))), "iterator")
        if name == "zip":
            return ListOf(TupleOf(tuple(item_of(value) for value in values)), "iterator")
        if name == "range":
            return ListOf(INT, "iterator")
        if name in ("next",):
            return item_of(values[0])
        if name in ("sum", "max", "min", "abs", "pow"):
            return (
                TENSOR
                if is_tensor(values[0]) or is_tensor(item_of(values[0]))
                else item_of(values[0])
            )
        if name == "map" and isinstance(values[0], External):
            return ListOf(UNKNOWN, "iterator")
        return UNKNOWN


def bind_hints(
    function: ProjectFunction,
    values: list[Value],
    keywords: dict[str | None, Value],
    *,
    bound: bool,
) -> dict[str, Value]:
    """Argument values by parameter name.

    Constants count by their type, since other calls pass others.
    """
    arguments = function.node.args
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)][1 if bound else 0 :]
    hints: dict[str, Value] = {}
    for name, value in zip(names, values, strict=False):
        hints[name] = value
    known = {*names, *(a.arg for a in arguments.kwonlyargs)}
    hints |= {name: value for name, value in keywords.items() if name in known}
    return {
        name: type_of_constant(value) if isinstance(value, Known) else value
        for name, value in hints.items()
        if value is not UNKNOWN and not (isinstance(value, Known) and value.value is None)
    }


def _is_static(function: ProjectFunction) -> bool:
    decorators = getattr(function.node, "decorator_list", ())
    return any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in decorators)


def _is_self_attribute(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return isinstance(node, ast.Name) and node.id == "self"


__all__ = ["MODULE", "Calls", "bind_hints"]

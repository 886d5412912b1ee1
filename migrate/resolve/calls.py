"""What a call gives: constructors, functions, modules that are called, and a few builtins."""

from __future__ import annotations

import ast

from migrate.resolve.binding import bind_hints
from migrate.resolve.builtin_results import GIVE_FIRST, builtin_result, dict_result
from migrate.resolve.callbacks import called_back
from migrate.resolve.chosen_members import result_of_any
from migrate.resolve.containers import CONTAINERS, call_method, fill
from migrate.resolve.expressions import NAMES, Expressions
from migrate.resolve.hierarchy import is_module
from migrate.resolve.image_results import image_result
from migrate.resolve.members import class_is_module
from migrate.resolve.numpy_results import numpy_result
from migrate.resolve.row_results import returned
from migrate.resolve.tensor_evidence import tensor_arguments
from migrate.resolve.types import from_word, item_of, named_instance
from migrate.resolve.unpacking import spread_out
from migrate.resolve.values import (
    FLOAT,
    FOREIGN,
    MODULE,
    OTHER_FRAMEWORKS,
    TENSOR,
    UNKNOWN,
    CallableOf,
    ClassOf,
    Container,
    External,
    Instance,
    Known,
    ListOf,
    MemberOf,
    Method,
    ProjectClass,
    ProjectFunction,
    ProjectModule,
    SuperOf,
    TupleOf,
    Union,
    Value,
    external,
    instance,
    is_packed,
    is_tensor,
    join,
    options_of,
)

_REGISTER = frozenset(
    f"torch.nn.Module.{name}"
    for name in ("add_module", "register_buffer", "register_module", "register_parameter")
)
_STATING = ("typing.cast", "torch.jit.annotate")
_OF_THE_PROGRAM = (ProjectClass, ProjectFunction, Method, Instance)
_TAKES_TYPES = frozenset({*_STATING, "builtins.isinstance", "builtins.issubclass"})
_SPECIAL = frozenset({*_STATING, "builtins.type", "builtins.getattr", "builtins.hasattr"})


class Calls(Expressions):
    """Call half of the expressions."""

    def call(self, node: ast.Call) -> Value:
        function = node.func
        if isinstance(function, ast.Name) and function.id == "super":
            return self._super(node)
        callee = (
            self._callee(function, node) if isinstance(function, NAMES) else self.evaluate(function)
        )
        called = callee.name if isinstance(callee, External) else ""
        if called in _TAKES_TYPES:
            values = self._with_types(called, node.args)
        else:
            values = [self.evaluate(argument) for argument in node.args]
        keywords: dict[str | None, Value] = (
            {k.arg: self.evaluate(k.value) for k in node.keywords} if node.keywords else {}
        )
        if called in _SPECIAL:
            special = self._special(called, node, values)
            if special is not None:
                return special
        if callee.__class__ is Method and callee.function in _REGISTER:
            self._register(callee, values)
        if callee is FOREIGN or called.partition(".")[0] in OTHER_FRAMEWORKS:
            return FOREIGN
        if callee.__class__ is not Union:
            return self._invoke(callee, node, values, keywords)
        result: Value = UNKNOWN
        for option in self._inside_wrappers(options_of(callee)):
            result = join(result, self._invoke(option, node, values, keywords))
        return result

    def _with_types(self, called: str, arguments: list[ast.expr]) -> list[Value]:
        """The arguments of a function that takes classes: `isinstance(x, (list, Tensor))`,
        `cast(Tensor, x)`.
        """
        values: list[Value] = []
        for index, argument in enumerate(arguments):
            if called in _STATING and index == 0:
                values.append(self.annotation(argument))
            elif called not in _STATING and index == 1:
                self._type_argument(argument)
                values.append(UNKNOWN)
            else:
                values.append(self.evaluate(argument))
        return values

    def _callee(self, function: ast.Name | ast.Attribute, node: ast.Call) -> Value:
        self.calling[function] = node
        callee = self.reference(function, "call")
        del self.calling[function]
        usage = self.usages.get(function)
        if usage is not None:
            usage.call = node
        return callee

    def _special(self, called: str, node: ast.Call, values: list[Value]) -> Value | None:
        """What a few functions of Python and torch say by being called."""
        if called in _STATING and values:
            return values[0]
        if called == "builtins.type" and len(node.args) == 1 and isinstance(node.args[0], ast.Name):
            return ClassOf(node.args[0].id)
        if called == "builtins.getattr":
            return self._getattr_literal(node, values)
        if called == "builtins.hasattr":
            self._hasattr_literal(node, values)
        return None

    def _inside_wrappers(self, options: tuple[Value, ...]) -> tuple[Value, ...]:
        """DataParallel(net) gives what net gives: the wrapper itself has nothing to add."""
        inner = tuple(option for option in options if not self.is_wrapper(option))
        return inner or options

    def _register(self, method: Method, values: list[Value]) -> None:
        """`self.register_buffer("mask", mask)` makes an attribute, as an assignment does."""
        owner = getattr(method.receiver, "cls", None)
        if (
            isinstance(owner, ProjectClass)
            and len(values) > 1
            and isinstance(values[0], Known)
            and isinstance(values[0].value, str)
        ):
            owner.learn(values[0].value, values[1])

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
        if len(values) > 1 and isinstance(values[0], ProjectModule):
            module = values[0].name
            if isinstance(values[1], Known) and isinstance(values[1].value, str):
                return self.member_of_module(module, values[1].value)[0]
            return MemberOf(module)
        if len(values) < 2 or not isinstance(values[1], Known):
            return None
        owner, name = values[0], values[1].value
        if isinstance(owner, External) and isinstance(name, str):
            # The module itself was recorded as a value; the member it is asked for says more.
            self.usages.pop(node.args[0], None)
            self.record(node, f"{owner.name}.{name}", "value")
            return external(f"{owner.name}.{name}")
        return UNKNOWN

    def _hasattr_literal(self, node: ast.Call, values: list[Value]) -> None:
        """`hasattr(F, "scaled_dot_product_attention")` asks for one API, not for the module."""
        if len(values) == 2 and isinstance(values[0], External) and isinstance(values[1], Known):
            self.usages.pop(node.args[0], None)
            self.record(node, f"{values[0].name}.{values[1].value}", "exists")

    # Callees ------------------------------------------------------------------------------------

    def _invoke(
        self, callee: Value, node: ast.Call, values: list[Value], keywords: dict[str | None, Value]
    ) -> Value:
        if isinstance(callee, External):
            return self._library(callee.name, node, values, keywords)
        if (
            any(isinstance(argument, ast.Starred) for argument in node.args)
            and len(node.args) == len(values)  # a call back has arguments of its own
            and isinstance(callee, _OF_THE_PROGRAM)
            and not isinstance(getattr(callee, "function", None), str)
        ):
            values = spread_out(node.args, values)
        if isinstance(callee, ProjectClass):
            init = self._method_of(callee, "__init__")
            if init is not None:
                self.run_function(init, bind_hints(init, values, keywords, bound=True))
            return Instance(callee)
        if isinstance(callee, ProjectFunction):
            return self.run_function(callee, bind_hints(callee, values, keywords, bound=False))
        if isinstance(callee, Method):
            return self._invoke_method(callee, node, values, keywords)
        if isinstance(callee, Instance):
            return self._called_instance(callee, values, keywords)
        if isinstance(callee, CallableOf):
            return callee.result
        if isinstance(callee, MemberOf):
            return result_of_any(
                self.members_of_module(callee.module),
                node,
                lambda member: self._invoke(member, node, values, keywords),
            )
        if (
            callee is UNKNOWN
            and self._inside_module()
            and any(is_tensor(value) for value in values)
        ):
            # self.some_layer(x): a layer we could not see, which mostly gives a tensor
            return TENSOR if _is_self_attribute(node.func) else UNKNOWN
        return UNKNOWN

    def _invoke_method(
        self, callee: Method, node: ast.Call, values: list[Value], keywords: dict[str | None, Value]
    ) -> Value:
        function = callee.function
        if isinstance(function, ProjectFunction):
            bound = not _is_static(function)
            return self.run_function(function, bind_hints(function, values, keywords, bound=bound))
        if function == "builtins.dict.values":
            return callee.receiver
        if function == "torch.autograd.Function.apply":
            return self._applied(callee.receiver, values, keywords)
        if isinstance(callee.receiver, Container):
            name = function.rpartition(".")[2]
            held = call_method(callee.receiver, name, node, values, self.evaluate)
            if held is not None:
                return held
        result = self._row_result(function, node, values, keywords)
        entry = self.table.get(function) if result is MODULE else None
        return callee.receiver if entry is not None and entry.returns() == "self" else result

    def _applied(
        self, receiver: Value, values: list[Value], keywords: dict[str | None, Value]
    ) -> Value:
        """`Swish.apply(x)` calls the static forward, with a context before its arguments."""
        cls = receiver.cls if isinstance(receiver, Instance) else receiver
        forward = self._method_of(cls, "forward") if isinstance(cls, ProjectClass) else None
        if forward is None:
            return TENSOR
        return self.run_function(forward, bind_hints(forward, values, keywords, bound=True))

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
            if values and is_packed(values[0]):
                return TupleOf((values[0], TENSOR))  # a recurrent layer: its output is packed, too
            entry = self.table.get(callee.cls)
            return from_word(entry.returns()) if entry and entry.returns() else TENSOR
        if callee.cls.startswith("torchvision.transforms."):
            entry = self.table.get(callee.cls)
            return from_word(entry.returns()) if entry else UNKNOWN
        return UNKNOWN

    def _method_of(self, cls: ProjectClass, name: str) -> ProjectFunction | None:
        for base in cls.lineage():
            if isinstance(base, ProjectClass) and isinstance(base.body.get(name), ProjectFunction):
                return base.body[name]  # type: ignore[return-value]
        return None

    # Libraries ----------------------------------------------------------------------------------

    def _invoke_any(
        self, callee: Value, node: ast.Call, values: list[Value], keywords: dict[str | None, Value]
    ) -> Value:
        """What any of the things gives that a value can be."""
        result: Value = UNKNOWN
        for option in options_of(callee):
            result = join(result, self._invoke(option, node, values, keywords))
        return result

    def _builtin(self, name: str, node: ast.Call, values: list[Value]) -> Value:
        if name == "map" and len(values) > 1:
            items = [item_of(value) for value in values[1:]]
            return ListOf(self._invoke_any(values[0], node, items, {}), "iterator")
        if name == "vars" and values and isinstance(values[0], ProjectModule):
            return ListOf(MemberOf(values[0].name), "dict")
        if name == "globals":
            return ListOf(MemberOf(self.module.source.module), "dict")
        return builtin_result(name, values)

    def _library(
        self, name: str, node: ast.Call, values: list[Value], keywords: dict[str | None, Value]
    ) -> Value:
        root, _, rest = name.partition(".")
        if root in self.table.roots:
            return self._row_result(name, node, values, keywords)
        if name in ("builtins.dict", "collections.OrderedDict"):
            return dict_result(values, keywords)
        if root == "builtins":
            return self._builtin(rest, node, values)
        if name in ("functools.partial", "functools.partialmethod") and values:
            return CallableOf(self._invoke_any(values[0], node, values[1:], keywords))
        if name in GIVE_FIRST and values:
            return values[0]
        if name == "collections.deque":
            return instance(name)
        if root == "math":
            return FLOAT
        if root == "numpy" and rest[:1].islower():
            return numpy_result(rest)
        return image_result(name)

    def _row_result(
        self, name: str, node: ast.Call, values: list[Value], keywords: dict[str | None, Value]
    ) -> Value:
        entry = self.table.get(name)
        if entry is None:
            return UNKNOWN
        for function, arguments in called_back(entry.torch, values, keywords):
            for option in options_of(function):
                self._invoke(option, node, arguments, {})
        if entry.torch in CONTAINERS:
            return self._container(entry.torch, node, values)
        if entry.kind == "class":
            made = named_instance(entry.torch)
            if not self.is_wrapper(made):
                return made
            return join(made, values[0] if values else keywords.get("module", UNKNOWN))
        if name.startswith("torch.nn.init.") and node.args:
            self._believe_layer(node.args[0])
        result = returned(entry, node, values, keywords)
        # functools.partial passes its arguments on: then they do not stand where node's do.
        if len(values) == len(node.args):
            for argument in tensor_arguments(node, entry):
                self.believe(argument, TENSOR)
        return result

    def _container(self, name: str, node: ast.Call, values: list[Value]) -> Container:
        """One object for each place in the source that makes one."""
        container = self._containers.get(node)
        if container is None:
            container = self._containers[node] = Container(name)
        fill(container, node, values, self.evaluate)
        return container

    def _believe_layer(self, node: ast.expr) -> None:
        """`init.ones_(self.norm.weight)`: what has a weight to initialise is a layer."""
        if isinstance(node, ast.Attribute) and node.attr == "data":
            node = node.value
        if isinstance(node, ast.Attribute) and node.attr in ("weight", "bias"):
            owner = self.base(node.value)[0]
            if owner is UNKNOWN:
                self.attribute(node, MODULE, "attribute")


def _is_static(function: ProjectFunction) -> bool:
    decorators = getattr(function.node, "decorator_list", ())
    return any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in decorators)


def _is_self_attribute(node: ast.expr) -> bool:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return isinstance(node, ast.Name) and node.id == "self"


__all__ = ["MODULE", "Calls"]

"""Run a module abstractly: its top level first, then every function once, on demand or at the
end.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from typing import TypeVar

from migrate.resolve.budget import steps_for
from migrate.resolve.frames import Frame
from migrate.resolve.identity_functions import calls_another, gives_tensors_too, passed_parameter
from migrate.resolve.look import CallRecorder, Hints
from migrate.resolve.members import class_is_module
from migrate.resolve.modules import Modules, ModuleScope
from migrate.resolve.outline import Deferred, outline
from migrate.resolve.parameter_evidence import is_no_tensor, without_tensors
from migrate.resolve.statements import Statements
from migrate.resolve.usage import Usage
from migrate.resolve.values import (
    NONE,
    TENSOR,
    UNKNOWN,
    Instance,
    Known,
    ListOf,
    ProjectClass,
    ProjectFunction,
    Value,
    is_tensor,
    join,
    same,
    type_of_constant,
)
from migrate.syntax.ast_index import all_nodes

Result = TypeVar("Result")
# Parameters of forward that are no data: taking `dim` for a tensor would choose a wrong overload.
_SETTING = re.compile(
    r"dim|axis|axes|device|dtype|size|shape|mode|name|kind|type|num|count|factor|return_|use_|is_"
    r"|need|flag|step|epoch|train|stride|pad|kernel|offset|level|layer|length|height|width|config"
    r"|^[nkhwtbcpHWTBNC]$"
)
_DEEPEST = 40  # functions entered from functions; deeper ones wait until the end
_MOST_LOOKS = 4  # at a function whose callers or callees say more by and by
_HOPS = 1  # modules away from the file in hand whose function bodies are still looked at
sys.setrecursionlimit(max(sys.getrecursionlimit(), 12_000))


class Interpreter(Statements):
    """One for each file: `own_usages` and `own_types` say what was found in it."""

    def __init__(self, modules: Modules, recorder: CallRecorder | None = None) -> None:
        super().__init__()
        self.modules = modules
        self._recorder = recorder
        self.table = modules.table
        self._depth = 0
        self._hops = 0
        self._elsewhere: dict[ast.AST, Usage] = {}
        self.own_usages: dict[ast.AST, Usage] = {}
        self.own_types: dict[ast.AST, Value] = {}

    def run(self, scope: ModuleScope) -> dict[ast.AST, Usage]:
        """All torch usages of one module, by the identity of the node."""
        self.main = scope
        self.steps_left = steps_for(scope.lines)
        self.modules.bases_of = self._foreign_bases
        self._enter(scope, scope.frame)
        self.ensure_executed(scope)
        for cls in scope.classes:
            self._run_class(cls)
        self._run_pending(scope)
        self._rerun_refined(scope)
        return self.own_usages

    def refine(self, scope: ModuleScope, hints: Hints) -> None:
        """Look again at functions of the file in hand, with what callers in other files pass."""
        self.modules.bases_of = self._foreign_bases
        path = str(scope.source.path)
        for function in scope.functions:
            for name, value in hints.get((path, function.qualified), {}).items():
                function.hints[name] = join(function.hints.get(name, UNKNOWN), value)
        self._rerun_refined(scope)

    def _run_pending(self, scope: ModuleScope) -> None:
        index = 0
        while index < len(scope.functions):  # running one may define more
            function = scope.functions[index]
            if not function.done:
                self.run_function(function, {})
            index += 1

    def _run_class(self, cls: ProjectClass) -> None:
        """__init__ says what the attributes are, forward what the tensors are; then the rest."""
        self._enter(cls.module, cls.module.frame)
        self.prepare(cls)
        for name in ("forward",):
            method = cls.body.get(name)
            if isinstance(method, ProjectFunction) and not method.done:
                self.run_function(method, {})

    def _rerun_refined(self, scope: ModuleScope) -> None:
        """Look again at functions whose parameters were only understood on the way; what that says
        of the functions they call leads on to those.
        """
        looks: dict[ProjectFunction, int] = {}
        while True:
            refined = [
                function
                for function in scope.functions
                if _is_refined(function) and looks.get(function, 0) < _MOST_LOOKS
            ]
            for function in refined:
                looks[function] = looks.get(function, 0) + 1
                function.done = False
                self._forget(function)
                before = function.result
                self.run_function(function, {})
                if before is UNKNOWN and function.result is not UNKNOWN:
                    for caller in function.callers:
                        caller.stale = True
            self._run_pending(scope)  # functions inside of those
            if not refined:
                return

    def _forget(self, function: ProjectFunction) -> None:
        """What the first look took for torch's may be something else at the second."""
        node = function.node
        if isinstance(node, ast.Lambda):
            return
        for statement in node.body:
            for part in all_nodes(statement):
                self.own_usages.pop(part, None)

    def ensure_executed(self, scope: ModuleScope) -> None:
        if scope.executed:
            return
        scope.executed = True
        if scope is not self.main:
            outline(scope, self.modules)
            return
        saved = self._save()
        self._enter(scope, scope.frame)
        self.execute(scope.tree.body)
        self._restore(saved)

    def settle(self, deferred: Deferred) -> Value:
        """Evaluate what an imported module left open, once; a name that needs itself is unknown."""
        if deferred.value is None:
            deferred.value = UNKNOWN
            deferred.value = self._elsewhere_do(
                deferred.module, deferred.frame, lambda: self.evaluate(deferred.node)
            )
        return deferred.value

    def look_up(self, name: str, module: ModuleScope, frame: Frame | None = None) -> Value:
        """What a name means in a module, or in a frame of it; imports are followed."""
        return self._elsewhere_do(module, frame or module.frame, lambda: self.lookup(name)[0])

    def _foreign_bases(self, cls: ProjectClass, frame: Frame) -> list[Value]:
        return self._elsewhere_do(cls.module, frame, lambda: self.base_classes(cls.node))

    def _elsewhere_do(
        self, module: ModuleScope, frame: Frame, work: Callable[[], Result]
    ) -> Result:
        saved = self._save()
        self._enter(module, frame)
        try:
            return work()
        finally:
            self._restore(saved)

    # Functions ----------------------------------------------------------------------------------

    def run_function(self, function: ProjectFunction, hints: dict[str, Value]) -> Value:
        """The function's result; its body is executed the first time only."""
        if self._recorder is not None and function.module is not self.main:
            self._recorder.record(function, hints)
            if function.done:  # of a file that others share: they know only what it says itself
                return self._own_result(function, hints)
        for name, value in hints.items():
            function.hints[name] = (
                join(function.hints[name], value) if name in function.hints else value
            )
        if self.frame.function is not None and self.frame.function is not function:
            function.callers.add(self.frame.function)
        if function.done or function.running or self._depth > _DEEPEST:
            return self._own_result(function, hints)
        away = function.module is not self.module and function.module is not self.main
        if away:
            stated = self._stated_result(function)
            if self._hops >= _HOPS or (stated is not UNKNOWN and function.owner is None):
                return stated  # the body of a function adds nothing to its signature
        self._hops += away
        function.running = True
        function.stale = False
        function.seen = dict(function.hints)
        saved = self._save()
        self._depth += 1
        frame = Frame(function.frame, function.qualified, function=function)
        self._enter(function.module, frame)
        self.returns, self.yields = [], []
        self._bind_parameters(function, frame)
        if isinstance(function.node, ast.Lambda):
            self.returns.append(self.evaluate(function.node.body))
        else:
            stated = self.annotation(function.node.returns)
            self.execute(self.modules.body_of(function))
            if stated is not UNKNOWN:
                self.returns = [stated]
        function.result = self._result()
        self._restore(saved)
        self._depth -= 1
        self._hops -= away
        function.running, function.done = False, True
        return self._own_result(function, hints)

    def _own_result(self, function: ProjectFunction, hints: dict[str, Value]) -> Value:
        """What this call gives, where the function gives back what it was given, or what that
        gives.
        """
        if getattr(function.node, "returns", None) is not None:
            return function.result
        if function.passes is None:
            function.passes = passed_parameter(function.node)
        name = function.passes
        if not name and calls_another(function.node, function.seen, hints):
            return UNKNOWN
        if not name:
            return function.result
        if name in hints:
            return hints[name]
        return function.result if is_tensor(function.result) else UNKNOWN

    def _stated_result(self, function: ProjectFunction) -> Value:
        """What the signature alone says, without a look at the body."""
        if isinstance(function.node, ast.Lambda) or function.node.returns is None:
            return UNKNOWN
        returns = function.node.returns
        return self._elsewhere_do(function.module, function.frame, lambda: self.annotation(returns))

    def _result(self) -> Value:
        result: Value = UNKNOWN
        for value in self.yields or self.returns:
            result = join(result, value)
        return ListOf(result, "iterator") if self.yields else result

    def _bind_parameters(self, function: ProjectFunction, frame: Frame) -> None:
        arguments = function.node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
        defaults += arguments.defaults
        receiver = function.owner is not None and not _has_decorator(function, "staticmethod")
        computes = (
            receiver
            and function.owner is not None
            and _is_forward(function)
            and class_is_module(function.owner)
        )
        if (
            not receiver
            and function.owner is not None
            and function.qualified.rpartition(".")[2] in ("forward", "backward")
            and "torch.autograd.Function" in function.owner.library_bases()
        ):
            # A context stands where other methods have self; then come tensors, and gradients.
            computes = True
            self.annotation(positional[0].annotation)
            frame.bind(positional[0].arg, UNKNOWN)
            positional, defaults = positional[1:], defaults[1:]
        for index, (argument, default) in enumerate(zip(positional, defaults, strict=True)):
            if index == 0 and receiver and function.owner is not None:
                self.annotation(argument.annotation)
                is_class = _has_decorator(function, "classmethod")
                frame.bind(argument.arg, function.owner if is_class else Instance(function.owner))
            else:
                frame.bind(argument.arg, self._parameter(function, argument, default, computes))
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            frame.bind(argument.arg, self._parameter(function, argument, default, computes))
        if arguments.vararg:
            item = self.annotation(arguments.vararg.annotation)
            frame.bind(
                arguments.vararg.arg,
                ListOf(TENSOR if computes and item is UNKNOWN else item, "tuple"),
            )
        if arguments.kwarg:
            frame.bind(
                arguments.kwarg.arg, ListOf(self.annotation(arguments.kwarg.annotation), "dict")
            )

    def _parameter(
        self, function: ProjectFunction, argument: ast.arg, default: ast.expr | None, computes: bool
    ) -> Value:
        """Annotation, else what callers pass, else the default.

        Forward's bare parameters are tensors.
        """
        stated = self.annotation(argument.annotation)
        if stated is not UNKNOWN:
            function.stated.add(argument.arg)  # whatever callers pass
            return stated
        value = function.bound[argument.arg] = self._unstated(function, argument, default, computes)
        return value

    def _unstated(
        self, function: ProjectFunction, argument: ast.arg, default: ast.expr | None, computes: bool
    ) -> Value:
        hint = function.hints.get(argument.arg, UNKNOWN)
        fallback = self._default(default, function)
        other = computes and is_no_tensor(function.node, argument.arg, self.table)
        if other and hint is not UNKNOWN:
            hint = without_tensors(hint)
        if hint is not UNKNOWN:
            return join(hint, fallback)
        data = computes and not other and not _SETTING.search(argument.arg)
        if data and (default is None or fallback is NONE):
            return TENSOR if default is None else join(TENSOR, NONE)
        return UNKNOWN if fallback is NONE else fallback

    def _default(self, default: ast.expr | None, function: ProjectFunction) -> Value:
        if default is None:
            return UNKNOWN
        outer, self.frame = self.frame, function.frame
        usages, self.usages = self.usages, {}  # recorded when the definition was executed
        value = self.evaluate(default)
        self.frame, self.usages = outer, usages
        if isinstance(value, Known):
            return NONE if value.value is None else type_of_constant(value)
        return value

    # State --------------------------------------------------------------------------------------

    def _enter(self, scope: ModuleScope, frame: Frame) -> None:
        self.module, self.frame = scope, frame
        mine = scope is self.main
        self.usages = self.own_usages if mine else self._elsewhere
        self.types = self.own_types if mine else None
        if not mine:
            self._elsewhere.clear()

    def _save(self) -> tuple[ModuleScope, Frame, list[Value], list[Value]]:
        return self.module, self.frame, self.returns, self.yields

    def _restore(self, saved: tuple[ModuleScope, Frame, list[Value], list[Value]]) -> None:
        module, frame, self.returns, self.yields = saved
        self._enter(module, frame)


def _is_refined(function: ProjectFunction) -> bool:
    """Its body was looked at before some caller said what a parameter is, or some method what an
    attribute is.
    """
    if not function.done:
        return False
    return function.stale or any(
        (name not in function.seen or gives_tensors_too(function.seen[name], value))
        and not same(value, function.bound.get(name, UNKNOWN))
        for name, value in function.hints.items()
        if name not in function.stated
    )


def _is_forward(function: ProjectFunction) -> bool:
    name = function.qualified.rpartition(".")[2]
    return name == "forward"


def _has_decorator(function: ProjectFunction, name: str) -> bool:
    decorators = getattr(function.node, "decorator_list", ())
    return any(isinstance(d, ast.Name) and d.id == name for d in decorators)

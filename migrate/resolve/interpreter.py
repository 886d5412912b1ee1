"""Run a module abstractly: its top level first, then every function once, on demand or at the
end.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from typing import TypeVar

from migrate.resolve.budget import steps_for
from migrate.resolve.frames import Frame
from migrate.resolve.identity_functions import (
    called_names,
    called_otherwise,
    gives_tensors_too,
    passed_parameter,
)
from migrate.resolve.look import CallRecorder, Hints
from migrate.resolve.module_index import Definition
from migrate.resolve.module_scope import Deferred, ModuleScope
from migrate.resolve.modules import Modules
from migrate.resolve.outline import defined, outline
from migrate.resolve.parameters import bind_parameters
from migrate.resolve.statements import Statements
from migrate.resolve.usage import Usage
from migrate.resolve.values import (
    UNKNOWN,
    ListOf,
    ProjectClass,
    ProjectFunction,
    TupleOf,
    Value,
    is_tensor,
    join,
    same,
)
from migrate.syntax.ast_index import all_nodes, forget_index

Result = TypeVar("Result")
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
                if _is_open(before) and not same(before, function.result):
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
            deferred.value = self._settled(deferred)
        return deferred.value

    def _settled(self, deferred: Deferred) -> Value:
        node, module, frame = self.modules.node_of(deferred), deferred.module, deferred.frame
        if isinstance(node, Definition):
            return defined(node, module, frame, self.modules)
        if not isinstance(node, ast.expr):
            return UNKNOWN
        return self._elsewhere_do(module, frame, lambda: self.evaluate(node))

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
        self._note_caller(function)
        if function.done or function.running or self._depth > _DEEPEST:
            return self._own_result(function, hints)
        away = function.module is not self.module and function.module is not self.main
        if away:
            stated = self._stated_result(function)
            if self._hops >= _HOPS or (stated is not UNKNOWN and function.owner is None):
                return stated  # the body of a function adds nothing to its signature
        self._hops += away
        given_up = self._restore_body(function)
        function.running = True
        function.stale = False
        function.seen = dict(function.hints)
        saved = self._save()
        self._depth += 1
        frame = Frame(function.frame, function.qualified, function=function)
        self._enter(function.module, frame)
        self.returns, self.yields = [], []
        bind_parameters(self, function, frame)
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
        if given_up:
            self._give_up_body(function)
        return self._own_result(function, hints)

    def _note_caller(self, function: ProjectFunction) -> None:
        """Only functions of the file in hand are looked at again."""
        caller = self.frame.function
        if caller is not None and caller is not function and function.module is self.main:
            function.callers.add(caller)

    def _restore_body(self, function: ProjectFunction) -> bool:
        """Read the body of a function again, if its module has given it up."""
        node = function.node
        if isinstance(node, ast.Lambda) or node.body:
            return False
        self.modules.body_of(function)
        return self.modules.lacks_bodies(function.module)

    def _give_up_body(self, function: ProjectFunction) -> None:
        """What callers ask of a body that was looked at is noted; the statements may go."""
        assert not isinstance(function.node, ast.Lambda)
        function.passes = passed_parameter(function.node)
        function.called = called_names(function.node)
        forget_index(function.node)
        function.node.body = []

    def _own_result(self, function: ProjectFunction, hints: dict[str, Value]) -> Value:
        """What this call gives, where the function gives back what it was given, or what that
        gives.
        """
        if getattr(function.node, "returns", None) is not None:
            return function.result
        if function.passes is None:
            self._restore_body(function)
            function.passes = passed_parameter(function.node)
        name = function.passes
        if not name and hints and self._calls_another(function, hints):
            return UNKNOWN
        if not name:
            return function.result
        if name in hints:
            return hints[name]
        return function.result if is_tensor(function.result) else UNKNOWN

    def _calls_another(self, function: ProjectFunction, hints: dict[str, Value]) -> bool:
        others = called_otherwise(function.seen, hints)
        if others and function.called is None:
            self._restore_body(function)
            function.called = called_names(function.node)
        return bool(others) and not others.isdisjoint(function.called or ())

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


def _is_open(value: Value, depth: int = 3) -> bool:
    """Unknown, or with a part that is: `(img.sum(), img.max())` of an unknown img."""
    if value is UNKNOWN:
        return True
    parts = value.items if isinstance(value, TupleOf) else ()
    parts = (value.item,) if isinstance(value, ListOf) else parts
    return depth > 0 and any(_is_open(part, depth - 1) for part in parts)


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

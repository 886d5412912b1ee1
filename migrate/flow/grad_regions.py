"""Which statements run where torch records nothing: blocks, decorators, bare switches, and context
managers of the program that switch gradients off for the block they are used on.

    @contextmanager
    def frozen(net):              `with frozen(net):` is a block without gradients: the function
        with torch.no_grad():     yields inside of one
            yield net

A mode is "" (nothing is recorded), "True", a test, or UNCLEAR.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from migrate.flow.grad_mode import (
    STATEMENTS,
    Cut,
    chosen_mode,
    definition,
    grad_mode,
    stops_gradient,
)
from migrate.flow.project_flags import sets_grad_mode, switches_grad_mode
from migrate.resolve.values import ProjectClass, ProjectFunction, options_of
from migrate.syntax.access import attribute_of, method_of
from migrate.syntax.ast_index import all_nodes

if TYPE_CHECKING:
    from migrate.flow import Flow

UNCLEAR = "?"
_AS_BEFORE = "="  # what a function starts with: the mode of its caller
_STORING = ("append", "extend", "insert", "add", "update", "setdefault", "put", "appendleft")
_ENDS = ("__exit__", "close")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class GradRegions:
    """Asked of a file; follows functions and classes of the program into other files."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._sets = sets_grad_mode(flow.modules.project)
        self._switches = switches_grad_mode(flow.modules.project)
        self.followed: set[ast.AST] = set()  # uses as values whose blocks are known
        self._left: dict[ast.AST, tuple[str, str]] = {}  # function -> modes at its yields, its end

    def cuts(self, body: list[ast.stmt], function: ast.AST | None) -> list[Cut]:
        """All statements of a function's own body that run where nothing is recorded."""
        decorators = getattr(function, "decorator_list", ())
        modes = [mode for one in decorators if (mode := self.context(one, [])) is not None]
        walk = _Walk(self, body, self._flow)
        walk.block(body, modes[-1] if modes else "True", bool(modes))
        return walk.found

    def stops(self, statement: ast.stmt) -> bool:
        """A no_grad block, or the result of a function that is decorated with it."""
        if isinstance(statement, ast.With):
            enabled = any(
                grad_mode(node, self._flow) == "True"
                for node in all_nodes(statement)
                if isinstance(node, (ast.Attribute, ast.Name))
            )
            body = [statement]
            items = [item.context_expr for item in statement.items]
            return not enabled and any(self.context(item, body) == "" for item in items)
        value = getattr(statement, "value", None)
        if not isinstance(value, ast.Call):
            return False
        return any(
            self._is_decorated(option)
            for option in options_of(self._flow.symbols.type(value.func))
            if isinstance(option, ProjectFunction)
        )

    def _is_decorated(self, function: ProjectFunction) -> bool:
        self._flow.symbols.enter(function)
        decorators = getattr(function.node, "decorator_list", ())
        return any(stops_gradient(decorator, self._flow) for decorator in decorators)

    def context(self, node: ast.expr, body: Sequence[ast.stmt]) -> str | None:
        """The mode inside of `with node:`; None where it changes nothing."""
        said = self._chosen(node, body)
        if said is not None or not isinstance(node, ast.Call) or not self._sets:
            return said
        if not node.args:  # `(torch.no_grad if off else nullcontext)()`
            said = self._chosen(node.func, body)
            if said is not None:
                return said
        for option in options_of(self._flow.symbols.type(node.func)):
            if isinstance(option, ProjectFunction):
                said = self._at_yields(option, node)
            elif isinstance(option, ProjectClass):
                said = self._of_class(option, node)
            if said is not None:
                return said
        return None

    def _chosen(self, node: ast.expr, body: Sequence[ast.stmt]) -> str | None:
        said = grad_mode(node, self._flow)
        if said is None and isinstance(node, (ast.Name, ast.Attribute, ast.IfExp)):
            said = chosen_mode(node, body, self._flow)
            given = definition(node, body) if said is not None else None
            self.followed |= set(all_nodes(given)) if given is not None else set()
        if said is not None:
            self.followed |= set(all_nodes(node))
        return said

    def setter(self, call: ast.expr) -> str | None:
        """The mode behind a call of a function of the program that sets it and returns."""
        if not self._switches or not isinstance(call, ast.Call):
            return None
        for option in options_of(self._flow.symbols.type(call.func)):
            if isinstance(option, ProjectFunction):
                mode = self._modes_of(option)[1]
                if mode != _AS_BEFORE:
                    return _said_by_caller(mode, option.node, call)
        return None

    # Functions and classes ------------------------------------------------------------------------

    def _at_yields(self, function: ProjectFunction, call: ast.Call) -> str | None:
        mode = self._modes_of(function)[0]
        return None if mode == _AS_BEFORE else _said_by_caller(mode, function.node, call)

    def _of_class(self, cls: ProjectClass, call: ast.Call) -> str | None:
        for base in cls.lineage():
            if _stops_by_name(base):
                return ""
            enter = base.body.get("__enter__") if isinstance(base, ProjectClass) else None
            if isinstance(enter, ProjectFunction):
                mode = self._modes_of(enter)[1]
                if mode == _AS_BEFORE:
                    return None
                return self._said_by_constructor(mode, cls, call)
        return None

    def _said_by_constructor(self, mode: str, cls: ProjectClass, call: ast.Call) -> str:
        """`torch.set_grad_enabled(self.flag)`, where the constructor stores its argument."""
        init = cls.body.get("__init__")
        if mode in ("", "True") or not isinstance(init, ProjectFunction):
            return mode if mode in ("", "True") else UNCLEAR
        negated = mode.removeprefix("not ")
        stored = [
            statement.value
            for statement in self._flow.body_of(init)
            if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == negated
        ]
        if len(stored) != 1:
            return UNCLEAR
        test = mode.replace(negated, ast.unparse(stored[0]))
        return _said_by_caller(test, init.node, call, bound=True)

    def _modes_of(self, function: ProjectFunction) -> tuple[str, str]:
        """The mode at the yields of a function, and behind its last statement."""
        found = self._left.get(function.node)
        if found is None:
            self._left[function.node] = (_AS_BEFORE, _AS_BEFORE)  # while it is looked at
            self._flow.symbols.enter(function)
            body = self._flow.body_of(function)
            walk = _Walk(self, [*body, *self._other_methods(function)], self._flow)
            end = walk.block(body, _AS_BEFORE, False)
            at_yields = walk.yields.pop() if len(walk.yields) == 1 else UNCLEAR
            if walk.yielded:
                end = _AS_BEFORE
            else:
                at_yields = self._returned(body)
            found = (at_yields, end)
            self._left[function.node] = found
        return found

    def _other_methods(self, function: ProjectFunction) -> list[ast.stmt]:
        """Where `self.context` may be bound."""
        found: list[ast.stmt] = []
        for method in function.owner.body.values() if function.owner is not None else ():
            if isinstance(method, ProjectFunction) and method is not function:
                self._flow.symbols.enter(method)
                found += self._flow.body_of(method)
        return found

    def _returned(self, body: list[ast.stmt]) -> str:
        """`return torch.no_grad() if frozen else nullcontext()`"""
        values = [s.value for s in body if isinstance(s, ast.Return) and s.value is not None]
        if len(values) != 1:
            return _AS_BEFORE
        said = self.context(values[0], body)
        return _AS_BEFORE if said is None else said


def _stops_by_name(name: object) -> bool:
    owner, _, last = name.rpartition(".") if isinstance(name, str) else ("", "", "")
    return last in ("no_grad", "inference_mode") and owner.partition(".")[0] == "torch"


def _said_by_caller(mode: str, function: ast.AST, call: ast.Call, bound: bool = False) -> str:
    """A test of the function's parameters, in the words of its caller."""
    if mode in ("", "True", UNCLEAR):
        return mode
    arguments = getattr(function, "args", None)
    if not isinstance(arguments, ast.arguments) or any(
        isinstance(one, ast.Starred) for one in call.args
    ):
        return UNCLEAR
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    known = dict(zip(reversed(names), reversed(arguments.defaults), strict=False))
    known |= zip(names[bound:], call.args, strict=False)
    known |= {k.arg: k.value for k in call.keywords if k.arg is not None}
    said = _InCaller(known)
    test = said.visit(ast.parse(mode, mode="eval").body)
    return UNCLEAR if said.lost else _settled(test)


class _InCaller(ast.NodeTransformer):
    """Parameters replaced by what a call gives them."""

    def __init__(self, known: Mapping[str, ast.expr]) -> None:
        self._known, self.lost = known, False

    def visit_Name(self, node: ast.Name) -> ast.expr:
        given = self._known.get(node.id)
        self.lost |= given is None
        return node if given is None else given


def _settled(test: ast.expr) -> str:
    """`not False` is "True"."""
    inner, negated = test, False
    while isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.Not):
        inner, negated = inner.operand, not negated
    if isinstance(inner, ast.Constant):
        return "True" if bool(inner.value) != negated else ""
    return ast.unparse(test)


class _Walk:
    """Follows the statements of one body."""

    def __init__(self, regions: GradRegions, body: list[ast.stmt], flow: Flow) -> None:
        self._regions, self._body, self._flow = regions, body, flow
        self._opened: dict[str, str] = {}  # a stack or context that was entered -> the mode before
        self.found: list[Cut] = []
        self.yields: set[str] = set()
        self.yielded = False

    def block(self, block: list[ast.stmt], mode: str, decorated: bool) -> str:
        """The mode behind a block, which a bare set_grad_enabled() may have changed."""
        for statement in block:
            if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
                continue
            set_to = self._switched(statement, mode)
            if set_to is not None:
                mode, decorated = set_to, False
            elif isinstance(statement, ast.With):
                inner = self._inside(statement, mode)
                self.block(statement.body, inner, decorated and inner == mode)
            else:
                mode = self._other(statement, mode, decorated)
        return mode

    def _other(self, statement: ast.stmt, mode: str, decorated: bool) -> str:
        if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in _own_nodes(statement)):
            self.yielded = True
            self.yields.add(mode)
        if mode not in ("True", _AS_BEFORE) and isinstance(statement, STATEMENTS):
            if _stores(statement):
                self.found.append(Cut(statement, mode, decorated))
            return mode
        for inner in _blocks(statement):
            mode = self.block(inner, mode, decorated)
        return mode

    def _switched(self, statement: ast.stmt, mode: str) -> str | None:
        """`torch.set_grad_enabled(False)`, `stack.enter_context(torch.no_grad())`,
        `context.__enter__()`, `freeze()`.
        """
        call = (
            statement.value if isinstance(statement, (ast.Expr, ast.Assign, ast.Return)) else None
        )
        if not isinstance(call, ast.Call):
            return None
        if isinstance(statement, ast.Expr):
            said = grad_mode(call, self._flow)
            said = self._regions.setter(call) if said is None else said
            if said is not None:
                return said
        if not isinstance(call.func, ast.Attribute):
            return None
        owner, name = call.func.value, call.func.attr
        if name in _ENDS:
            return self._opened.pop(ast.unparse(owner), None)
        entered = call.args[0] if name == "enter_context" and call.args else owner
        if name not in ("enter_context", "__enter__"):
            return None
        said = self._regions.context(entered, self._body)
        if said is not None:
            self._opened.setdefault(ast.unparse(owner), mode)
        return said

    def _inside(self, statement: ast.With, mode: str) -> str:
        if any(attribute_of(n) == "backward" for n in all_nodes(statement)):
            return mode  # a training step runs where gradients are recorded
        for item in statement.items:
            said = self._regions.context(item.context_expr, self._body)
            if said is not None:
                mode = said
        return mode


def _own_nodes(statement: ast.stmt) -> list[ast.AST]:
    """Of a statement without blocks, all nodes; of one with blocks, none: they are walked."""
    return [] if _blocks(statement) else list(all_nodes(statement))


def _stores(statement: ast.stmt) -> bool:
    """It hands values on: binds, returns or puts them into a container."""
    if not isinstance(statement, ast.Expr):
        return getattr(statement, "value", None) is not None
    value = statement.value
    if isinstance(value, ast.Yield):
        return value.value is not None
    return method_of(value) in _STORING


def _blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    found = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
    found += [handler.body for handler in getattr(statement, "handlers", ())]
    found += [case.body for case in getattr(statement, "cases", ())]
    return [block for block in found if block]

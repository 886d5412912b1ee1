"""Statements that only show how training goes: progress lines, running losses, times.

They may go where mindspore.train's callbacks show the same, as long as nothing else reads what they
compute, and as long as they compute it from the loss and from counts alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate.flow.events import bound_in
from migrate.flow.tables import gives_plain
from migrate.pipeline.context import Context
from migrate.resolve.values import External
from migrate.style.frames import Frame, Stays
from migrate.syntax.access import attribute_of
from migrate.syntax.ast_index import nodes_of

_PRINTS: tuple[str, ...] = (
    "builtins.print",
    "pprint.pprint",
    "tqdm.tqdm",
    "tqdm.trange",
    "tqdm.auto.tqdm",
)
_PRINTS += ("tqdm.auto.trange", "tqdm.notebook.tqdm", "tqdm.write", "tqdm.tqdm.write")
_STREAMS = ("sys.stdout.write", "sys.stdout.flush", "sys.stderr.write", "sys.stderr.flush")
_LOGGERS = ("logging.getLogger", "logging.Logger", "loguru.logger", "absl.logging")
_LEVELS = ("debug", "info", "warning")
_BAR_METHODS = ("set_description", "set_postfix", "set_postfix_str", "update", "write", "close")
_COLLECTS = ("append", "update", "add", "reset", "extend")
_PURE_METHODS: tuple[str, ...] = (
    "average",
    "avg",
    "cpu",
    "detach",
    "dim",
    "double",
    "float",
    "format",
    "get",
)
_PURE_METHODS += ("get_last_lr", "get_lr", "item", "items", "join", "keys", "mean", "now", "numel")
_PURE_METHODS += ("numpy", "perf_counter", "size", "strftime", "sum", "time", "tolist", "values")
_PURE_METHODS += ("array", "median", "round", "std", "total_seconds")
_PURE_MODULES = ("time", "datetime", "math", "statistics")
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)
# Services that store what they are given: leaving them out would lose data.
_STORES = ("writer", "wandb", "mlflow", "neptune", "tensorboard")


class Display:
    """Sorts the statements that only show something, and remembers what they compute."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.bound: list[tuple[Frame, str, ast.stmt]] = []  # names that it gives a value
        self.prints: list[ast.stmt] = []
        self.loss_shown = False
        self.timed = False

    def take(self, statement: ast.stmt, frame: Frame, hidden: dict[str, str]) -> None:
        """Accept a statement, or say why it cannot go. `hidden`: names of tensors of a batch that
        nothing but the step may look into, each with what it is.
        """
        if isinstance(statement, ast.Expr):
            self._call(statement, frame)
        for expression in _expressions(statement):
            self.check(expression, statement, hidden)
        if isinstance(statement, ast.If):
            for inner in (*statement.body, *statement.orelse):
                self.take(inner, frame, hidden)
        elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            self.assign(statement, frame)
        elif not isinstance(statement, (ast.Expr, ast.Pass)):
            raise Stays(f"`{_first_line(statement)}` has no counterpart in Model.train", statement)

    def assign(self, statement: ast.Assign | ast.AnnAssign | ast.AugAssign, frame: Frame) -> None:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            names = bound_in(target)
            if not names:
                raise Stays(f"`{ast.unparse(target)}` keeps what a batch gives", statement)
            self.bound += [(frame, name, statement) for name in names]

    def _call(self, statement: ast.Expr, frame: Frame) -> None:
        call = statement.value
        if isinstance(call, ast.Constant):
            return
        if isinstance(call, ast.Call) and _is_print(call, self._context):
            self.prints.append(statement)
            return
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            receiver, name = call.func.value, call.func.attr
            if isinstance(receiver, ast.Name) and name in (*_COLLECTS, *_BAR_METHODS):
                if name in _BAR_METHODS[:3] or receiver.id in _bars(frame):
                    self.prints.append(statement)
                else:
                    self.bound.append((frame, receiver.id, statement))
                return
        if isinstance(call, ast.Call):
            self._refuse_stores(call, statement)
        raise Stays(f"`{_first_line(statement)}` has no counterpart in Model.train", statement)

    def check(self, expression: ast.AST, statement: ast.stmt, hidden: dict[str, str]) -> None:
        text = ast.unparse(expression)
        self.timed |= "time" in text
        self.loss_shown |= "loss" in text.lower()
        _refuse_tensors(expression, statement, hidden)
        for node in ast.walk(expression):
            if isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda)):
                raise Stays(f"`{_first_line(statement)}` does more than show something", statement)
            if (
                isinstance(node, ast.Call)
                and not self._is_pure(node)
                and not _is_print(node, self._context)
            ):
                if isinstance(statement, ast.Expr) and node is statement.value:
                    continue
                raise Stays(
                    f"`{ast.unparse(node.func)}` in line {node.lineno} may do more than show "
                    "something",
                    statement,
                )

    def _refuse_stores(self, call: ast.Call, statement: ast.stmt) -> None:
        owner = ast.unparse(call.func).partition(".")[0].lower()
        if any(word in owner for word in _STORES):
            raise Stays(
                f"`{ast.unparse(call.func)}` records values, which Model.train leaves to "
                "SummaryCollector",
                statement,
            )

    def _is_pure(self, call: ast.Call) -> bool:
        function = call.func
        name = _library_name(function, self._context)
        if name:
            return _changes_nothing(name) or name.rpartition(".")[2] in _PURE_METHODS
        if isinstance(function, ast.Name):
            return _is_record(self._context, call)
        return attribute_of(function) in _PURE_METHODS


def _refuse_tensors(expression: ast.AST, statement: ast.stmt, hidden: dict[str, str]) -> None:
    """Sizes of a batch's tensors may be shown, their values may not."""
    sizes = {name for node in ast.walk(expression) for name in _asked_for_size(node)}
    for node in ast.walk(expression):
        if isinstance(node, ast.Name) and node.id in hidden and node.id not in sizes:
            raise Stays(
                f"`{_first_line(statement)}` looks at {hidden[node.id]} of training batches, "
                "which Model.train does not give",
                statement,
            )


def _is_record(context: Context, call: ast.Call) -> bool:
    """`losses = AverageMeter()`: an object of the file's own that is no Module."""
    name = call.func
    return isinstance(name, ast.Name) and any(
        isinstance(node, ast.ClassDef) and node.name == name.id and not node.bases
        for node in context.tree.body
    )


def _changes_nothing(name: str) -> bool:
    """A function of Python that neither writes nor moves anything on."""
    module = name.partition(".")[0]
    if module == "builtins":
        return gives_plain(name) and name not in ("builtins.next", "builtins.iter")
    return module in _PURE_MODULES


def _library_name(function: ast.expr, context: Context) -> str:
    """`time.time`, `builtins.print`; empty for what is no library's function."""
    kind = context.type(function)
    return kind.name if isinstance(kind, External) else ""


def _is_print(call: ast.Call, context: Context) -> bool:
    function = call.func
    name = _library_name(function, context)
    if name in (*_PRINTS, *_STREAMS):
        return True
    if not isinstance(function, ast.Attribute) or function.attr not in _LEVELS:
        return False
    return name == f"logging.{function.attr}" or _is_logger(function.value, context)


def _is_logger(node: ast.expr, context: Context) -> bool:
    """`log` of `log = logging.getLogger(__name__)`; one from out of view may be anything."""
    if _library_name(node, context) in _LOGGERS:
        return True
    text = ast.unparse(node)
    return any(
        isinstance(one.value, ast.Call)
        and _library_name(one.value.func, context) in _LOGGERS
        and text in map(ast.unparse, one.targets)
        for one in nodes_of(context.tree, ast.Assign)
    )


def _bars(frame: Frame) -> set[str]:
    """Names of progress bars: made by tqdm."""
    return {
        name
        for name in frame.bound
        for value in frame.values(name)
        if isinstance(value, ast.Call) and _library_name(value.func, frame.context) in _PRINTS
    }


def _expressions(statement: ast.stmt) -> Iterator[ast.AST]:
    """What the statement itself computes; the blocks of an `if` are taken one by one."""
    if isinstance(statement, ast.If):
        yield statement.test
    elif isinstance(statement, _SIMPLE):
        yield from [statement.value] if statement.value is not None else []


def _asked_for_size(node: ast.AST) -> Iterator[str]:
    """`x` of `x.size(0)`, `len(x)`, `x.shape`."""
    if (
        isinstance(node, ast.Attribute)
        and node.attr in ("size", "shape", "dim")
        and isinstance(node.value, ast.Name)
    ):
        yield node.value.id
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len":
        yield from (one.id for one in node.args if isinstance(one, ast.Name))


def _first_line(statement: ast.AST) -> str:
    return ast.unparse(statement).partition("\n")[0]

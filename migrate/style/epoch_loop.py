"""An epoch loop as a value: what trains, what evaluates, what is scheduled, saved and shown."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from migrate.flow.blocks import statements_below
from migrate.flow.events import all_bound
from migrate.pipeline.context import Context
from migrate.style.batch_loop import Place, Step, StepReader, same_place, text_at
from migrate.style.calls import NO_GRAD, Kinds
from migrate.style.display import Display
from migrate.style.evaluation import Evaluation, EvaluationReader
from migrate.style.frames import Frame, Item, Scope, Stays, items_of
from migrate.syntax.access import attribute_of, is_read, read_of
from migrate.syntax.ast_index import nodes_of

_SAVE = "torch.save"


@dataclass(eq=False)
class EpochLoop:
    """A loop that becomes calls of mindspore.train."""

    root: Frame
    statement: ast.For
    epochs: str
    step: Step
    display: Display
    evaluation: Evaluation | None = None
    scheduler: Place | None = None  # stepped after every epoch
    saves: list[tuple[ast.stmt, Frame, ast.expr | None]] = field(default_factory=list)
    functions: set[ast.AST] = field(default_factory=set)  # whose bodies it takes over

    @property
    def epoch_names(self) -> set[str]:
        """The names that tell one epoch from another."""
        return all_bound(self.statement.target)


def training_loops(context: Context) -> Iterator[tuple[Scope, ast.For]]:
    """The outermost loops of the file that train, over the functions that they call."""
    scopes: list[Scope] = [context.tree]
    scopes += nodes_of(context.tree, ast.FunctionDef)
    found: list[tuple[Scope, ast.For]] = []
    taken: set[ast.AST] = set()
    for scope in scopes:
        frame = Frame(scope, context)
        for loop in _outermost(scope.body):
            entered: set[ast.AST] = set()
            if _trains([loop], frame, entered):
                found.append((scope, loop))
                taken |= entered
    return ((scope, loop) for scope, loop in found if scope not in taken)


def _outermost(body: Sequence[ast.stmt]) -> Iterator[ast.For]:
    for statement in body:
        if isinstance(statement, ast.For):
            yield statement
        elif isinstance(statement, (ast.If, ast.With, ast.Try)):
            for block in ("body", "orelse", "finalbody"):
                yield from _outermost(getattr(statement, block, ()))


def _trains(body: Sequence[ast.stmt], frame: Frame, entered: set[ast.AST]) -> bool:
    """Whether backward() is called in the statements, or in the file's functions they call."""
    trains = False
    try:
        items = list(items_of(body, frame))
    except Stays:
        items = [Item(statement, frame) for statement in body]
    for item in items:
        inside = list(ast.walk(item.statement))
        trains |= any(attribute_of(n) == "backward" for n in inside)
        if item.frame is not frame:
            entered.add(item.frame.scope)
        for field_name in ("body", "orelse"):
            inner = getattr(item.statement, field_name, None)
            if isinstance(inner, list):
                trains |= _trains(inner, item.frame, entered)
    return trains


class LoopReader:
    """Reads one epoch loop; raises Stays for what Model.train does not do."""

    def __init__(self, scope: Scope, loop: ast.For, context: Context) -> None:
        self._root, self._loop, self._context = Frame(scope, context), loop, context
        self._kinds, self._display = Kinds(context), Display(context)
        self._modes: list[str] = []
        self._step: Step | None = None
        self._evaluation: Evaluation | None = None
        self._scheduler: Place | None = None
        self._saves: list[tuple[ast.stmt, Frame, ast.expr | None]] = []
        self._functions: set[ast.AST] = set()

    def read(self) -> EpochLoop:
        epochs, body = self._header()
        for item in items_of(body, self._root):
            self._item(item)
        if self._step is None:
            raise Stays("the loop over batches is not part of the loop over epochs", self._loop)
        self._check_places(self._step)
        result = EpochLoop(self._root, self._loop, epochs, self._step, self._display)
        result.evaluation, result.scheduler = self._evaluation, self._scheduler
        result.saves, result.functions = self._saves, self._functions
        return result

    def _header(self) -> tuple[str, list[ast.stmt]]:
        """How many epochs there are, and the statements of one; a loop over batches alone is one
        epoch.
        """
        if not _has_backward(self._loop.body):
            return self._epochs(), self._loop.body
        if self._is_called_elsewhere():
            raise Stays(
                "the epochs are not counted in this file, where the function that trains is",
                self._loop,
            )
        return "1", [self._loop]

    def _is_called_elsewhere(self) -> bool:
        """A function with a loop over batches that this file does not call."""
        scope = self._root.scope
        if isinstance(scope, ast.Module) or scope.name in ("main", "run"):
            return False
        return bool(scope.args.args) and not self._context.flow.calls.callers(scope)

    def _epochs(self) -> str:
        """`range(epochs)`, `range(1, epochs + 1)`, `trange(epochs)`."""
        if self._loop.orelse:
            raise Stays("the loop over epochs has an else", self._loop)
        counted = _counted_by(self._loop.iter)
        if counted is None:
            raise Stays("how many epochs there are is not known before the loop", self._loop)
        texts = [ast.unparse(argument) for argument in counted.args]
        if len(texts) == 1 or (len(texts) == 2 and texts[0] == "0"):
            return texts[-1]
        if len(texts) != 2:
            raise Stays("the loop over epochs has a stride", self._loop)
        number = _between(counted.args[0], counted.args[1])
        if not number:
            raise Stays("training starts at an epoch that is only known at run time", self._loop)
        return number

    # The statements of an epoch -----------------------------------------------------------------

    def _item(self, item: Item) -> None:
        statement, frame = item.statement, item.frame
        if frame is not self._root:
            self._functions.add(frame.scope)
        if isinstance(statement, ast.For):
            self._batches(statement, frame)
        elif isinstance(statement, ast.With) and self._is_no_grad(statement):
            for inner in items_of(statement.body, frame):
                self._item(inner)
        elif isinstance(statement, ast.Return):
            self._returned(item)
        elif isinstance(statement, ast.If) and self._saved_at(statement, frame):
            pass
        elif not self._acts(statement, frame):
            self._display.take(statement, frame, {})

    def _is_no_grad(self, statement: ast.With) -> bool:
        calls = [entry.context_expr for entry in statement.items]
        return all(isinstance(c, ast.Call) and self._kinds.api(c) in NO_GRAD for c in calls)

    def _batches(self, loop: ast.For, frame: Frame) -> None:
        if _has_backward(loop.body):
            if self._step is not None:
                raise Stays("an epoch has two loops that train", loop)
            if self._modes and self._modes[-1] != "train":
                raise Stays("the network is not in training mode where it is trained", loop)
            self._step = StepReader(loop, frame, self._kinds, self._display).read()
            return
        if self._evaluation is not None:
            raise Stays("an epoch has two loops that evaluate", loop)
        if not self._modes or self._modes[-1] != "eval":
            raise Stays("the network is not in evaluation mode where it is evaluated", loop)
        if self._step is None:
            raise Stays("an epoch evaluates before it trains", loop)
        self._evaluation = EvaluationReader(loop, frame, self._kinds, self._display).read()

    def _returned(self, item: Item) -> None:
        """`return total / len(loader)`: what the caller does with it is what matters."""
        statement = item.statement
        assert isinstance(statement, ast.Return)
        if statement.value is not None:
            shown = ast.Expr(statement.value)
            ast.copy_location(shown, statement)
            self._display.check(statement.value, shown, {})
        if item.result is not None:
            target = item.result.statement
            if isinstance(target, ast.Assign):
                self._display.assign(target, item.result.frame)

    def _acts(self, statement: ast.stmt, frame: Frame) -> bool:
        """Modes, schedules and checkpoints."""
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call):
            return False
        if self._kinds.api(call) == _SAVE:
            return self._save(statement, call, frame, None)
        if not isinstance(call.func, ast.Attribute):
            return False
        receiver, name = call.func.value, call.func.attr
        if name in ("train", "eval") and self._kinds.is_module(receiver, frame):
            off = name == "eval" or (call.args and ast.unparse(call.args[0]) == "False")
            self._modes.append("eval" if off else "train")
            return True
        if name == "step" and self._kinds.is_scheduler(receiver, frame):
            self._schedule(call, frame, statement)
            return True
        if name == "set_epoch":
            raise Stays("the program trains in several processes", statement)
        return False

    def _schedule(self, call: ast.Call, frame: Frame, statement: ast.stmt) -> None:
        """`scheduler.step()` behind the loop over batches."""
        assert isinstance(call.func, ast.Attribute)
        if call.args or call.keywords:
            raise Stays("the schedule follows a value that is measured", statement)
        if self._scheduler is not None or self._step is None:
            raise Stays("the schedule is not stepped once, after the batches", statement)
        self._scheduler = call.func.value, frame

    def _save(
        self, statement: ast.stmt, call: ast.Call, frame: Frame, every: ast.expr | None
    ) -> bool:
        """`torch.save(model.state_dict(), path)`."""
        what = call.args[0] if call.args else None
        if not self._is_state(what, frame):
            raise Stays("a checkpoint holds more than the network's weights", statement)
        self._saves.append((statement, frame, every))
        return True

    def _is_state(self, node: ast.expr | None, frame: Frame) -> bool:
        """`model.state_dict()`"""
        return (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "state_dict"
            and self._kinds.is_module(node.func.value, frame)
        )

    def _saved_at(self, statement: ast.If, frame: Frame) -> bool:
        """`if (epoch + 1) % n == 0: torch.save(...)`."""
        if statement.orelse or len(statement.body) != 1:
            return False
        inner = statement.body[0]
        call = inner.value if isinstance(inner, ast.Expr) else None
        if not isinstance(call, ast.Call) or self._kinds.api(call) != _SAVE:
            return False
        every = _interval(statement.test)
        if every is None:
            raise Stays(f"a checkpoint is saved only if `{ast.unparse(statement.test)}`", statement)
        return self._save(inner, call, frame, every)

    # What holds for the whole loop --------------------------------------------------------------

    def _check_places(self, step: Step) -> None:
        if step.network is None or step.loss is None or step.optimizer is None:
            raise Stays("network, loss and optimizer of the step are not all known", self._loop)
        if self._scheduler is not None and step.scheduler is not None:
            raise Stays("two schedules change the learning rate", self._loop)
        if "eval" in self._modes and "train" not in self._modes:
            raise Stays("the network stays in evaluation mode after the first epoch", self._loop)
        evaluation = self._evaluation
        if evaluation is not None:
            if not same_place(evaluation.network, step.network):
                raise Stays("the network that is evaluated is another one", self._loop)
            self._check_loss(evaluation, step)
        self._check_reads()

    def _check_loss(self, evaluation: Evaluation, step: Step) -> None:
        if evaluation.loss is None or evaluation.loss_layer != step.loss_layer:
            if evaluation.loss is not None:
                raise Stays("the loss that is evaluated is another one", evaluation.loss[0])
            return
        if not step.loss_layer:
            if not same_place(evaluation.loss, step.loss):
                raise Stays("the loss that is evaluated is another one", evaluation.loss[0])
            return
        assert step.loss is not None
        trained, evaluated = _options(step.loss), _options(evaluation.loss)
        if evaluated.pop("reduction", "") == "'sum'":
            evaluation.weighted = True
        if trained != evaluated:
            raise Stays("the loss that is evaluated is another one", evaluation.loss[0])

    def _check_reads(self) -> None:
        """Nothing behind the loop reads what the loop computes."""
        inside = set(ast.walk(self._loop))
        self._check_variables(inside)
        self._check_displayed(inside)
        if isinstance(self._root.scope, ast.Module):
            self._check_globals(inside)

    def _check_variables(self, inside: set[ast.AST]) -> None:
        defuse = self._context.flow.function(self._root.scope).defuse
        for name in all_bound(self._loop):
            for definition in defuse.definitions(name):
                if definition.statement not in inside:
                    continue
                for read in defuse.uses(definition):
                    if read not in inside:
                        raise Stays(
                            f"`{name}`, which the loop computes, is read in line {read.lineno}",
                            read,
                        )

    def _check_displayed(self, inside: set[ast.AST]) -> None:
        """Sums and lists of what is shown, in the words of the function that holds the loop."""
        for frame, name, statement in self._display.bound:
            node, at = frame.origin(read_of(name))
            if at is not self._root or not isinstance(node, ast.Name):
                if not isinstance(node, ast.Name) or node.id not in at.bound:
                    raise Stays(f"`{name}` outlives the loop", statement)
                continue
            self._check_collected(node.id, inside)

    def _check_collected(self, name: str, inside: set[ast.AST]) -> None:
        for node in ast.walk(self._root.scope):
            if _is_read_of(node, name) and node not in inside:
                raise Stays(f"`{name}`, which the loop fills, is read elsewhere", node)

    def _check_globals(self, inside: set[ast.AST]) -> None:
        bound = all_bound(self._loop)
        for scope in nodes_of(self._context.tree, ast.FunctionDef):
            if scope in self._functions:
                continue
            own = Frame(scope, self._context).bound | {a.arg for a in scope.args.args}
            for node in ast.walk(scope):
                if isinstance(node, ast.Name) and node.id in bound - own:
                    raise Stays(f"`{node.id}`, which the loop computes, is read elsewhere", node)


def _counted_by(source: ast.expr) -> ast.Call | None:
    """The call of range that counts: `tqdm(range(epochs))`, `trange(epochs)`."""
    if isinstance(source, ast.Call) and ast.unparse(source.func).endswith("tqdm"):
        source = source.args[0] if source.args else source
    if not isinstance(source, ast.Call):
        return None
    return source if ast.unparse(source.func) in ("range", "trange", "tqdm.trange") else None


def _between(first: ast.expr, last: ast.expr) -> str:
    """The number of rounds of `range(1, epochs + 1)`, `range(2, 5)`; "" if it is not known."""
    start = ast.unparse(first)
    if isinstance(last, ast.BinOp) and isinstance(last.op, ast.Add):
        return ast.unparse(last.left) if ast.unparse(last.right) == start else ""
    end = ast.unparse(last)
    return str(int(end) - int(start)) if start.isdigit() and end.isdigit() else ""


def _interval(test: ast.expr) -> ast.expr | None:
    """`n` of `(epoch + 1) % n == 0`."""
    if not isinstance(test, ast.Compare) or ast.unparse(test.comparators[0]) != "0":
        return None
    left = test.left
    return left.right if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Mod) else None


def _is_read_of(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and is_read(node)


def _options(place: Place) -> dict[str, str]:
    call, frame = place
    assert isinstance(call, ast.Call)
    return {k.arg or "": frame.text(k.value) for k in call.keywords}


def _has_backward(body: Sequence[ast.stmt]) -> bool:
    """Whether the statements themselves, inner loops left out, compute gradients."""
    for _, statement in statements_below(list(body)):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            function = statement.value.func
            if attribute_of(function) == "backward":
                loops = [n for n in body if isinstance(n, (ast.For, ast.While))]
                if not any(statement in set(ast.walk(loop)) for loop in loops):
                    return True
    return False


def network_text(loop: EpochLoop) -> str:
    assert loop.step.network is not None
    return text_at(loop.step.network)

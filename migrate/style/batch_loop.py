"""The loop over batches: which of its statements are the step of nn.TrainOneStepCell, and which
only show something. Any other statement keeps the loop as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from migrate.flow.events import bound_in
from migrate.style.calls import AUTOCASTS, Kinds
from migrate.style.display import Display
from migrate.style.frames import Frame, Item, Stays, items_of

Place = tuple[ast.expr, Frame]
_BATCH_WORDS = {"data": "the inputs", "label": "the labels", "output": "the outputs"}


@dataclass(slots=True)
class Step:
    """What one loop over batches trains with."""

    loader: Place
    network: Place | None = None
    loss: Place | None = None  # a layer, or the call of a loss function
    loss_layer: str = ""  # the layer for that function
    optimizer: Place | None = None
    scheduler: Place | None = None  # stepped after every batch
    scaler: Place | None = None
    autocast: ast.Call | None = None
    every: ast.expr | None = None  # `if i % every == 0: print(loss)`
    order: list[str] = field(default_factory=list)  # zero, loss, backward, step, as they come


class BatchReader:
    """Reads the header and the body of a loop over batches."""

    def __init__(self, loop: ast.For, frame: Frame, kinds: Kinds, display: Display) -> None:
        self._frame, self._kinds, self._display = frame, kinds, display
        self.kind: dict[tuple[Frame, str], str] = {}
        self.loader = self._header(loop)
        self._loop = loop

    def _header(self, loop: ast.For) -> Place:
        """`for i, (x, y) in enumerate(tqdm(loader), 1)`."""
        target, source, frame = loop.target, loop.iter, self._frame
        if loop.orelse:
            raise Stays("the loop over batches has an else", loop)
        while isinstance(source, (ast.Call, ast.Name)):
            if isinstance(source, ast.Name):
                values = frame.values(source.id) if source.id not in frame.given else []
                if len(values) == 1 and isinstance(values[0], ast.Call) and _wraps(values[0]):
                    source = values[0]
                    continue
                break
            if not _wraps(source):
                break
            if _wraps(source) == "enumerate":
                if not isinstance(target, ast.Tuple) or len(target.elts) != 2:
                    raise Stays("what the loop over batches binds is not known", loop)
                self._bind(target.elts[0], "index")
                target = target.elts[1]
            else:
                self._display.timed = True
            source = source.args[0]
        self._bind_batch(target, loop)
        if not isinstance(source, (ast.Name, ast.Attribute)):
            raise Stays(f"batches come from `{ast.unparse(source)}`, not from a loader", loop)
        return source, frame

    def _bind(self, target: ast.expr, kind: str) -> None:
        for name in bound_in(target):
            self.kind[self._frame, name] = kind

    def _bind_batch(self, target: ast.expr, statement: ast.stmt) -> None:
        if isinstance(target, ast.Name):
            self._bind(target, "batch")
        elif isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) == 2:
            self._bind(target.elts[0], "data")
            self._bind(target.elts[1], "label")
        else:
            raise Stays("a batch is not a pair of inputs and labels", statement)

    # Statements --------------------------------------------------------------------------------

    def kind_of(self, node: ast.expr, frame: Frame) -> str:
        """data, label, output, loss, batch, index, or "" for anything else."""
        node, frame = frame.origin(node)
        if isinstance(node, ast.Attribute) and node.attr == "data":
            return self.kind_of(node.value, frame)
        if isinstance(node, ast.Subscript) and self.kind_of(node.value, frame) == "batch":
            index = ast.unparse(node.slice)
            return {"0": "data", "1": "label"}.get(index, "")
        if isinstance(node, ast.Call) and self._kinds.api(node) == "torch.autograd.Variable":
            return self.kind_of(node.args[0], frame)
        return self.kind.get((frame, node.id), "") if isinstance(node, ast.Name) else ""

    def hidden(self, frame: Frame) -> dict[str, str]:
        return {
            name: _BATCH_WORDS.get(kind, "the tensors")
            for (at, name), kind in self.kind.items()
            if at is frame and kind in ("data", "label", "output", "batch")
        }

    def moved(self, target: ast.expr, value: ast.expr, frame: Frame) -> bool:
        """`x = x.to(device)`, `x, y = batch`: names for the parts of a batch."""
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            return self._moved_together(target.elts, value.elts, frame)
        kind = self.kind_of(value, frame)
        if kind == "batch" and isinstance(target, ast.Tuple) and len(target.elts) == 2:
            self._name(target.elts[0], "data", frame)
            self._name(target.elts[1], "label", frame)
            return True
        if kind in ("data", "label", "batch") and isinstance(target, ast.Name):
            self._name(target, kind, frame)
            return True
        return False

    def _moved_together(
        self, targets: list[ast.expr], values: list[ast.expr], frame: Frame
    ) -> bool:
        """`x, y = x.to(device), y.to(device)`"""
        found = [self.kind_of(value, frame) for value in values]
        if len(targets) != len(values) or not all(found):
            return False
        for target, kind in zip(targets, found, strict=True):
            self._name(target, kind, frame)
        return True

    def names_part(self, target: ast.expr, value: ast.expr, frame: Frame) -> bool:
        """`x = x.to(device)`, `output = model(x)`."""
        if self.moved(target, value, frame):
            return True
        network = self.network_of(value, frame)
        if network is None or not isinstance(target, ast.Name):
            return False
        self.take_network(network, value)
        self.kind[frame, target.id] = "output"
        return True

    def take_network(self, network: Place, node: ast.expr) -> None:
        raise NotImplementedError

    def _name(self, target: ast.expr, kind: str, frame: Frame) -> None:
        for name in bound_in(target):
            self.kind[frame, name] = kind

    def network_of(self, node: ast.expr, frame: Frame) -> Place | None:
        """`model` of `model(x)`."""
        if (
            isinstance(node, ast.Call)
            and len(node.args) == 1
            and not node.keywords
            and self.kind_of(node.args[0], frame) == "data"
            and self._kinds.is_module(node.func, frame)
        ):
            return node.func, frame
        return None


class StepReader(BatchReader):
    """The statements of a training step."""

    def read(self) -> Step:
        self.step = Step(self.loader)
        self._statements(items_of(self._loop.body, self._frame))
        step = self.step
        if step.order not in (
            ["zero", "loss", "backward", "step"],
            ["loss", "zero", "backward", "step"],
            ["loss", "backward", "step", "zero"],
        ):
            raise Stays(
                "the step is not one forward pass, backward(), step() and zero_grad()", self._loop
            )
        return step

    def _statements(self, items: Iterable[Item]) -> None:
        for item in items:
            statement, frame = item.statement, item.frame
            if isinstance(statement, ast.With):
                self._autocast(statement, frame)
            elif not self._is_step(statement, frame):
                self._show(item)

    def _show(self, item: Item) -> None:
        statement, frame = item.statement, item.frame
        if isinstance(statement, ast.If):
            self._note_interval(statement, frame)
        if isinstance(statement, ast.Return):
            raise Stays("a function that computes part of the step returns a value", statement)
        self._display.take(statement, frame, self.hidden(frame))

    def _autocast(self, statement: ast.With, frame: Frame) -> None:
        for entry in statement.items:
            call = entry.context_expr
            if not isinstance(call, ast.Call) or self._kinds.api(call) not in AUTOCASTS:
                raise Stays(f"a block `with {ast.unparse(call)}` is around the step", statement)
            self.step.autocast = call
        self._statements(items_of(statement.body, frame))

    def _is_step(self, statement: ast.stmt, frame: Frame) -> bool:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            return len(targets) == 1 and self._computes(targets[0], statement.value, frame)
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            return self._acts(statement.value, frame)
        return False

    def _computes(self, target: ast.expr, value: ast.expr, frame: Frame) -> bool:
        if self.names_part(target, value, frame):
            return True
        if not isinstance(value, ast.Call) or not isinstance(target, ast.Name):
            return False
        if not self._is_loss(value, frame):
            return False
        self.kind[frame, target.id] = "loss"
        self.step.order.append("loss")
        return True

    def take_network(self, network: Place, node: ast.expr) -> None:
        if self.step.network is not None:
            raise Stays("the step has two forward passes", node)
        self.step.network = network

    def _is_loss(self, call: ast.Call, frame: Frame) -> bool:
        """`criterion(output, y)`, `F.cross_entropy(model(x), y)`."""
        layer = self._kinds.loss_layer(call)
        if len(call.args) != 2 or not (layer or self._kinds.is_module(call.func, frame)):
            return False
        if call.keywords and not layer:
            return False
        network = self.network_of(call.args[0], frame)
        if network is None and self.kind_of(call.args[0], frame) != "output":
            return False
        if self.kind_of(call.args[1], frame) != "label":
            return False
        if network is not None:
            self.take_network(network, call)
        if self.step.loss is not None:
            raise Stays("the step has two losses", call)
        self.step.loss = (call if layer else call.func), frame
        self.step.loss_layer = layer
        return True

    def _acts(self, call: ast.Call, frame: Frame) -> bool:
        """zero_grad, backward, step, update."""
        function = call.func
        if not isinstance(function, ast.Attribute):
            return False
        receiver, name = function.value, function.attr
        if name == "zero_grad":
            self._once("zero", call)
            return True
        if name == "backward" and not call.args and not call.keywords:
            return self._is_backward(receiver, call, frame)
        if name == "step":
            return self._steps(receiver, call, frame)
        if name == "update" and self._kinds.is_scaler(receiver, frame):
            return True
        return bool(name == "train" and self._kinds.is_module(receiver, frame))

    def _is_backward(self, receiver: ast.expr, call: ast.Call, frame: Frame) -> bool:
        scaled = _scaled(receiver)
        if scaled is not None:
            scaler, receiver = scaled
            self.step.scaler = scaler, frame
        if self.kind_of(receiver, frame) != "loss":
            raise Stays(f"`{ast.unparse(receiver)}` is not the loss of one batch", call)
        self._once("backward", call)
        return True

    def _steps(self, receiver: ast.expr, call: ast.Call, frame: Frame) -> bool:
        if self._kinds.is_scheduler(receiver, frame):
            self._schedule(receiver, call, frame)
            return True
        if self._kinds.is_scaler(receiver, frame) and len(call.args) == 1:
            receiver = call.args[0]
        elif (call.args or call.keywords) and self._kinds.is_optimizer(receiver, frame):
            raise Stays("optimizer.step() is given a closure", call)
        if not self._kinds.is_optimizer(receiver, frame):
            return False
        self._once("step", call)
        self.step.optimizer = receiver, frame
        return True

    def _schedule(self, receiver: ast.expr, call: ast.Call, frame: Frame) -> None:
        if call.args or call.keywords or self.step.scheduler is not None:
            raise Stays("the schedule is stepped in another way than once a batch", call)
        if "step" not in self.step.order:
            raise Stays("the schedule is stepped in front of the optimizer", call)
        self.step.scheduler = receiver, frame

    def _once(self, what: str, node: ast.AST) -> None:
        if what in self.step.order:
            raise Stays(f"the step has a second {what}", node)
        self.step.order.append(what)

    def _note_interval(self, statement: ast.If, frame: Frame) -> None:
        """`every` of `if i % every == 0:`, `if (i + 1) % every == 0:`."""
        for node in ast.walk(statement.test):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
                names = [n for n in ast.walk(node.left) if isinstance(n, ast.Name)]
                if any(self.kind.get((frame, name.id)) == "index" for name in names):
                    self.step.every = node.right


def _scaled(node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """`scaler` and `loss` of `scaler.scale(loss)`."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    return (node.func.value, node.args[0]) if node.func.attr == "scale" and node.args else None


def _wraps(call: ast.Call) -> str:
    """`enumerate(loader)`, `tqdm(loader, ...)`: what it gives are the loader's batches."""
    name = ast.unparse(call.func)
    last = name.rpartition(".")[2]
    return last if last in ("enumerate", "tqdm") and call.args else ""


def text_at(place: Place) -> str:
    """In the words of the root, moves to a device left out."""
    node, frame = place
    return frame.text(frame.without_moves(node))


def same_place(one: Place | None, other: Place | None) -> bool:
    """Whether two expressions are the same in the words of the root."""
    if one is None or other is None:
        return one is other
    return text_at(one) == text_at(other)

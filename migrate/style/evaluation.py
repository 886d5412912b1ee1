"""A loop over batches that evaluates: which metrics of mindspore.train compute what it counts."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from migrate.flow.events import bound_in
from migrate.style.batch_loop import BatchReader, Place
from migrate.style.calls import NO_GRAD
from migrate.style.frames import Frame, Stays, items_of
from migrate.syntax.access import name_of

_WRAPPERS = ("item", "sum", "float", "double", "int", "long", "cpu", "type", "detach")


@dataclass(slots=True)
class Evaluation:
    """What an evaluation loop computes."""

    loader: Place
    network: Place | None = None
    loss: Place | None = None
    loss_layer: str = ""
    correct: bool = False
    loss_sum: tuple[Frame, str] | None = None  # where the losses of the batches add up
    weighted: bool = False  # each by the number of its samples


class EvaluationReader(BatchReader):
    """The statements of an evaluation loop."""

    def read(self) -> Evaluation:
        self.found = Evaluation(self.loader)
        self._statements(self._loop.body, self._frame)
        if self.found.network is None:
            raise Stays("the loop neither trains nor evaluates the network", self._loop)
        return self.found

    def _statements(self, body: list[ast.stmt], frame: Frame) -> None:
        for item in items_of(body, frame):
            statement, at = item.statement, item.frame
            if isinstance(statement, ast.With) and self._is_no_grad(statement):
                self._statements(statement.body, at)
            elif not self._is_known(statement, at):
                self._display.take(statement, at, self._unread(at))

    def _is_no_grad(self, statement: ast.With) -> bool:
        calls = [entry.context_expr for entry in statement.items]
        return all(isinstance(c, ast.Call) and self._kinds.api(c) in NO_GRAD for c in calls)

    def _unread(self, frame: Frame) -> dict[str, str]:
        found = self.hidden(frame)
        preds = {n for (at, n), kind in self.kind.items() if at is frame and kind == "prediction"}
        return found | dict.fromkeys(preds, "the predictions")

    def _is_known(self, statement: ast.stmt, frame: Frame) -> bool:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            return self._computes(statement.targets[0], statement.value, frame)
        if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
            return self._counts(statement, frame)
        return False

    def _computes(self, target: ast.expr, value: ast.expr, frame: Frame) -> bool:
        if self.names_part(target, value, frame):
            return True
        if isinstance(target, ast.Tuple) and len(target.elts) == 2 and self._is_max(value, frame):
            self.kind[frame, bound_in(target.elts[1])[0]] = "prediction"
            return True
        kind = self._computed(value, frame) if isinstance(target, ast.Name) else ""
        if isinstance(target, ast.Name) and kind:
            self.kind[frame, target.id] = kind
        return bool(kind)

    def _computed(self, value: ast.expr, frame: Frame) -> str:
        """What a metric needs of a value, or ""."""
        if self._is_prediction(value, frame):
            return "prediction"
        if self._is_loss(value, frame):
            return "loss"
        return "hits" if self._is_correct(value, frame) else ""

    def take_network(self, network: Place, node: ast.expr) -> None:
        if self.found.network is not None:
            raise Stays("the evaluation runs the network twice for a batch", node)
        self.found.network = network

    def _is_output(self, node: ast.expr, frame: Frame) -> bool:
        if self.kind_of(node, frame) == "output":
            return True
        network = self.network_of(node, frame)
        if network is not None:
            self.take_network(network, node)
        return network is not None

    def _is_max(self, node: ast.expr, frame: Frame) -> bool:
        """`output.max(1)`, `torch.max(output, 1)`: values and indices over the classes."""
        return self._over_classes(node, frame, "max")

    def _over_classes(self, node: ast.expr, frame: Frame, name: str) -> bool:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return False
        if node.func.attr != name:
            return False
        method = self._kinds.api(node) != f"torch.{name}"
        arguments = list(node.args) if method else list(node.args[1:])
        arguments += [k.value for k in node.keywords if k.arg in ("dim", "axis")]
        if [ast.unparse(one) for one in arguments[:1]] not in (["1"], ["-1"]):
            return False
        of = node.func.value if method else node.args[0]
        return self._is_output(of, frame)

    def _is_prediction(self, node: ast.expr, frame: Frame) -> bool:
        if self.kind_of(node, frame) == "prediction":
            return True
        if self._over_classes(node, frame, "argmax"):
            return True
        if isinstance(node, ast.Subscript) and ast.unparse(node.slice) == "1":
            return self._is_max(node.value, frame)
        if isinstance(node, ast.Attribute) and node.attr == "indices":
            return self._is_max(node.value, frame)
        inner = _receiver(node, ("squeeze", "flatten", "cpu", "detach"))
        return inner is not None and self._is_prediction(inner, frame)

    def _is_label(self, node: ast.expr, frame: Frame) -> bool:
        inner = _receiver(node, ("view_as", "view", "reshape"))
        return self.kind_of(node if inner is None else inner, frame) == "label"

    def _is_correct(self, node: ast.expr, frame: Frame) -> bool:
        """`(prediction == y).sum().item()`, `prediction.eq(y.view_as(prediction)).sum()`."""
        node = self._counted(node)
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq):
            return self._match(node.left, node.comparators[0], frame)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if self._kinds.api(node) == "torch.eq" and len(node.args) == 2:
                return self._match(node.args[0], node.args[1], frame)
            if node.func.attr == "eq" and len(node.args) == 1:
                return self._match(node.func.value, node.args[0], frame)
        return self.kind_of(node, frame) == "hits"

    def _counted(self, node: ast.expr) -> ast.expr:
        """What is summed up: without `.sum()`, `.item()`, `float()` around it."""
        while isinstance(node, ast.Call):
            function = node.func
            if self._kinds.api(node) == "torch.sum" and len(node.args) == 1:
                node = node.args[0]
            elif isinstance(function, ast.Attribute) and function.attr in _WRAPPERS:
                node = function.value
            elif name_of(function) in ("float", "int", "sum"):
                node = node.args[0]
            else:
                break
        return node

    def _match(self, one: ast.expr, other: ast.expr, frame: Frame) -> bool:
        return any(
            self._is_prediction(a, frame) and self._is_label(b, frame)
            for a, b in ((one, other), (other, one))
        )

    def _is_loss(self, node: ast.expr, frame: Frame) -> bool:
        """`criterion(output, y)` with `.item()` around it or not."""
        node = _bare(node)
        if self.kind_of(node, frame) == "loss":
            return True
        if not isinstance(node, ast.Call) or len(node.args) != 2:
            return False
        layer = self._kinds.loss_layer(node)
        if not layer and not self._kinds.is_module(node.func, frame):
            return False
        if not self._is_output(node.args[0], frame):
            return False
        if self.kind_of(node.args[1], frame) != "label":
            return False
        self.found.loss = (node if layer else node.func), frame
        self.found.loss_layer = layer
        return True

    def _counts(self, statement: ast.AugAssign, frame: Frame) -> bool:
        if not isinstance(statement.target, ast.Name):
            return False
        name, value = statement.target.id, statement.value
        if self._is_correct(value, frame):
            self.found.correct = True
        elif self._is_loss(value, frame):
            self.found.loss_sum = frame, name
        elif isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
            if not (self._is_loss(value.left, frame) or self._is_loss(value.right, frame)):
                return False
            self.found.loss_sum, self.found.weighted = (frame, name), True
        else:
            return False
        self._display.bound.append((frame, name, statement))
        return True


def _receiver(node: ast.expr, methods: tuple[str, ...]) -> ast.expr | None:
    """`x` of `x.method(...)`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.value if node.func.attr in methods else None
    return None


def _bare(node: ast.expr) -> ast.expr:
    """Without `.item()` and `float()` around it."""
    while isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("item", "detach", "cpu"):
            node = node.func.value
        elif name_of(node.func) == "float" and node.args:
            node = node.args[0]
        else:
            break
    return node

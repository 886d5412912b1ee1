"""The source that takes the place of an epoch loop. MindSpore's names stand below `__mindspore__`
and helpers below `__helpers__` until the walk over the file spells and imports them.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from migrate.style.batch_loop import Place, Step, text_at
from migrate.style.epoch_loop import EpochLoop, network_text
from migrate.style.frames import Frame, Stays
from migrate.style.optimizers import Creation, NativeOptimizer
from migrate.syntax.access import name_of

TRAIN = "__mindspore__.train."
_DEVICE = "__mindspore__.get_context('device_target')"


@dataclass(slots=True)
class Plan:
    """A loop with what was decided for its optimizer and schedule."""

    loop: EpochLoop
    optimizer: Creation | None
    native: NativeOptimizer | None = None  # else that of the default style
    rates: str = ""  # the list of learning rates, where there is one
    moved: bool = False  # the optimizer is made where the loop was
    names: dict[str, str] = field(default_factory=dict)  # what new variables are called


class Writer:
    """Writes the statements, one indent given."""

    def __init__(self, plan: Plan) -> None:
        self._plan, self._loop = plan, plan.loop
        self._step: Step = plan.loop.step
        self._lines: list[str] = []
        self.changes: list[str] = []  # for the summary

    def lines(self) -> list[str]:
        network, loss = network_text(self._loop), self._loss()
        if self._plan.moved:
            self._assign(self._text(self._step.optimizer), self.optimizer_call())
        self._dataset("train_data", self._step.loader)
        evaluation = self._loop.evaluation
        if evaluation is not None:
            self._dataset("valid_data", evaluation.loader)
        self._model(network, loss)
        callbacks = self._callbacks(network)
        call = self._name("trainer")
        arguments = [self._loop.epochs, self._name("train_data")]
        if evaluation is not None:
            arguments += [self._name("valid_data")]
            method = "fit"
        else:
            method = "train"
        if callbacks:
            arguments.append(f"callbacks=[{', '.join(callbacks)}]")
        arguments.append("dataset_sink_mode=False")  # launch.py --dataset_sink turns it on
        if evaluation is not None:
            arguments.append("valid_dataset_sink_mode=False")
        self._call(f"{call}.{method}", arguments)
        self._lines += self._saves_after()
        return self._lines

    def optimizer_call(self) -> str:
        made = self._plan.native
        assert made is not None
        arguments = [made.params, f"learning_rate={self._plan.rates or made.rate}"]
        arguments += [f"{name}={value}" for name, value in made.options.items()]
        return f"__mindspore__.nn.{made.name}({', '.join(arguments)})"

    # Parts --------------------------------------------------------------------------------------

    def _name(self, word: str) -> str:
        return self._plan.names.get(word, word)

    def _text(self, place: Place | None) -> str:
        assert place is not None
        return text_at(place)

    def _loss(self) -> str:
        """The loss as a layer, on a line of its own where the program calls a function."""
        step = self._step
        assert step.loss is not None
        node, frame = step.loss
        if not step.loss_layer:
            return self._text(step.loss)
        assert isinstance(node, ast.Call)
        options = ", ".join(f"{k.arg}={frame.text(k.value)}" for k in node.keywords)
        self._assign(self._name("loss_fn"), f"__torch__.nn.{step.loss_layer}({options})")
        return self._name("loss_fn")

    def _dataset(self, name: str, loader: Place) -> None:
        made = "__mindspore__.dataset.GeneratorDataset"
        arguments = [self._text(loader), "column_names=['data', 'label']", "shuffle=False"]
        self._call(f"{self._name(name)} = {made}", arguments)

    def _model(self, network: str, loss: str) -> None:
        evaluation = self._loop.evaluation
        optimizer = self._text(self._step.optimizer)
        metrics = self._metrics(loss)
        if self._plan.native is not None:
            arguments = [network, f"loss_fn={loss}", f"optimizer={optimizer}"]
            if metrics:
                arguments.append(f"metrics={{{', '.join(metrics)}}}")
            arguments += self._precision()
        else:
            cell = f"__mindspore__.nn.WithLossCell({network}, {loss})"
            self._assign(
                self._name("train_step"), f"__mindspore__.nn.TrainOneStepCell({cell}, {optimizer})"
            )
            arguments = [self._name("train_step")]
            if evaluation is not None:
                arguments += [
                    f"metrics={{{', '.join(metrics)}}}",
                    f"eval_network=__mindspore__.nn.WithEvalCell({network}, {loss})",
                    "eval_indexes=[0, 1, 2]",
                ]
        self._call(f"{self._name('trainer')} = {TRAIN}Model", arguments)

    def _metrics(self, loss: str) -> list[str]:
        evaluation = self._loop.evaluation
        if evaluation is None:
            return []
        found = []
        if evaluation.loss is not None:
            made = f"__helpers__.SampleLoss({loss})" if evaluation.weighted else f"{TRAIN}Loss()"
            found.append(f"'loss': {made}")
        if evaluation.correct:
            found.append(f"'accuracy': {TRAIN}Accuracy()")
        if not found:
            raise Stays("the evaluation computes neither a loss nor an accuracy", loop_node(self))
        return found

    def _precision(self) -> list[str]:
        step = self._step
        if step.autocast is None:
            return []
        found = ["amp_level='O1'"]
        if step.scaler is not None:
            name = self._name("loss_scale_manager")
            manager = f"{TRAIN}DynamicLossScaleManager(init_loss_scale=2**16)"
            self._assign(name, "None")
            self._lines.append(f"if {_DEVICE} != 'CPU':  # no kernels\n    {name} = {manager}")
            found.append(f"loss_scale_manager={name}")
        return found

    def _callbacks(self, network: str) -> list[str]:
        loop, step = self._loop, self._step
        found: list[str] = []
        loader = self._text(step.loader)
        if loop.display.loss_shown or loop.evaluation is not None:
            every = f"len({loader})"
            if step.every is not None:
                every = self._epoch_free(step.every, step.loader[1]) or every
            found.append(f"{TRAIN}LossMonitor({every})")
        if loop.display.timed:
            found.append(f"{TRAIN}TimeMonitor()")
        scheduler, suffix = loop.scheduler, ""
        if step.scheduler is not None:
            scheduler, suffix = step.scheduler, ", every='step'"
        if scheduler is not None and not self._plan.rates:
            found.append(f"__helpers__.SchedulerCallback({self._text(scheduler)}{suffix})")
        found += self._checkpoints(network, loader)
        return found

    def _epoch_free(self, node: ast.expr, frame: Frame) -> str:
        try:
            return frame.text(node)
        except Stays:
            return ""

    # Checkpoints --------------------------------------------------------------------------------

    def _checkpoints(self, network: str, loader: str) -> list[str]:
        """ModelCheckpoint for files that are named by the epoch."""
        found = []
        for statement, frame, every in self._loop.saves:
            path = _path_of(statement)
            if not self._names_epoch(path, frame):
                continue
            folder = _folder_of(path, frame)
            steps = f"len({loader})"
            if every is not None:
                steps = f"{frame.text(every)} * {steps}"
            config = (
                f"{TRAIN}CheckpointConfig(save_checkpoint_steps={steps}, "
                f"keep_checkpoint_max={self._loop.epochs})"
            )
            prefix = network.rpartition(".")[2]
            directory = f", directory={folder}" if folder else ""
            found.append(f"{TRAIN}ModelCheckpoint(prefix='{prefix}'{directory}, config={config})")
            self.changes.append(
                f"line {statement.lineno}: ModelCheckpoint names its files "
                f"{prefix}-EPOCH_STEP.ckpt, not `{ast.unparse(path)}`"
            )
        return found

    def _saves_after(self) -> list[str]:
        """A file that every epoch overwrites holds the last epoch's weights."""
        lines = []
        for statement, frame, every in self._loop.saves:
            path = _path_of(statement)
            if self._names_epoch(path, frame):
                continue
            if every is not None:
                raise Stays("a checkpoint of some epochs is overwritten", statement)
            assert isinstance(statement, ast.Expr)
            lines.append(frame.text(statement.value))
            self.changes.append(
                f"line {statement.lineno}: `{ast.unparse(path)}` is written once, after the last "
                "epoch, not overwritten in every epoch"
            )
        return lines

    def _names_epoch(self, path: ast.expr, frame: Frame) -> bool:
        epoch = self._loop.epoch_names
        for node in ast.walk(path):
            if isinstance(node, ast.Name):
                origin, at = frame.origin(node)
                if at is self._loop.root and name_of(origin) in epoch:
                    return True
        return False

    def _assign(self, target: str, value: str) -> None:
        self._lines.append(f"{target} = {value}")

    def _call(self, head: str, arguments: list[str]) -> None:
        self._lines.append(f"{head}({', '.join(arguments)})")


def _path_of(statement: ast.stmt) -> ast.expr:
    assert isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    return statement.value.args[1] if len(statement.value.args) > 1 else ast.Constant("")


def _folder_of(path: ast.expr, frame: Frame) -> str:
    """The directory of a file name, as source; "" for the working directory."""
    if (
        isinstance(path, ast.Call)
        and ast.unparse(path.func) == "os.path.join"
        and len(path.args) == 2
    ):
        return frame.text(path.args[0])
    if isinstance(path, ast.JoinedStr):
        texts = [p for p in path.values if isinstance(p, ast.Constant)]
        if not any("/" in str(p.value) for p in texts):
            return ""
        first = path.values[0]
        if isinstance(first, ast.Constant) and not any("/" in str(p.value) for p in texts[1:]):
            return repr(str(first.value).rpartition("/")[0])
    raise Stays("where checkpoints are written is computed for every epoch", path)


def loop_node(writer: Writer) -> ast.AST:
    return writer._loop.statement

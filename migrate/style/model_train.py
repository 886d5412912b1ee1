"""`port --style mindspore`: a plain loop over epochs and batches as mindspore.train.Model, with
callbacks, metrics and lists of learning rates; a loop that does more stays, with a finding.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from migrate.findings import Finding
from migrate.flow.project_flags import sets_requires_grad
from migrate.pipeline import becomes, declare, flags
from migrate.pipeline.context import Context
from migrate.style.epoch_loop import LoopReader, network_text, training_loops
from migrate.style.frames import Scope, Stays
from migrate.style.layout import laid_out
from migrate.style.optimizers import NativeOptimizer, creation_of, native_optimizer
from migrate.style.removal import dead_statements, only_used_inside, removable_functions
from migrate.style.schedules import Rates, rates_of
from migrate.style.write import Plan, Writer
from migrate.syntax.access import is_store
from migrate.syntax.ast_index import nodes_of
from migrate.syntax.edits import Edit, SourceText
from migrate.syntax.nodes import in_quotes

_WIDTH = 99
_NAMES = re.compile(r"__(mindspore|helpers)__\.([\w.]+)")
NEXT_STEP = "the loop is ported as in the default style; move the statement out of it for Model"


@dataclass(slots=True)
class Styled:
    """The edits of a file, what the summary says of them, and the loops that stay."""

    edits: list[Edit] = field(default_factory=list)
    notes: list[tuple[int, str]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


_EVERY_GRADIENT = (
    "every parameter that the optimizer holds gets a gradient in every step: Model gives the "
    "others zeros, by which weight decay and momentum move them, where torch leaves them alone",
    "in torch, after loss.backward(): is any parameter's .grad None?",
)
_CLIP = "nn.utils.clip_grad_norm_(model.parameters(), 1.0)"
_BEFORE = """
    def train(model: nn.Module, loader, epochs):
        loss_fn = nn.CrossEntropyLoss()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        model.train()
        for epoch in range(epochs):
            for x, y in loader:
                optimizer.zero_grad()
                loss = loss_fn(model(x), y)
                loss.backward()
                optimizer.step()
"""


@declare(
    phase="style",
    unit="program",
    needs=["usages", "types", "definitions", "gradients"],
    examples=[
        becomes(
            _BEFORE,
            """
    def train(model: nn.Cell, loader, epochs):
        loss_fn = helpers.CrossEntropyLoss()
        optimizer = nn.Momentum(model.trainable_params(), learning_rate=0.1, momentum=0.9)
        model.set_train()
        train_data = ds.GeneratorDataset(loader, column_names=['data', 'label'], shuffle=False)
        trainer = Model(model, loss_fn=loss_fn, optimizer=optimizer)
        trainer.train(epochs, train_data, dataset_sink_mode=False)
            """,
        ),
        flags(
            _BEFORE.replace("optimizer.step()", f"{_CLIP}; optimizer.step()"),
            f"`{_CLIP}` has no counterpart in Model.train",
        ),
    ],
)
def model_train(context: Context, source: SourceText) -> Styled:
    """The edits of one file."""
    result = Styled()
    plans: list[Plan] = []
    for scope, loop in training_loops(context):
        try:
            plan = _plan(scope, loop, context)
            _write(plan, context, source, result)
            plans.append(plan)
        except Stays as reason:
            node = reason.node if hasattr(reason.node, "lineno") else loop
            message = f"the training loop stays a loop: {reason}"
            result.findings.append(context.flag(node, "MS409", message, NEXT_STEP))
    _remove(plans, context, source, result)
    return result


def _plan(scope: Scope, statement: ast.For, context: Context) -> Plan:
    _refuse_processes(context, statement)
    loop = LoopReader(scope, statement, context).read()
    step, root = loop.step, loop.root
    plan = Plan(loop, creation_of(step.optimizer, root, context))
    _refuse_late_freezing(plan, context)
    plan.names = _fresh_names(context)
    refusal = _plan_native(plan, context)
    if plan.native is None and step.autocast is not None:
        raise Stays(refusal or "mixed precision takes an optimizer of mindspore.nn", statement)
    return plan


def _plan_native(plan: Plan, context: Context) -> str:
    """An optimizer of mindspore.nn in the plan, if there is one; else why there is none."""
    if plan.optimizer is None:
        return "where the optimizer is made is not known"
    loop = plan.loop
    native = native_optimizer(plan.optimizer, network_text(loop), context)
    if isinstance(native, str):
        return f"mixed precision takes an optimizer of mindspore.nn: {native}"
    if loop.step.scheduler is not None or loop.scheduler is not None:
        _plan_rates(plan, native, context)
        return ""
    places = [loop.statement, *loop.functions, plan.optimizer.statement]
    if only_used_inside(plan.optimizer.target, places, context):
        plan.native = native
    return ""


def _plan_rates(plan: Plan, native: NativeOptimizer, context: Context) -> None:
    """A schedule as a list of learning rates, made where the loop was."""
    loop, optimizer = plan.loop, plan.optimizer
    place = loop.step.scheduler or loop.scheduler
    scheduler = creation_of(place, loop.root, context)
    assert optimizer is not None
    if scheduler is None or not scheduler.local or not optimizer.local or native.group_rates:
        return
    node, frame = loop.step.loader
    per_step = loop.step.scheduler is not None
    settings = native.rate, loop.epochs, frame.text(node)
    rates = rates_of(Rates(scheduler, context, *settings, per_step=per_step))
    inside = [loop.statement, *loop.functions, optimizer.statement, scheduler.statement]
    if not rates or not all(
        only_used_inside(name, inside, context) for name in (optimizer.target, scheduler.target)
    ):
        return
    plan.native, plan.rates, plan.moved = native, rates, True


def _refuse_processes(context: Context, loop: ast.For) -> None:
    for usage in context.resolution.usages:
        if usage.api.startswith("torch.distributed.") or usage.api.endswith("DataParallel"):
            raise Stays("the program trains in several processes", loop)


def _refuse_late_freezing(plan: Plan, context: Context) -> None:
    """Model's step trains all parameters that its optimizer was given."""
    if not sets_requires_grad(context.modules.project):
        return
    made = plan.optimizer
    if made is None or not made.local:
        raise Stays("parameters are frozen or thawed in the program", plan.loop.statement)
    own = set(ast.walk(made.frame.scope))
    for node in nodes_of(context.tree, ast.Attribute):
        freezes = node.attr == "requires_grad_"
        freezes |= node.attr == "requires_grad" and is_store(node)
        if freezes and not (node in own and node.lineno < made.call.lineno):
            raise Stays("parameters are frozen or thawed elsewhere", node)


def _fresh_names(context: Context) -> dict[str, str]:
    taken = {node.id for node in nodes_of(context.tree, ast.Name)}
    taken |= {node.arg for node in nodes_of(context.tree, ast.arg)}
    names = {}
    for word in (
        "train_data",
        "valid_data",
        "trainer",
        "loss_fn",
        "train_step",
        "loss_scale_manager",
    ):
        name = word
        while name in taken:
            name += "_"
        names[word] = name
    return names


def _write(plan: Plan, context: Context, source: SourceText, result: Styled) -> None:
    loop = plan.loop
    writer = Writer(plan)
    indent = source.indent_of(loop.statement)
    lines = [line.replace("__torch__", _torch_root(context)) for line in writer.lines()]
    text = _set(lines, indent, source)
    result.edits.append(source.replace(loop.statement, text))
    if plan.native is not None and not plan.moved:
        assert plan.optimizer is not None
        made = plan.optimizer
        line = f"{made.target} = {writer.optimizer_call()}"
        text = _set([line], source.indent_of(made.statement), source)
        result.edits.append(source.replace(made.statement, text))
    result.notes += [(loop.statement.lineno, note) for note in _notes(plan, writer)]
    if plan.native is None or not plan.native.leaves_zeros_alone:
        context.assume(loop.statement, *_EVERY_GRADIENT)


def _set(lines: list[str], indent: str, source: SourceText) -> str:
    """The lines in the file's quotes, broken where they are too long, names of MindSpore marked."""
    quote = '"' if source.text.count('"') > source.text.count("'") else "'"
    shown: list[str] = []
    for line in lines:
        shown += laid_out(line, indent, _WIDTH)
    text = f"\n{indent}".join(shown)
    return in_quotes(_NAMES.sub(r"__\1__('\2')", text), quote)


def _torch_root(context: Context) -> str:
    """How the file calls torch, for the layers of losses."""
    for node in nodes_of(context.tree, ast.Import):
        for alias in node.names:
            if alias.name == "torch":
                return alias.asname or "torch"
    return "__import_torch__"


def _notes(plan: Plan, writer: Writer) -> Iterator[str]:
    loop = plan.loop
    shown = sorted({statement.lineno for statement in loop.display.prints})
    if shown:
        lines = ", ".join(map(str, shown))
        told = "LossMonitor prints the loss of a step"
        if loop.evaluation is not None:
            told += ", Model.fit the metrics of an epoch"
        yield f"the output of line{'s' * (len(shown) > 1)} {lines} is replaced: {told}"
    yield from writer.changes
    if plan.native is None:
        yield "the optimizer keeps torch's arithmetic in a TrainOneStepCell of its own"
    if loop.step.scaler is not None:
        yield "on CPU losses are not scaled: MindSpore has dynamic loss scaling for devices alone"


def _remove(plans: list[Plan], context: Context, source: SourceText, result: Styled) -> None:
    """Functions, schedules and variables that only the loops used."""
    gone: list[ast.AST] = [plan.loop.statement for plan in plans]
    gone += removable_functions([plan.loop for plan in plans], gone, context)
    for plan in plans:
        if plan.moved:
            assert plan.optimizer is not None
            scheduler = plan.loop.step.scheduler or plan.loop.scheduler
            made = creation_of(scheduler, plan.loop.root, context)
            assert made is not None
            gone += [plan.optimizer.statement, made.statement]
        scaler = creation_of(plan.loop.step.scaler, plan.loop.root, context)
        if scaler is not None and only_used_inside(
            scaler.target, [*gone, scaler.statement], context
        ):
            gone.append(scaler.statement)
        gone += dead_statements(plan.loop, gone, context)
    loops = {plan.loop.statement for plan in plans}
    for statement in dict.fromkeys(gone):
        if statement not in loops:
            result.edits.append(_line_edit(statement, source))


def _line_edit(statement: ast.AST, source: SourceText) -> Edit:
    """Remove a statement with its lines, and the blank lines behind a definition."""
    start, end = source.span(statement)
    first = source.text.rfind("\n", 0, start) + 1
    if source.text[first:start].strip():
        return Edit(start, end, ("pass",))
    match = re.compile(r"[^\n]*\n?").match(source.text, end)
    last = match.end() if match else end
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        blank = re.compile(r"(?:[ \t]*\n)*").match(source.text, last)
        last = blank.end() if blank else last
    return Edit(first, last, ("",))

"""Print the plan of a file's training steps: which statements go into a step and why, what goes in,
what comes out, where it stands, and what becomes of the gradients.
"""

from __future__ import annotations

import ast

from migrate.flow.names import reads
from migrate.flow.parameter_use import runs_forward
from migrate.pipeline.context import Context
from migrate.plan.training_step import Plans, TrainingStep
from migrate.syntax.access import stored_names
from migrate.syntax.ast_index import all_nodes

_WIDTH = 72


def explain_plans(plans: Plans, context: Context) -> str:
    """All steps of a file, in the order of their backward passes; empty if there are none."""
    steps = sorted(plans.steps, key=lambda step: step.backward.statement.lineno)
    parts = [_explain(step, plans, context) for step in steps]
    if plans.tape:
        tape = [(step, kind) for kind, step, _ in plans.roles.values() if kind == "tape"]
        lines = sorted({step.backward.statement.lineno for step, _ in tape})
        parts += [
            f"line {line}: gradients are recorded while the program runs (helpers.backward): the "
            "step cannot be written as a function; see the finding there\n"
            for line in lines
        ]
    if plans.switches.all_cells:
        parts.append("modes: every Cell starts in training mode (not every model is in view)\n")
    return "\n".join(parts)


def _explain(step: TrainingStep, plans: Plans, context: Context) -> str:
    backward = step.backward
    rows = [("weights", step.weights)]
    rows += [("step", row) for row in _statements(step, context)]
    rows += [("in front", f"{_line(s)}: its result is detached") for s in step.detached]
    rows += [("behind", f"{_line(s)}{_renames(step, s)}") for s in step.deferred]
    rows.append(("inputs", ", ".join(step.parameters) or "none"))
    rows.append(("results", ", ".join([_loss(step), *_results(step)])))
    rows.append(("place", _place(step)))
    rows.append(("gradients", _gradients(step)))
    if backward.scaler:
        rows.append(("precision", f"the loss is scaled by {backward.scaler}"))
    rows += [("clipping", row) for row in _clipping(step, plans)]
    head = f"line {backward.statement.lineno}: {_short(ast.unparse(backward.statement))}\n"
    shown, last = [head], ""
    for label, text in rows:
        shown.append(f"  {label if label != last else '':<10} {text}\n")
        last = label
    return "".join(shown)


def _statements(step: TrainingStep, context: Context) -> list[str]:
    """Each statement of the step with the reason why it is there."""
    found = []
    bound: set[str] = set()
    for statement in step.region:
        results = sorted(reads(statement) & bound)
        if runs_forward(statement, context.flow):
            reason = "uses parameters"
        elif results:
            reason = f"reads {', '.join(results)}, computed in the step"
        else:
            reason = "starts what the step adds up, or binds again what it has read"
        found.append(f"{_line(statement)}: {reason}")
        bound |= {n.id for n in all_nodes(statement) if isinstance(n, ast.Name)} - reads(statement)
        bound |= stored_names(all_nodes(statement))
    return found or ["the loss alone"]


def _results(step: TrainingStep) -> list[str]:
    earlier = {one.version: one.name for row in step.versions.snapshots.values() for one in row}
    loss = _loss(step)
    return [
        f"{name} (an earlier value of {earlier[name]})" if name in earlier else name
        for name in step.outputs
        if name != loss
    ]


def _renames(step: TrainingStep, statement: ast.stmt) -> str:
    names = step.versions.renames.get(statement, {})
    return "".join(f"; {old} is {new} there" for old, new in names.items())


def _place(step: TrainingStep) -> str:
    if step.loop is not None:
        return f"function in front of the loop in line {step.loop.lineno}"
    return f"function in front of line {step.anchor.lineno}"


def _gradients(step: TrainingStep) -> str:
    if step.unused:
        return "they are not used"
    if step.on_parameters:
        return "kept at the parameters (p.grad): other functions or optimizers look for them there"
    if step.accumulates:
        return "added up until zero_grad()"
    return f"used once, by {step.optimizer}"


def _clipping(step: TrainingStep, plans: Plans) -> list[str]:
    return [
        "all gradients of the step" if not detail else "those of the parameters that are listed"
        for kind, owner, detail in plans.roles.values()
        if owner is step and kind.startswith("clip_")
    ]


def _loss(step: TrainingStep) -> str:
    return _short(ast.unparse(step.backward.bare))


def _line(statement: ast.stmt) -> str:
    return f"{statement.lineno:>4} {_short(ast.unparse(statement))}"


def _short(text: str) -> str:
    first = text.partition("\n")[0]
    return first if len(first) <= _WIDTH else first[: _WIDTH - 3] + "..."

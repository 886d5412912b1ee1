"""Write a planned step: the forward function, value_and_grad, and the statements that use the
gradients.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

import libcst as cst

from migrate.plan.training_step import TrainingStep
from migrate.syntax.import_planner import ImportPlanner
from migrate.syntax.text import code

Statement = cst.BaseStatement


def forward_function(
    plan: TrainingStep, region: Sequence[Statement], loss: cst.BaseExpression
) -> cst.FunctionDef:
    """The statements that compute the loss, as a function of the data."""
    loss = loss.with_changes(lpar=[], rpar=[]) if not isinstance(loss, cst.Tuple) else loss
    outputs = [name for name in plan.outputs if name != code(loss)]
    returned = ", ".join([code(loss), *outputs])
    parameters = [cst.Param(cst.Name(name)) for name in plan.parameters]
    back = cst.parse_statement(f"return {returned}")
    body = list(region)
    if body:
        lines = list(getattr(body[0], "leading_lines", ()))
        while lines and lines[0].comment is None:
            lines.pop(0)
        body[0] = body[0].with_changes(leading_lines=lines)
    # A part of an input cannot be changed: MindSpore takes gradients of what it was given.
    body[:0] = [cst.parse_statement(f"{name} = {name}.copy()") for name in plan.copied]
    return cst.FunctionDef(
        name=cst.Name(plan.forward_name),
        params=cst.Parameters(params=parameters),
        body=cst.IndentedBlock([*body, back]),
        leading_lines=[cst.EmptyLine(indent=False)],
    )


def snapshots(plan: TrainingStep, statement: ast.AST | None) -> list[Statement]:
    """Earlier values that are results of the step, behind the statement that gives them."""
    found = plan.versions.snapshots.get(statement, []) if isinstance(statement, ast.stmt) else []
    return [cst.parse_statement(one.source) for one in found]


def renamed(
    plan: TrainingStep, statement: ast.AST | None, produced: Sequence[Statement]
) -> list[Statement]:
    """A statement that goes behind the step, with the values that it read where it stood."""
    names = plan.versions.renames.get(statement, {}) if isinstance(statement, ast.stmt) else {}
    if not names:
        return list(produced)
    found = [one.visit(_Renamer(names)) for one in produced]
    return [one for one in found if isinstance(one, cst.BaseStatement)]


class _Renamer(cst.CSTTransformer):
    """Other names for variables; members and keywords keep theirs."""

    def __init__(self, names: dict[str, str]) -> None:
        super().__init__()
        self.names = names

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:
        new = self.names.get(updated_node.value)
        return updated_node if new is None else updated_node.with_changes(value=new)

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.Attribute:
        return updated_node.with_changes(attr=original_node.attr)

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        return updated_node.with_changes(keyword=original_node.keyword)


def preparation(
    plan: TrainingStep,
    function: cst.FunctionDef,
    loss: cst.BaseExpression,
    spelling: ImportPlanner,
    test: cst.BaseExpression | None = None,
) -> list[Statement]:
    """What stands in front of the loop: the forward function and the function that
    differentiates it.
    """
    aux = ", has_aux=True" if _aux(plan, loss) else ""
    differentiate = spelling.name("helpers.value_and_grad")
    weights = plan.weights
    gradient = f"{plan.grad_name} = {differentiate}({plan.forward_name}, None, {weights}{aux})"
    statements: list[Statement] = [cst.parse_statement(gradient)]
    if plan.accumulates and plan.owns_store:
        statements.append(cst.parse_statement(f"{plan.store_name} = {_store(plan, spelling)}"))
    if test is not None and plan.settled and plan.instead is None:
        # Without training there may be no optimizer either.
        statements = [cst.If(test=test, body=cst.IndentedBlock(statements))]
    statements[0] = _blank_before(statements[0])
    modes = [cst.parse_statement(f"{model}.set_train()") for model in plan.switched]
    return [*modes, function, *statements]


def backward_statements(
    plan: TrainingStep, loss: cst.BaseExpression, test: cst.BaseExpression | None = None
) -> list[Statement]:
    """In place of `loss.backward()`; with a test, gradients are computed only where it holds."""
    lines = gradient_lines(plan, loss)
    if test is not None:
        target = lines[0].partition(f", {plan.grads_name} = ")[0]
        plain = f"{target.strip('()')} = {plan.forward_name}({', '.join(plan.parameters)})"
        return [in_branches(test, lines, [plain])]
    if plan.accumulates:
        lines.append(f"{plan.store_name}.add({plan.grads_name})")
    return [cst.parse_statement(line) for line in lines]


def in_branches(test: cst.BaseExpression, lines: list[str], others: list[str]) -> cst.If:
    """`if test: lines else: others`"""
    body, orelse = (
        cst.IndentedBlock([cst.parse_statement(line) for line in branch])
        for branch in (lines, others)
    )
    return cst.If(test=test, body=body, orelse=cst.Else(orelse))


def gradient_lines(plan: TrainingStep, loss: cst.BaseExpression) -> list[str]:
    """The call that gives the loss and its gradients."""
    aux = _aux(plan, loss)
    target = code(loss) if isinstance(loss, cst.Name) else "_"
    if aux:
        target = f"({', '.join([target, *aux])})"
    return [f"{target}, {plan.grads_name} = {plan.grad_name}({', '.join(plan.parameters)})"]


def _store(plan: TrainingStep, spelling: ImportPlanner) -> str:
    """Where gradients add up: beside the optimizer, or at the parameters if the program looks
    for them there.
    """
    if plan.on_parameters:
        return f"{spelling.name('helpers.ParameterGradients')}({plan.weights})"
    return f"{spelling.name('helpers.gradients_of')}({plan.optimizer})"


def _aux(plan: TrainingStep, loss: cst.BaseExpression) -> list[str]:
    return [name for name in plan.outputs if name != code(loss)]


def gradients(plan: TrainingStep) -> str:
    """The expression for the gradients that the optimizer is to use."""
    return f"{plan.store_name}.values" if plan.accumulates else plan.grads_name


def _own_statement(
    kind: str, plan: TrainingStep, detail: str, call: cst.Call, spelling: ImportPlanner
) -> str:
    """The same where the gradients are stored beside the parameters, not in a variable."""
    stored = spelling.name("helpers.ParameterGradients")
    if kind == "own_zero":
        return f"{stored}({detail}).clear({zeros_for_none(call)})"
    scaler, _, optimizer = detail.rpartition(" ")
    grads = f"{stored}({optimizer}.parameters).values"
    if kind == "own_step" and plan.may_freeze:
        return f"{spelling.name('helpers.update')}({optimizer}, {grads})"
    if kind == "own_step":
        return f"{optimizer}({grads})"
    if kind == "own_unscale":
        return f"{grads} = {scaler}.unscale({grads}, {optimizer})"
    return f"{scaler}.step({optimizer}, {grads})"


def special_statement(
    kind: str, plan: TrainingStep, detail: str, call: cst.Call, target: str, spelling: ImportPlanner
) -> str:
    """The line that takes the place of step, zero_grad, clipping or unscaling; empty removes it."""
    grads = gradients(plan)
    if kind == "early_zero":
        return f"{_store(plan, spelling)}.clear({zeros_for_none(call)})" if plan.accumulates else ""
    if kind == "no_zero":
        return ""
    if kind == "inner_backward":
        return f"{plan.store_name}.add({plan.grads_name})" if plan.accumulates else ""
    if kind == "zero":
        return f"{plan.store_name}.clear({zeros_for_none(call)})" if plan.accumulates else ""
    if kind == "step" and plan.may_freeze:
        return f"{spelling.name('helpers.update')}({plan.optimizer}, {grads})"
    if kind == "step":
        return f"{plan.optimizer}({grads})"
    if kind == "scaled_step":
        return f"{detail}.step({plan.optimizer}, {grads})"
    if kind == "tape":
        given = "".join(
            f", {code(a.with_changes(comma=cst.MaybeSentinel.DEFAULT))}" for a in call.args
        )
        assert isinstance(call.func, cst.Attribute)
        return f"{spelling.name('helpers.backward')}({code(call.func.value)}{given})"
    if kind.startswith("own_"):
        return _own_statement(kind, plan, detail, call, spelling)
    if kind == "unscale":
        return f"{grads} = {detail}.unscale({grads}, {_argument(call, 0, ('optimizer',))})"
    return _clipping(kind, plan, detail, call, target, spelling)


def zeros_for_none(call: cst.Call) -> str:
    """What zero_grad() was told about zeros in the place of None."""
    given = _argument(call, 0, ("set_to_none",))
    return f"set_to_none={given}" if given and given != "True" else ""


def _clipping(
    kind: str, plan: TrainingStep, detail: str, call: cst.Call, target: str, spelling: ImportPlanner
) -> str:
    """Clip all gradients of the step, or those of the parameters that the program lists."""
    grads = gradients(plan)
    listed = _argument(call, 0, ("parameters",))
    part = f", of={plan.weights.removeprefix('lambda: ')}, only={listed}" if detail else ""
    bound = _argument(call, 1, ("max_norm", "clip_value"))
    if kind == "clip_value":
        bound = bound or _other_arguments(call)
        return f"{grads} = {spelling.name('helpers.clip_grad_value')}({grads}, {bound}{part})"
    norm = _argument(call, 2, ("norm_type",))
    usual = bound and not _has_more(call)
    if usual and norm in ("", "2", "2.0") and not target and not part:
        return f"{grads} = {spelling.name('mindspore.ops.clip_by_global_norm')}({grads}, {bound})"
    given = f"{bound}, norm_type={norm}" if norm else bound
    given = given if usual else _other_arguments(call)
    helper = f"{spelling.name('helpers.clip_grad_norm')}({grads}, {given}{part})"
    return f"{grads}, {target or '_'} = {helper}"


def _has_more(call: cst.Call) -> bool:
    """`clip_grad_norm_(parameters, **options)`, or an option that decides what is done."""
    return any(
        argument.star or (argument.keyword and argument.keyword.value == "error_if_nonfinite")
        for argument in call.args
    )


def _other_arguments(call: cst.Call) -> str:
    """What stands behind the parameters, as it is written."""
    plain = next((a for a in call.args if a.keyword is None and not a.star), None)
    rest = [
        argument.with_changes(comma=cst.MaybeSentinel.DEFAULT)
        for argument in call.args
        if argument is not plain
        and (argument.keyword is None or argument.keyword.value != "parameters")
    ]
    return ", ".join(code(argument) for argument in rest)


def _argument(call: cst.Call, position: int, names: tuple[str, ...]) -> str:
    for argument in call.args:
        if argument.keyword is not None and argument.keyword.value in names:
            return code(argument.value)
    plain = [a for a in call.args if a.keyword is None and not a.star]
    return code(plain[position].value) if len(plain) > position else ""


def _blank_before(statement: Statement) -> Statement:
    return statement.with_changes(leading_lines=[cst.EmptyLine(indent=False)])


def as_list(call: cst.Call) -> cst.Call:
    """`sum(x for x in losses)` with a list: Graph mode does not compile a generator."""
    if len(call.args) != 1 or not isinstance(call.func, cst.Name):
        return call
    value = call.args[0].value
    if call.func.value not in ("sum", "max", "min") or not isinstance(value, cst.GeneratorExp):
        return call
    made = cst.ListComp(elt=value.elt, for_in=value.for_in)
    return call.with_changes(args=[call.args[0].with_changes(value=made)])

"""Put the gradients of plain tensors into the tree: a function of them, and its gradients where
the program asks for them.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import libcst as cst

from migrate.plan.amp_nograd_blocks import StageBlocks
from migrate.plan.input_gradients import InputGradients
from migrate.rewrite.context import Context
from migrate.rewrite.statements.suites import is_gone
from migrate.syntax.nodes import expression
from migrate.syntax.text import code


class InputBlocks(StageBlocks):
    """Rewrites calls of autograd.grad that are planned, and what leads to them."""

    def __init__(self, context: Context, tree: ast.Module) -> None:
        super().__init__(context, tree)
        self._calls = {id(plan.node): plan for plan in self.plans.gradients}
        self._reads = {node: plan for plan in self.plans.gradients for node in plan.reads}
        self._dropped = {id(s) for plan in self.plans.gradients for s in plan.dropped}
        self._dropped |= {id(p.statement) for p in self.plans.gradients if p.is_backward}
        self._outputs: dict[int, cst.BaseExpression] = {}
        self._starts: dict[int, cst.BaseExpression] = {}
        self._again: dict[int, cst.BaseExpression] = {}
        for plan in self.plans.gradients:
            for statement in plan.dropped:
                for node in ast.walk(statement):
                    context.ported += context.usages.pop(id(node), None) is not None

    # Expressions ----------------------------------------------------------------------------------

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        plan = self._calls.get(id(self.partner(original_node)))
        if plan is None:
            return super().leave_Call(original_node, updated_node)
        self.context.ported += 1
        if plan.is_backward:
            assert isinstance(updated_node.func, cst.Attribute)
            self._outputs[id(plan)] = updated_node.func.value
            return updated_node
        given = {
            a.keyword.value if a.keyword is not None else _NAMES[i]: a.value
            for i, a in enumerate(updated_node.args)
        }
        self._outputs[id(plan)] = _bare(_alone(given["outputs"]), plan)
        if plan.start is not None:
            self._starts[id(plan)] = _alone(given["grad_outputs"])
        if "create_graph" in given:
            self._again[id(plan)] = given["create_graph"]
        return cst.Name(plan.gradients_name)

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        partner = self.partner(original_node)
        plan = self._reads.get(id(partner))
        if plan is None:
            return super().leave_Attribute(original_node, updated_node)
        self.context.ported += 1
        return expression(f"{plan.gradients_name}[{plan.reads[id(partner)]}]")

    # Statements -----------------------------------------------------------------------------------

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> Any:
        partner = self.partner(original_node.body[0]) if original_node.body else None
        if id(partner) in self._dropped:
            updated_node = updated_node.with_changes(body=[])
        return super().leave_SimpleStatementLine(original_node, updated_node)

    def differentiated(self, original: Sequence[cst.CSTNode]) -> bool:
        """Change what the statements of a block have become; False where nothing is asked for."""
        partners = [self._statement(node) for node in original]
        plans = [p for p in self.plans.gradients if any(p.place is one for one in partners)]
        for plan in plans:
            inner: list[cst.BaseStatement] = []
            behind: list[cst.BaseStatement] = []
            place = 0
            for node, partner in zip(original, partners, strict=True):
                if any(partner is one for one in plan.region):
                    inner += self.produced.pop(id(node), [])
                elif any(partner is one for one in plan.later):
                    behind += self.produced.pop(id(node), [])
                if partner is plan.place:
                    place = id(node)
            made = self._made(plan, [s for s in inner if not is_gone(s)])
            rest = self.produced.get(place, [])
            self.produced[place] = [*made, *behind, *(s for s in rest if not is_gone(s))]
        return bool(plans)

    def _made(
        self, plan: InputGradients, inner: list[cst.BaseStatement]
    ) -> list[cst.BaseStatement]:
        """The function of the inputs, and the line that computes it with its gradients."""
        output = code(self._outputs[id(plan)])
        start = self._starts.get(id(plan))
        first = output if start is None else f"({output} * {code(start)}).sum()"
        # What is returned beside it must not count: its gradient cancels out.
        returned = ", ".join([first, *plan.kept, *(f"-{name}" for name in plan.kept)])
        back = cst.parse_statement(f"return {returned}")
        if plan.kept:
            note = cst.Comment("# gradients are those of the sum: what is kept besides cancels out")
            back = back.with_changes(leading_lines=[cst.EmptyLine(comment=note)])
        lines = list(getattr(inner[0], "leading_lines", ())) if inner else []
        head = [cst.EmptyLine(indent=False), *(line for line in lines if line.comment is not None)]
        if inner:
            inner[0] = inner[0].with_changes(leading_lines=[])
        parameters = [cst.Param(cst.Name(name)) for name in (*plan.inputs, *plan.others)]
        function = cst.FunctionDef(
            name=cst.Name(plan.function_name),
            params=cst.Parameters(params=parameters),
            body=cst.IndentedBlock([*inner, back]),
            leading_lines=head,
        )
        name = output if output.isidentifier() and start is None else "_"
        target = name
        if plan.kept:
            target = f"({', '.join([name, *plan.kept, *('_' for _ in plan.kept)])})"
        given = f"{plan.function_name}, ({_listed(plan.inputs)})"
        given += f", ({_listed(plan.others)})" if plan.others else ""
        again = self._again.get(id(plan))
        if again is not None and code(again) != "False":
            given += f", create_graph={code(again)}"
        helper = self.spelling.name("helpers.with_gradients")
        line = cst.parse_statement(f"{target}, {plan.gradients_name} = {helper}({given})")
        return [function, line.with_changes(leading_lines=[cst.EmptyLine(indent=False)])]


_NAMES = ("outputs", "inputs", "grad_outputs", "retain_graph", "create_graph", "only_inputs")


def _listed(names: list[str]) -> str:
    return ", ".join(names) + ("," if len(names) == 1 else "")


def _alone(value: cst.BaseExpression) -> cst.BaseExpression:
    """The tensor in `[loss]` or `(loss,)`."""
    if isinstance(value, cst.List | cst.Tuple) and len(value.elements) == 1:
        return value.elements[0].value
    return value


def _bare(outputs: cst.BaseExpression, plan: InputGradients) -> cst.BaseExpression:
    """`pred` of `pred.sum()`, where the plan says so."""
    return cst.Name(plan.outputs.id) if isinstance(plan.outputs, ast.Name) else outputs

"""The functions of inputs whose gradients a program asks for, put together from its statements."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import libcst as cst

from migrate.flow.dtypes import WHOLE
from migrate.flow.parameter_use import runs_forward
from migrate.flow.project_flags import depends_on_mode
from migrate.plan.input_gradients import InputGradients
from migrate.resolve.values import (
    PARAMETER,
    TENSOR,
    Instance,
    Known,
    ListOf,
    TupleOf,
    Value,
    options_of,
)
from migrate.rewrite.node_pass import FileAccess, FileRewrite
from migrate.rewrite.statements.suites import is_gone
from migrate.rewrite.steps.step_state import StepState
from migrate.syntax.access import is_read
from migrate.syntax.ast_index import all_nodes
from migrate.syntax.text import code

# Parts of a block: the statement or the plan that each comes from, and its lines.
Parts = list[tuple[object, list[cst.BaseStatement]]]
Written = dict[ast.AST | None, list[cst.BaseStatement]]


class InputFunctions(FileAccess):
    """What the calls of autograd.grad were given, and the functions made of it."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._steps = file.shared(StepState)
        self.outputs: dict[InputGradients, cst.BaseExpression] = {}
        self.starts: dict[InputGradients, cst.BaseExpression] = {}
        self.again: dict[InputGradients, cst.BaseExpression] = {}
        self._seen: set[ast.stmt] = set()  # what stands in a function already

    def differentiated(self, original: Sequence[cst.CSTNode]) -> bool:
        """Change what the statements of a block have become; False where nothing is asked for."""
        partners = [self._steps.statement(node) for node in original]
        plans = [p for p in self._steps.plans.gradients if any(p.place is one for one in partners)]
        if not plans:
            return False
        produced = self._steps.produced
        written = {
            one: produced.get(node, []) for node, one in zip(original, partners, strict=True)
        }
        layout = self._laid_out(plans, written)
        for node, partner in zip(original, partners, strict=True):
            lines = [line for _, part in layout[partner] for line in part]
            if partner is not None and lines != produced.get(node, []):
                produced[node] = [line for line in lines if not is_gone(line)]
        return True

    def _laid_out(
        self, plans: list[InputGradients], written: Written
    ) -> dict[ast.AST | None, Parts]:
        """What stands where each statement stood: parts of it, and of plans whose place it is."""
        layout: dict[ast.AST | None, Parts] = {
            one: [(one, lines)] for one, lines in written.items()
        }
        made: dict[InputGradients, list[cst.BaseStatement]] = {}
        for plan in plans:
            nested = [one for one in made if any(one.statement is part for part in plan.region)]
            inner = self._inner(plan, nested, written, made)
            made[plan] = self._made(plan, [s for s in inner if not is_gone(s)])
            gone = {*plan.region, *nested}
            for place, parts in layout.items():
                layout[place] = [part for part in parts if part[0] not in gone]
            behind = [part for one in plan.deferred for part in layout[one]]
            layout |= {one: [] for one in plan.deferred}
            layout[plan.place] = [(plan, made[plan]), *behind, *layout[plan.place]]
        return layout

    def _inner(
        self,
        plan: InputGradients,
        nested: list[InputGradients],
        written: Written,
        made: dict[InputGradients, list[cst.BaseStatement]],
    ) -> list[cst.BaseStatement]:
        """The body of a function: statements of the region, with the gradients that they use. What
        leads to the gradients for `x` and for `t`, `u = net(x, t)`, stands in both functions.
        """
        within = {statement for one in nested for statement in one.region}
        found: list[cst.BaseStatement] = []
        for statement in plan.region:
            found += [line for one in nested if one.place is statement for line in made[one]]
            if statement not in within:
                found += written.get(statement, [])
            if statement in self._seen and runs_forward(statement, self.context.flow):
                self._flag_again(statement)
            self._seen.add(statement)
        return [statement.deep_clone() for statement in found]

    def _flag_again(self, statement: ast.stmt) -> None:
        if depends_on_mode(self.context.modules.project):
            self.context.flag(
                statement,
                "MS408",
                "is computed for each of the gradients: batch norms see the batch more than once, "
                "and dropout draws again",
                "ask for all the gradients in one call: autograd.grad(u, (x, t))",
            )

    def _made(
        self, plan: InputGradients, inner: list[cst.BaseStatement]
    ) -> list[cst.BaseStatement]:
        """The function of the inputs, and the line that computes it with its gradients."""
        output = code(self.outputs[plan])
        start = self.starts.get(plan)
        first = output if start is None else f"({output} * {code(start)}).sum()"
        # What is returned beside it must not count: its gradient cancels out.
        counted = [name for name in plan.kept if self._may_count(plan, name)]
        returned = ", ".join([first, *plan.kept, *(f"-{name}" for name in counted)])
        back = cst.parse_statement(f"return {returned}")
        if counted:
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
            target = f"({', '.join([name, *plan.kept, *('_' for _ in counted)])})"
        listed = plan.inputs[0] if plan.is_list else f"({_listed(plan.inputs)})"
        given = f"{plan.function_name}, {listed}"
        given += f", ({_listed(plan.others)})" if plan.others else ""
        again = self.again.get(plan)
        if again is not None and code(again) != "False":
            given += f", create_graph={code(again)}"
        kind = "with_list_gradients" if plan.is_list else "with_gradients"
        helper = self.spelling.name(f"helpers.{kind}")
        line = cst.parse_statement(f"{target}, {plan.gradients_name} = {helper}({given})")
        return [function, line.with_changes(leading_lines=[cst.EmptyLine(indent=False)])]

    def _may_count(self, plan: InputGradients, name: str) -> bool:
        """A tensor, or what may be one: only those take part in the sum."""
        nodes = [
            node
            for statement in plan.region
            for node in all_nodes(statement)
            if isinstance(node, ast.Name) and node.id == name
        ]
        if any(self._is_whole(node) for node in nodes):
            return False
        options = [option for node in nodes for option in options_of(self.context.type(node))]
        return not options or not all(map(_takes_no_part, options))

    def _is_whole(self, node: ast.Name) -> bool:
        """Whole numbers and truth values have no gradient; the latter no negative either."""
        if is_read(node):
            return self.context.flow.dtypes.of(node) in WHOLE
        around = self.context.flow.around(node)
        found = around.defuse.definitions(node.id) if around is not None else ()
        given = [d for d in found if d.node is node]
        return any(self.context.flow.dtypes.of_definition(d) in WHOLE for d in given)


def _takes_no_part(value: Value) -> bool:
    """Lists, constants, and objects that are no tensors: distributions, layers."""
    other = isinstance(value, Instance) and value not in (TENSOR, PARAMETER)
    return other or isinstance(value, ListOf | TupleOf | Known)


def _listed(names: list[str]) -> str:
    return ", ".join(names) + ("," if len(names) == 1 else "")

"""Values that torch computes under no_grad carry no gradient: each is cut where it is computed."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import Any

import libcst as cst

from migrate.flow.blocks import statements_below
from migrate.flow.grad_mode import Cut, escaping, grad_mode
from migrate.flow.grad_regions import UNCLEAR
from migrate.flow.project_flags import sets_grad_mode
from migrate.pipeline import becomes, declare
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.rewrite.steps.step_state import StepState
from migrate.rewrite.steps.write_cuts import CutWriter
from migrate.syntax.ast_index import all_nodes, nodes_of, parents_of
from migrate.syntax.nodes import expression
from migrate.syntax.text import code

Function = ast.FunctionDef | ast.AsyncFunctionDef


@declare(
    phase="rewrite",
    unit="node",
    needs=["types", "steps"],
    after={
        "library_calls": "what a call means as a value replaces what it means in a block",
        "step_statements": "a statement that goes has no value",
        "writes": "what a statement changes in place is settled first",
    },
    examples=[
        becomes(
            """
            @torch.no_grad()
            def double(x: torch.Tensor):
                return x * 2
            """,
            """
            def double(x: Tensor):
                return ops.stop_gradient(x * 2)
            """,
        ),
        becomes(
            """
            class Net(nn.Module):
                def forward(self, x):
                    with torch.no_grad():
                        h = self.encoder(x)
                    return self.head(h)
            """,
            """
            class Net(nn.Cell):
                def construct(self, x):
                    h = ops.stop_gradient(self.encoder(x))
                    return self.head(h)
            """,
        ),
    ],
)
class GradientEnds(NodePass):
    """Rewrites the statements that a gradient could pass."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._steps = file.shared(StepState)
        self._writer = CutWriter(self.context, self.spelling)

    def leave_SimpleStatementLine(self, original: cst.SimpleStatementLine, updated: Any) -> Any:
        cut = self._cuts.get(self._steps.statement(original))
        if cut is None or not isinstance(updated, cst.SimpleStatementLine) or not updated.body:
            return updated
        first, *others = updated.body
        return updated.with_changes(body=[self._writer.cut(first, cut), *others])

    # As values ------------------------------------------------------------------------------------

    def leave_Call(self, original: cst.Call, updated: cst.BaseExpression) -> cst.BaseExpression:
        """`ctx = torch.no_grad()`, `torch.no_grad()(function)`."""
        partner = self.partner(original)
        if not isinstance(partner, ast.Call) or partner in self._in_place:
            return updated
        said = grad_mode(partner, self.context.flow)
        if said is None:
            return updated
        if not self._is_followed(partner):
            self._flag(partner, "where gradients are switched off by this value is not known")
            return original
        flag = "" if said in ("", "True") else code(original.args[0].value)
        return expression(f"{self._name}({'True' if said == 'True' else flag})")

    def propose_Attribute(
        self, original: cst.Attribute, updated: cst.Attribute
    ) -> cst.BaseExpression | None:
        """`(torch.inference_mode if fast else torch.no_grad)()`"""
        partner = self.partner(original)
        if not isinstance(partner, ast.Attribute) or partner in self._in_place:
            return None
        usage = self.context.usage(partner)
        if usage is None or usage.form not in ("value", "base"):
            return None
        if grad_mode(partner, self.context.flow) != "":
            return None
        if usage.form == "value" and not self._is_followed(partner):
            return None
        self.context.ported += usage.form == "value"
        return expression(self._name)

    def _is_followed(self, node: ast.expr) -> bool:
        """Whether the blocks or functions that a context is used for are known."""
        if self._steps.plans.tape:
            return True  # it works while the program runs
        _ = self._cuts
        parent = parents_of(self.context.tree).get(node)
        if node in self.context.flow.grad_regions.followed or _is_called_on(parent, node):
            return True
        if isinstance(parent, (ast.Return, ast.IfExp)):
            self.context.assume(
                node,
                "it is used by `with` statements that are in view, or on functions",
                "print torch.is_grad_enabled() in the blocks that use it",
            )
            return True
        names = [ast.unparse(t) for t in parent.targets] if isinstance(parent, ast.Assign) else []
        calls = nodes_of(self.context.tree, ast.Call)
        return any(call.args and ast.unparse(call.func) in names for call in calls)

    @property
    def _name(self) -> str:
        tape = self._steps.plans.tape
        return self.spelling.name("helpers.no_grad" if tape else "helpers.no_gradients")

    @cached_property
    def _in_place(self) -> set[ast.AST]:
        """What stands in a `with`, above a function or alone: other passes drop it."""
        tree = self.context.tree
        found: set[ast.AST] = set()
        for node in nodes_of(tree, ast.With, ast.AsyncWith):
            found |= {item.context_expr for item in node.items}
        for node in nodes_of(tree, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef):
            found |= set(node.decorator_list)
        found |= {node.value for node in nodes_of(tree, ast.Expr)}
        return found | {node.func for node in found if isinstance(node, ast.Call)}

    @cached_property
    def _cuts(self) -> dict[ast.AST | None, Cut]:
        """Statement -> how its values are cut, in code that may be differentiated."""
        tree = self.context.tree
        if self._steps.plans.tape or not sets_grad_mode(self.context.modules.project):
            return {}
        found: list[Cut] = []
        homes: list[ast.Module | Function] = [tree]
        homes += nodes_of(tree, ast.FunctionDef, ast.AsyncFunctionDef)
        for home in homes:
            function = None if isinstance(home, ast.Module) else home
            cuts = self.context.flow.grad_regions.cuts(home.body, function)
            if cuts:
                found += self._differentiated(home, cuts)
        for cut in found:
            if cut.unless == UNCLEAR:
                self._flag(
                    cut.statement,
                    "whether gradients are recorded here is decided inside of a function or class "
                    "whose test could not be followed",
                )
        return {cut.statement: cut for cut in found if cut.unless != UNCLEAR}

    def _flag(self, node: ast.AST, message: str) -> None:
        self.context.flag(
            node,
            "MS408",
            message,
            "write `with torch.no_grad():` around the statements themselves",
        )

    def _differentiated(self, home: ast.Module | Function, cuts: list[Cut]) -> list[Cut]:
        """Of a function with training steps, what runs in them; of others, what may be called in
        one, or what they hand on.
        """
        inside = {
            s for plan in self._steps.all_plans for one in plan.region for s in all_nodes(one)
        }
        trains = any(s in self._steps.plans.roles for _, s in statements_below(home.body))
        if trains or isinstance(home, ast.Module):
            return [cut for cut in cuts if cut.statement in inside]
        if self._is_method(home) or home.name in self._called_in_steps:
            return cuts
        # Nothing in this file differentiates it; a caller may, what it hands on.
        return escaping(home, cuts, self.context.flow)

    def _is_method(self, function: Function) -> bool:
        classes = self.context.module_classes.values()
        return any(function in cls.node.body for cls in classes)

    @cached_property
    def _called_in_steps(self) -> set[str]:
        """Functions that a step or a network calls, by name, and those that they call."""
        parts: list[ast.AST] = [p for plan in self._steps.all_plans for p in plan.region]
        parts += [plan.backward.bare for plan in self._steps.all_plans]
        parts += [cls.node for cls in self.context.module_classes.values()]
        functions = {f.name: f for f in nodes_of(self.context.tree, ast.FunctionDef)}
        found: set[str] = set()
        while parts:
            for node in all_nodes(parts.pop()):
                name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
                if name in functions and name not in found:
                    found.add(name)
                    parts.append(functions[name])
        return found


def _is_called_on(parent: ast.AST | None, node: ast.expr) -> bool:
    """`torch.no_grad()(function)`; the class itself, which is called without arguments."""
    return isinstance(parent, ast.Call) and parent.func is node

"""Values that torch computes under no_grad carry no gradient: each is cut where it is computed."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import Any

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.plan.names import statements_below
from migrate.plan.no_grad_cuts import Cut, find_cuts
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.rewrite.steps.step_state import StepState
from migrate.rewrite.steps.write_cuts import CutWriter
from migrate.syntax.ast_index import nodes_of

Function = ast.FunctionDef | ast.AsyncFunctionDef


@declare(
    phase="rewrite",
    unit="node",
    needs=["types", "steps"],
    after={
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

    @cached_property
    def _cuts(self) -> dict[ast.AST | None, Cut]:
        """Statement -> how its values are cut, in code that may be differentiated."""
        tree = self.context.tree
        if self._steps.plans.taped or not any(
            usage.api.rpartition(".")[2] in ("no_grad", "inference_mode", "set_grad_enabled")
            for usage in self.context.usages.values()
        ):
            return {}
        found: list[Cut] = []
        homes: list[ast.Module | Function] = [tree]
        homes += nodes_of(tree, ast.FunctionDef, ast.AsyncFunctionDef)
        for home in homes:
            function = None if isinstance(home, ast.Module) else home
            cuts = find_cuts(home.body, self.context, function)
            if cuts:
                found += self._differentiated(home, cuts)
        return {cut.statement: cut for cut in found}

    def _differentiated(self, home: ast.Module | Function, cuts: list[Cut]) -> list[Cut]:
        """Of a function with training steps, what runs in them; of others, what may be called in
        one. A loop outside of a network is an evaluation, whose results are reported.
        """
        inside = {s for plan in self._steps.all_plans for one in plan.region for s in ast.walk(one)}
        trains = any(id(s) in self._steps.plans.statements for _, s in statements_below(home.body))
        if trains or isinstance(home, ast.Module):
            return [cut for cut in cuts if cut.statement in inside]
        if self._is_method(home) or home.name in self._called_in_steps:
            return cuts
        loops = any(isinstance(s, ast.For | ast.While) for _, s in statements_below(home.body))
        if loops:
            return []
        # Nothing in view differentiates it; its results may still be a caller's.
        return [cut for cut in cuts if isinstance(cut.statement, ast.Return)]

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
            for node in ast.walk(parts.pop()):
                name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
                if name in functions and name not in found:
                    found.add(name)
                    parts.append(functions[name])
        return found

"""Calls that are right by themselves, and not inside a training step or beside a schedule of
momentums.
"""

from __future__ import annotations

import ast

import libcst as cst

from migrate.flow.grad_mode import is_decorated
from migrate.flow.project_flags import cycles_momentum
from migrate.pipeline import becomes, declare
from migrate.pipeline.refusal import Refusal
from migrate.plan.training_step import TrainingStep
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.rewrite.steps.step_code import as_list
from migrate.rewrite.steps.step_state import StepState
from migrate.syntax.access import name_of
from migrate.syntax.nodes import expression
from migrate.syntax.text import code

_LISTS = frozenset({"torch.nn.Module.parameters", "torch.nn.Module.named_parameters"})


_NEW_PARAMETER = Refusal(
    "a Parameter is made anew where the network runs: torch's optimizers go on with the old one, "
    "MindSpore's with the new values, and Graph mode does not compile it",
    "make it in __init__ and assign values: self.weight.data.copy_(...)",
    "MS408",
)


@declare(
    phase="rewrite",
    unit="node",
    needs=["usages", "steps"],
    after={"cell_classes": "it looks at calls as they are written for Cells"},
    examples=[
        becomes(
            """
            class Net(nn.Module):
                def forward(self, x):
                    return x

                def twice(self, x):
                    return self(self(x))
            """,
            """
            class Net(nn.Cell):
                def construct(self, x):
                    return x

                def twice(self, x):
                    return self.construct(self.construct(x))
            """,
        ),
    ],
)
class FitStepCalls(NodePass):
    """Changes calls that other passes wrote."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._steps = file.shared(StepState)

    def leave_Call(self, original: cst.Call, updated: cst.BaseExpression) -> cst.BaseExpression:
        partner = self.partner(original)
        if not isinstance(partner, ast.Call) or partner in self._steps.plans.handled:
            return updated
        return self._fitted(partner, updated)

    def _fitted(self, partner: ast.Call, new: cst.BaseExpression) -> cst.BaseExpression:
        """What is right by itself, and not beside a training step or a schedule of momentums."""
        usage = self.context.usage(partner.func)
        if not isinstance(new, cst.Call):
            return new
        if usage is None and self._calls_itself(partner):
            # Graph mode compiles no call of self; torch's __call__ adds hooks alone.
            return new.with_changes(func=expression("self.construct"))
        if usage is None:
            return as_list(new) if partner in self._steps.in_step else new
        if usage.api == "torch.nn.Parameter" and getattr(self.function, "name", "") == "forward":
            self.flag(partner, _NEW_PARAMETER)
        if usage.api in _LISTS and partner in self._steps.in_step:
            return self._in_front(self._steps.in_step[partner], usage.api, new)
        if usage.api == "torch.optim.AdamW" and cycles_momentum(self.context.modules.project):
            new = new.with_changes(func=expression(self.spelling.name("helpers.AdamW")))
        return new

    def _calls_itself(self, partner: ast.Call) -> bool:
        """`self(x)` in a method of a network that may be part of a step."""
        methods = [m for cls in self.context.module_classes.values() for m in cls.node.body]
        return (
            name_of(partner.func) == "self"
            and any(self.function is method for method in methods)
            and not is_decorated(self.function, self.context.flow)
        )

    def _in_front(self, plan: TrainingStep, api: str, new: cst.Call) -> cst.Name:
        """`model.parameters()` in a loss: Graph mode takes the list, not the call."""
        name = "weights" if api.endswith(".parameters") else "named_weights"
        lines = self._steps.hoisted.setdefault(plan, [])
        line = f"{name} = list({code(new)})"
        while line not in lines and any(old.partition(" ")[0] == name for old in lines):
            name += "_"
            line = f"{name} = list({code(new)})"
        while name in self.spelling.taken:
            name += "_"
            line = f"{name} = list({code(new)})"
        if line not in lines:
            lines.append(line)
        return cst.Name(name)

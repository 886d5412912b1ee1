"""Calls in and around training steps: losses, parameters, updates that stand apart."""

from __future__ import annotations

import ast

import libcst as cst

from migrate.plan.find import CLIPS
from migrate.plan.no_gradient import is_decorated
from migrate.plan.plan import plan_steps
from migrate.plan.project_flags import cycles_momentum, sets_requires_grad
from migrate.plan.step_plan import Plans, StepPlan
from migrate.plan.write import (
    as_list,
)
from migrate.rewrite.calls.call import Refusal
from migrate.rewrite.context import Context
from migrate.rewrite.statements.blocks import BlockRewriter
from migrate.syntax.ast_index import all_nodes, nodes_of
from migrate.syntax.nodes import expression
from migrate.syntax.text import code

_AUTOCAST = frozenset(
    {"torch.amp.autocast", "torch.autocast", "torch.cuda.amp.autocast", "torch.cpu.amp.autocast"}
)

_LISTS = frozenset({"torch.nn.Module.parameters", "torch.nn.Module.named_parameters"})


_NEW_PARAMETER = Refusal(
    "a Parameter is made anew where the network runs: torch's optimizers go on with the old one, "
    "MindSpore's with the new values, and Graph mode does not compile it",
    "make it in __init__ and assign values: self.weight.data.copy_(...)",
    "MS408",
)


class StepCalls(BlockRewriter):
    """Holds what a file's steps are made of while its calls are rewritten."""

    def __init__(self, context: Context, tree: ast.Module) -> None:
        super().__init__(context, tree)
        self.plans: Plans = plan_steps(tree, context, set(context.spelling.taken))
        self.active = bool(self.plans.by_block or self.plans.gradients) or self.plans.taped
        plans = [plan for block in self.plans.by_block.values() for plan in block]
        self.in_step = {
            id(n): plan
            for plan in plans
            for part in (*plan.region, plan.backward.loss)
            for n in ast.walk(part)
        }
        self.hoisted: dict[int, list[str]] = {}  # plan -> assignments in front of its function
        self.produced: dict[
            int, list[cst.BaseStatement]
        ] = {}  # original statement -> what it became
        self.before: dict[
            int, list[cst.BaseStatement]
        ] = {}  # stdlib statement -> put in front of it
        self.losses: dict[int, cst.BaseExpression] = {}  # backward call -> rewritten loss
        self.casts: set[int] = set()  # statements that switch a model to mixed precision
        self.kept_contexts = {
            ast.unparse(target)
            for node in nodes_of(tree, ast.Assign)
            if any(map(self._is_autocast, all_nodes(node.value)))
            for target in node.targets
        }  # `ctx = nullcontext() if on_cpu else autocast(...)`

    # Expressions ----------------------------------------------------------------------------------

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        partner = self.partner(original_node)
        if id(partner) not in self.plans.handled:
            apart = self._apart(partner, updated_node)
            if apart:
                self.context.ported += 1
                return expression(apart)
            if partner is not None and self._is_autocast(partner):
                self.context.ported += 1
                return expression(
                    f"{self.spelling.name('helpers.Autocast')}({precision_of(updated_node)})"
                )
            new = super().leave_Call(original_node, updated_node)
            return self._fitted(partner, new) if isinstance(partner, ast.Call) else new
        if (
            isinstance(updated_node.func, cst.Attribute)
            and updated_node.func.attr.value == "backward"
        ):
            self.losses[id(partner)] = updated_node.func.value
        self.context.ported += 1
        return updated_node

    def _apart(self, partner: ast.AST | None, updated: cst.Call) -> str:
        """zero_grad(), step() or clipping away from any backward pass, where gradients are kept."""
        usage = self.context.usage(partner.func) if isinstance(partner, ast.Call) else None
        if usage is None or not self.plans.accumulates:
            return ""
        owner = code(updated.func.value) if isinstance(updated.func, cst.Attribute) else ""
        if not self.plans.on_parameters:
            store = self.spelling.name("helpers.gradients_of")
            clears = usage.api == "torch.optim.Optimizer.zero_grad"
            return f"{store}({owner}).clear()" if clears else ""
        store = self.spelling.name("helpers.ParameterGradients")
        if usage.api == "torch.optim.Optimizer.step" and not updated.args:
            kept = f"{store}({owner}.parameters).values"
            if sets_requires_grad(self.context.modules.project):
                return f"{self.spelling.name('helpers.update')}({owner}, {kept})"
            return f"{owner}({kept})"
        weights = {
            "torch.optim.Optimizer.zero_grad": f"{owner}.parameters",
            "torch.nn.Module.zero_grad": f"{owner}.trainable_params()",
        }.get(usage.api)
        if weights is not None:
            return f"{store}({weights}).clear()"
        if usage.api in CLIPS and updated.args:
            name = self.spelling.name(f"helpers.{usage.api.rpartition('.')[2].rstrip('_')}_")
            return code(updated.with_changes(func=expression(name)))
        return ""

    def _fitted(self, partner: ast.Call, new: cst.BaseExpression) -> cst.BaseExpression:
        """What is right by itself, and not beside a training step or a schedule of momentums."""
        usage = self.context.usage(partner.func)
        if not isinstance(new, cst.Call):
            return new
        if usage is None and self._calls_itself(partner):
            # Graph mode compiles no call of self; torch's __call__ adds hooks alone.
            return new.with_changes(func=expression("self.construct"))
        if usage is None:
            return as_list(new) if id(partner) in self.in_step else new
        if usage.api == "torch.nn.Parameter" and getattr(self.function, "name", "") == "forward":
            self.flag(partner, _NEW_PARAMETER)
        if usage.api in _LISTS and id(partner) in self.in_step:
            return self._in_front(self.in_step[id(partner)], usage.api, new)
        if usage.api == "torch.optim.AdamW" and cycles_momentum(self.context.modules.project):
            new = new.with_changes(func=expression(self.spelling.name("helpers.AdamW")))
        return new

    def _calls_itself(self, partner: ast.Call) -> bool:
        """`self(x)` in a method of a network that may be part of a step."""
        methods = [m for cls in self.context.module_classes.values() for m in cls.node.body]
        return (
            isinstance(partner.func, ast.Name)
            and partner.func.id == "self"
            and any(self.function is method for method in methods)
            and not is_decorated(self.function, self.context)
        )

    def _in_front(self, plan: StepPlan, api: str, new: cst.Call) -> cst.Name:
        """`model.parameters()` in a loss: Graph mode takes the list, not the call."""
        name = "weights" if api.endswith(".parameters") else "named_weights"
        lines = self.hoisted.setdefault(id(plan), [])
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

    def _is_autocast(self, call: ast.AST) -> bool:
        usage = self.context.usage(call.func) if isinstance(call, ast.Call) else None
        return usage is not None and usage.api in _AUTOCAST


def precision_of(autocast: cst.BaseExpression) -> str:
    """The arguments of autocast() that decide in what is computed, by keyword."""
    return ", ".join(
        f"{argument.keyword.value}={code(argument.value)}"
        for argument in getattr(autocast, "args", ())
        if argument.keyword is not None and argument.keyword.value in ("enabled", "dtype")
    )

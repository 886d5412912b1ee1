"""What the passes over training steps share: the plans, and what their statements have become."""

from __future__ import annotations

import ast

import libcst as cst

from migrate.plan.explain import explain_plans
from migrate.plan.plan import plan_steps
from migrate.plan.training_step import Plans, TrainingStep
from migrate.rewrite.node_pass import FileAccess, FileRewrite
from migrate.rewrite.steps.cpu_precision import AUTOCAST, flag_bfloat16, names_of
from migrate.syntax.ast_index import all_nodes, nodes_of
from migrate.syntax.text import code


class StepState(FileAccess):
    """The training steps of a file."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        tree = self.context.tree
        flag_bfloat16(self.context)
        self.plans: Plans = plan_steps(tree, self.context, set(self.spelling.taken))
        self.context.plan = explain_plans(self.plans, self.context)
        self.active = bool(self.plans.steps or self.plans.gradients) or self.plans.tape
        self.in_step = {
            node: plan
            for plan in self.all_plans
            for part in (*plan.region, plan.backward.loss)
            for node in all_nodes(part)
        }
        file.in_steps = self.in_step
        self.hoisted: dict[TrainingStep, list[str]] = {}  # assignments in front of its function
        # Original statement -> what it became.
        self.produced: dict[cst.CSTNode, list[cst.BaseStatement]] = {}
        # Stdlib statement -> what is put in front of it.
        self.before: dict[ast.AST | None, list[cst.BaseStatement]] = {}
        self.losses: dict[ast.AST, cst.BaseExpression] = {}  # backward call -> rewritten loss
        self.held_contexts = {
            ast.unparse(target)
            for node in nodes_of(tree, ast.Assign)
            if any(map(self.is_autocast, all_nodes(node.value)))
            for target in node.targets
        }  # `ctx = nullcontext() if on_cpu else autocast(...)`

    @property
    def all_plans(self) -> list[TrainingStep]:
        return self.plans.steps

    def is_autocast(self, call: ast.AST) -> bool:
        usage = self.context.usage(call.func) if isinstance(call, ast.Call) else None
        return usage is not None and usage.api in AUTOCAST

    def statement(self, node: cst.CSTNode) -> ast.AST | None:
        """The stdlib statement of a libcst statement."""
        if isinstance(node, cst.SimpleStatementLine):
            return self.partner(node.body[0]) if node.body else None
        return self.partner(node)


def precision_of(api: str, autocast: cst.Call) -> str:
    """The arguments of an autocast() as torch.autocast has them; the old names begin with
    `enabled`.
    """
    names = names_of(api)
    device = ""
    if "device_type" not in names:
        device = '"cpu"' if ".cpu." in api else '"cuda"'
    found = {"device_type": device} if device else {}
    for place, argument in enumerate(autocast.args):
        name = argument.keyword.value if argument.keyword is not None else names[place]
        found[name] = code(argument.value)
    found.pop("cache_enabled", None)
    first = found.pop("device_type", "")
    return ", ".join([*filter(None, [first]), *(f"{name}={text}" for name, text in found.items())])

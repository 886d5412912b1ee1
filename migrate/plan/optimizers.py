"""Which optimizers use the gradients of a backward pass: torch adds them to every parameter that
the loss reaches, and an optimizer sees them until its own zero_grad().

`lg.backward(); og.step(); ld.backward(); od.step()`: the second step also uses what the first
backward pass left at the discriminator, unless `od.zero_grad()` stands between.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate.flow.gradient_reads import gradient_reads
from migrate.plan.find import Backward, Calls, StepCall
from migrate.syntax.ast_index import all_nodes, nodes_of


def trained_models(tree: ast.Module) -> dict[str, set[str]]:
    """Optimizer -> the models whose parameters it was made with, where that is written out."""
    found: dict[str, set[str]] = {}
    unclear: set[str] = set()
    for node in nodes_of(tree, ast.Assign):
        assert isinstance(node, ast.Assign)
        for target in node.targets:
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts, strict=False))
            for name, value in pairs:
                models = _models_given(value)
                if models is None:
                    unclear.add(ast.unparse(name))
                else:
                    found.setdefault(ast.unparse(name), set()).update(models)
    return {name: models for name, models in found.items() if name not in unclear}


def _models_given(value: ast.expr) -> set[str] | None:
    """`{"enc", "dec"}` of `SGD([*enc.parameters(), *dec.parameters()], lr=0.1)`."""
    if not isinstance(value, ast.Call) or not (value.args or value.keywords):
        return None
    given = value.args[0] if value.args else value.keywords[0].value
    calls = [n for n in all_nodes(given) if isinstance(n, ast.Call)]
    listed = [
        n.func.value
        for n in calls
        if isinstance(n.func, ast.Attribute) and n.func.attr in ("parameters", "named_parameters")
    ]
    if not listed:
        return None
    return {ast.unparse(one) for one in listed}


def clips_all(
    listed: ast.expr, optimizer: str, models: dict[str, set[str]], running: Sequence[str]
) -> bool:
    """`net.parameters()` are all the parameters of the step that have a gradient: the optimizer
    was made with them alone, or the step runs no other network.
    """
    if not (
        isinstance(listed, ast.Call)
        and isinstance(listed.func, ast.Attribute)
        and listed.func.attr == "parameters"
        and not listed.args
    ):
        return False
    return is_whole(ast.unparse(listed.func.value), optimizer, models, running)


def is_whole(
    model: str, optimizer: str, models: dict[str, set[str]], running: Sequence[str]
) -> bool:
    """All the parameters of the step that have a gradient are this network's."""
    if models.get(optimizer) == {model}:
        return True
    return bool(running) and all(f"{one}.".startswith(f"{model}.") for one in running)


def optimizers_reached(backward: Backward, calls: Calls, models: dict[str, set[str]]) -> list[str]:
    """The optimizers that step with the gradients of this backward pass, the next one first."""
    names = calls.optimizers
    if len(names) < 2:
        return names
    may_follow = calls.flow.cfg.may_follow
    found = []
    for name in names:
        zeros = [zero.statement for zero in calls.zeros if _clears(zero, name, models, calls)]
        ends = [step.statement for step in calls.steps if step.name == name]
        if any(may_follow(backward.statement, end, without=zeros) for end in ends):
            found.append(name)
    return found


def _clears(zero: StepCall, name: str, models: dict[str, set[str]], calls: Calls) -> bool:
    """`optimizer.zero_grad()`, or that of the one model that it trains."""
    if zero.name == name or models.get(name) == {zero.name}:
        return True
    return name not in models and calls.zeroed_optimizer(zero) == name


def may_reach(name: str, parts: Sequence[ast.AST], models: dict[str, set[str]]) -> bool:
    """The loss may depend on what the optimizer trains; unknown counts as yes."""
    held = models.get(name)
    if held is None:
        return True
    read = {one for part in parts for one in gradient_reads(part)}
    texts = {
        ast.unparse(n) for part in parts for n in all_nodes(part) if isinstance(n, ast.Attribute)
    }
    return any(
        model.partition(".")[0] in read if model.isidentifier() else model in texts
        for model in held
    ) or not all(model.isidentifier() or "." in model for model in held)

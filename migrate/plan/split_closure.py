"""`optimizer.step(closure)`: the closure computes the loss once, and then the step is taken.

That is what torch's optimizers do with a closure, LBFGS apart, which computes it many times.
"""

from __future__ import annotations

import ast
import re

from migrate.pipeline import becomes, declare
from migrate.syntax.access import attribute_of
from migrate.syntax.ast_index import all_nodes, nodes_of

_STEP_WITH = re.compile(r"\.step\(\s*(closure\s*=\s*)?[A-Za-z_]\w*\s*\)")
_MANY_TIMES = "LBFGS"
# Anything else may call its closure as often as it likes, as sharpness-aware optimizers do.
_ONCE = re.compile(r"SGD|ASGD|Adam|AdamW|Adamax|NAdam|RAdam|Adagrad|Adadelta|RMSprop|Rprop")


@declare(
    phase="resolve",
    unit="source",
    examples=[
        becomes(
            """
            def train(model, data):
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                for x, y in data:
                    def closure():
                        optimizer.zero_grad()
                        loss = F.mse_loss(model(x), y)
                        loss.backward()
                        return loss
                    optimizer.step(closure)
            """,
            """
            def train(model, data):
                optimizer = helpers.SGD(model.trainable_params(), lr=0.1)
                for x, y in data:
                    def closure():
                        helpers.ParameterGradients(model.trainable_params()).clear()
                        model.set_train()
                        def forward_step():
                            loss = ops.mse_loss(model(x), y)
                            return loss
                        grad_step = helpers.value_and_grad(
                            forward_step, None, model.trainable_params()
                        )
                        gradients = helpers.ParameterGradients(model.trainable_params())
                        loss, grads = grad_step()
                        gradients.add(grads)
                        return loss
                    closure()
                    optimizer(helpers.ParameterGradients(optimizer.parameters).values)
            """,
        ),
    ],
)
def split_closure(text: str) -> str:
    """`loss = optimizer.step(closure)` as `loss = closure(); optimizer.step()`, on one line."""
    if _MANY_TIMES in text or _STEP_WITH.search(text) is None:
        return text
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return text
    lines = text.split("\n")
    made = _made(tree)
    if not any(_ONCE.fullmatch(name) for names in made.values() for name in names):
        return text
    closures = {node.name for node in nodes_of(tree, ast.FunctionDef) if _is_closure(node)}
    for node in nodes_of(tree, ast.Assign, ast.Expr):
        call = node.value
        name = _closure_of(call)
        if name in closures and isinstance(call, ast.Call) and call.lineno == call.end_lineno:
            assert isinstance(call.func, ast.Attribute)
            makers = made.get(ast.unparse(call.func.value), set())
            if not all(map(_ONCE.fullmatch, makers)):
                continue
            line = lines[call.lineno - 1].encode()
            start, end = call.col_offset, call.end_col_offset
            function = ast.unparse(call.func)
            lines[call.lineno - 1] = (
                line[:start] + f"{name}(); {function}()".encode() + line[end:]
            ).decode()
    return "\n".join(lines)


def _made(tree: ast.Module) -> dict[str, set[str]]:
    """By what each variable is made; under an empty name, what is made without one."""
    found: dict[str, set[str]] = {}
    for node in nodes_of(tree, ast.Call, ast.Assign):
        if isinstance(node, ast.Call):
            found.setdefault("", set()).add(ast.unparse(node.func).rpartition(".")[2])
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            for target in node.targets:
                maker = ast.unparse(node.value.func).rpartition(".")[2]
                found.setdefault(ast.unparse(target), set()).add(maker)
    return found


def _is_closure(function: ast.FunctionDef) -> bool:
    """Takes nothing and goes backward."""
    nothing = not (function.args.args or function.args.posonlyargs or function.args.kwonlyargs)
    return nothing and any(attribute_of(node) == "backward" for node in all_nodes(function))


def _closure_of(call: ast.expr | None) -> str:
    """The name of the function that a step is given."""
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return ""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if call.func.attr != "step" or len(given) != 1 or not isinstance(given[0], ast.Name):
        return ""
    return given[0].id

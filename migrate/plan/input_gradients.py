"""`torch.autograd.grad(outputs, inputs)`: gradients for tensors that the program computes with.

MindSpore differentiates functions: the statements that lead from the inputs to the outputs become
one, and the gradients are computed where they stood.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from migrate.pipeline.context import Context, is_module_value
from migrate.pipeline.refusal import Refusal
from migrate.plan.gradient_users import Home
from migrate.plan.interface import in_order
from migrate.plan.names import (
    binds,
    changes,
    reads,
    reads_before_binding,
    statements_below,
)
from migrate.plan.parameters import is_parameter
from migrate.plan.slice import gradient_reads, leaves
from migrate.resolve.values import (
    External,
    ProjectClass,
    ProjectFunction,
    ProjectModule,
    options_of,
)

GRAD = "torch.autograd.grad"
_CODE = (External, ProjectClass, ProjectFunction, ProjectModule)
_IGNORED = frozenset({"retain_graph", "only_inputs"})
_PARAMETERS = ("outputs", "inputs", "grad_outputs", "retain_graph", "create_graph", "only_inputs")


@dataclass(slots=True)
class InputGradients:
    """Gradients of one output for some inputs, and the function that is differentiated."""

    node: ast.Call  # the call of autograd.grad, or of backward()
    statement: ast.stmt  # in which it stands
    outputs: ast.expr
    inputs: list[str]
    region: list[ast.stmt]  # becomes the body of the function
    later: list[ast.stmt]  # stood between and looks at results: goes behind
    place: ast.stmt  # where the gradients are computed
    others: list[str]  # what else the function is given
    kept: list[str]  # values of the region that are used outside
    start: ast.expr | None = None  # the gradient of the outputs, where it is not one
    create_graph: ast.expr | None = None
    dropped: list[ast.stmt] = field(default_factory=list)  # `x.requires_grad_()` has no use here
    reads: dict[int, int] = field(default_factory=dict)  # `x.grad` -> which of the inputs
    function_name: str = "outputs_of"
    gradients_name: str = ""

    @property
    def is_backward(self) -> bool:
        """`loss.backward()` for the sake of `x.grad`."""
        return bool(self.reads)


def call_arguments(call: ast.Call) -> dict[str, ast.expr]:
    """The arguments of autograd.grad by name; those that change what it gives are refused."""
    if any(isinstance(one, ast.Starred) for one in call.args) or len(call.args) > len(_PARAMETERS):
        raise Refusal("the arguments of autograd.grad are not spelled out", "", "MS311")
    given = dict(zip(_PARAMETERS, call.args, strict=False))
    for keyword in call.keywords:
        if keyword.arg is None:
            raise Refusal("the arguments of autograd.grad are not spelled out", "", "MS311")
        given[keyword.arg] = keyword.value
    for name, value in given.items():
        off = isinstance(value, ast.Constant) and not value.value
        if name not in _PARAMETERS and not off:
            raise Refusal(
                f"autograd.grad(..., {name}=...) has no counterpart: MindSpore gives zeros for "
                "what an output does not depend on",
                "leave it out if every output depends on every input",
                "MS306",
            )
    if "outputs" not in given or "inputs" not in given:
        raise Refusal("autograd.grad needs outputs and inputs", "", "MS309")
    return given


def one_of(value: ast.expr) -> ast.expr:
    """The tensor in `[loss]` or `(loss,)`."""
    if isinstance(value, ast.List | ast.Tuple) and len(value.elts) == 1:
        return value.elts[0]
    return value


def input_names(value: ast.expr, context: Context) -> list[str]:
    """Variables that hold plain tensors; of parameters, value_and_grad takes the gradients."""
    parts = value.elts if isinstance(value, ast.List | ast.Tuple) else [value]
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    if len(names) < len(parts) or not names or len(set(names)) < len(names):
        raise not_in_reach()
    if any(is_parameter(context.type(part)) for part in parts):
        raise not_in_reach()
    return names


def not_in_reach() -> Refusal:
    return Refusal(
        "MindSpore differentiates functions, not tensors that were computed before",
        "put the computation of outputs into a function of inputs and call mindspore.grad on it",
        "MS301",
    )


def plan_gradients(
    node: ast.Call,
    statement: ast.stmt,
    block: list[ast.stmt],
    home: Home,
    outputs: ast.expr,
    inputs: list[str],
    start: ast.expr | None,
    context: Context,
) -> InputGradients:
    """The function of the inputs that a call of autograd.grad, or of backward(), asks for."""
    at = block.index(statement)
    switched = [s for s in block[:at] if switches(s, inputs)]
    if start is not None and is_ones(start, home.body):
        start = None
    bare = summed(outputs) if start is None else outputs
    region = _region(bare, inputs, block[:at], switched)
    if not region and not gradient_reads(bare) & set(inputs):
        raise not_in_reach()
    if any(leaves(one) for one in region):
        raise not_in_reach()
    if any(changes(one) & set(inputs) for one in region):
        raise Refusal(
            "an input is given another value on the way to the output",
            "use another name for what is computed from it",
            "MS408",
        )
    bound = {name for one in region for name in changes(one)}
    place, later = _place(region, statement, block, bound, [bare, start], switched)
    outside = [s for _, s in statements_below(home.body) if not _is_inside(s, region)]
    used = {name for s in outside for name in _own_reads(s, node)}
    first = {bare.id} if isinstance(bare, ast.Name) and start is None else set()
    whole: list[ast.stmt] = [*region, ast.Expr(bare)]
    if start is not None:
        whole.append(ast.Expr(start))
    return InputGradients(
        node,
        statement,
        bare,
        inputs,
        region,
        later,
        place,
        _others(whole, inputs, home, context),
        kept=[name for name in in_order(bound, region) if name in used - first],
        start=start,
        dropped=switched,
    )


def switches(statement: ast.stmt, inputs: list[str]) -> bool:
    """`x.requires_grad_()`, `x.requires_grad = True`, `x.retain_grad()`: nothing here."""
    if isinstance(statement, ast.Assign):
        targets = [ast.unparse(target) for target in statement.targets]
        return all(any(t == f"{name}.requires_grad" for name in inputs) for t in targets)
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call):
        return False
    wanted = [f"{n}.{m}" for n in inputs for m in ("requires_grad_", "retain_grad")]
    return ast.unparse(call.func) in wanted


def _region(
    outputs: ast.expr, inputs: list[str], before: list[ast.stmt], switched: list[ast.stmt]
) -> list[ast.stmt]:
    """The statements through which the outputs depend on the inputs."""
    needed = reads(outputs) - set(inputs)
    start = max((i for i, s in enumerate(before) if binds(s) & set(inputs)), default=-1) + 1
    if len(inputs) > 1:  # the first one may be used before the last one is there
        firsts = [
            max((i for i, s in enumerate(before) if name in binds(s)), default=-1)
            for name in inputs
        ]
        start = min(firsts) + 1
    chain = []
    for statement in reversed(before[start:]):
        skipped = any(statement is one for one in switched)
        if not skipped and changes(statement) & needed:
            chain.append(statement)
            needed |= reads(statement) - set(inputs)
    carried, found = set(inputs), []
    for statement in reversed(chain):
        if gradient_reads(statement) & carried:
            found.append(statement)
            carried |= changes(statement)
    return found


def _place(
    region: list[ast.stmt],
    statement: ast.stmt,
    block: list[ast.stmt],
    bound: set[str],
    wanted: list[ast.expr | None],
    switched: list[ast.stmt],
) -> tuple[ast.stmt, list[ast.stmt]]:
    """Where the gradients can be computed, and what must then go behind."""
    if not region:
        return statement, []
    first, end = block.index(region[0]), block.index(statement)
    between = [s for s in block[first:end] if not any(s is one for one in (*region, *switched))]
    looking = [s for s in between if reads(s) & bound]
    read = {name for one in region for name in reads(one)}
    read |= {name for one in wanted if one is not None for name in reads(one)}
    place = statement
    if looking:
        place = region[-1]
        last = block.index(place)
        behind = [s for s in between if block.index(s) > last]
        if any(changes(s) & read for s in behind):
            raise not_in_reach()  # the outputs need what is computed from the region's values
    later = [s for s in looking if block.index(s) < block.index(place)]
    if any(changes(s) & read for s in between if s not in later and _follows(s, region, block)):
        raise not_in_reach()  # an earlier statement of the region read another value
    if any(changes(s) & read for s in later):
        raise not_in_reach()
    return place, later


def _follows(statement: ast.stmt, region: list[ast.stmt], block: list[ast.stmt]) -> bool:
    """Whether it changes what a statement of the region in front of it has read."""
    at = block.index(statement)
    return any(changes(statement) & reads(one) for one in region if block.index(one) < at)


def _is_inside(statement: ast.stmt, region: list[ast.stmt]) -> bool:
    return any(statement is inner for one in region for inner in ast.walk(one))


def _own_reads(statement: ast.stmt, call: ast.Call) -> set[str]:
    """Names that a statement looks at, its blocks and the call itself left out."""
    found: set[str] = set()
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        for child in ast.iter_child_nodes(node):
            if child is call:
                continue
            if isinstance(child, ast.stmt) and not isinstance(
                statement, ast.FunctionDef | ast.ClassDef
            ):
                continue
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load):
                found.add(child.id)
            pending.append(child)
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        found.add(statement.target.id)
    return found


def _others(parts: list[ast.stmt], inputs: list[str], home: Home, context: Context) -> list[str]:
    """Values from around that the function computes with: compiled, they must be handed in."""
    nodes = [node for part in parts for node in ast.walk(part)]
    called = {n.func.id for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    code = {
        node.id
        for node in nodes
        if isinstance(node, ast.Name)
        and (
            is_module_value(context.type(node))
            or any(isinstance(kind, _CODE) for kind in options_of(context.type(node)))
        )
    }
    local = {name for statement in home.body for name in binds(statement)}
    local |= {
        node.arg for node in ast.walk(getattr(home, "args", home)) if isinstance(node, ast.arg)
    }
    rest = called | code | set(inputs) | {"self", "cls"}
    return [n for n in reads_before_binding(parts) if n in local and n not in rest]


_ONES = frozenset({"ones", "ones_like", "new_ones"})
_SAME_VALUES = frozenset(
    {"to", "cuda", "cpu", "type", "float", "double", "half", "type_as", "detach", "clone"}
    | {"requires_grad_", "expand", "expand_as", "view", "reshape", "contiguous"}
)


def is_ones(value: ast.expr, body: list[ast.stmt]) -> bool:
    """`torch.ones_like(d)`, `Variable(torch.ones(n, 1), requires_grad=False)`, a variable that
    was given one of them and nothing else.
    """
    if isinstance(value, ast.Constant):
        return value.value is None
    if isinstance(value, ast.List | ast.Tuple):
        return all(is_ones(part, body) for part in value.elts)
    if isinstance(value, ast.IfExp):
        return is_ones(value.body, body) and is_ones(value.orelse, body)
    if isinstance(value, ast.Name):
        return _is_bound_to_ones(value.id, body)
    if not isinstance(value, ast.Call):
        return False
    function = value.func
    name = function.attr if isinstance(function, ast.Attribute) else ast.unparse(function)
    if name in _ONES:
        return True
    if name == "Variable" and value.args:
        return is_ones(value.args[0], body)
    if name == "fill_" and len(value.args) == 1:
        return isinstance(value.args[0], ast.Constant) and value.args[0].value == 1
    if (name == "full" and len(value.args) > 1) or (name == "full_like" and len(value.args) > 1):
        return isinstance(value.args[1], ast.Constant) and value.args[1].value == 1
    return (
        name in _SAME_VALUES
        and isinstance(function, ast.Attribute)
        and is_ones(function.value, body)
    )


def _is_bound_to_ones(name: str, body: list[ast.stmt]) -> bool:
    giving = [s for _, s in statements_below(body) if not _blocks(s) and name in _touched(s)]
    return bool(giving) and all(
        isinstance(s, ast.Assign)
        and all(isinstance(target, ast.Name) for target in s.targets)
        and (is_ones(s.value, [other for other in giving if other is not s]))
        for s in giving
    )


def _blocks(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If | ast.With | ast.Try)


def _touched(statement: ast.stmt) -> set[str]:
    """Names that it binds, or whose value it may change."""
    found = binds(statement)
    for node in ast.walk(statement):
        root = node.value if isinstance(node, ast.Subscript | ast.Attribute) else None
        changed = isinstance(getattr(node, "ctx", None), ast.Store)
        in_place = isinstance(node, ast.Attribute) and node.attr.endswith("_")
        if isinstance(root, ast.Name) and (changed or in_place):
            found.add(root.id)
    return found


def summed(outputs: ast.expr) -> ast.expr:
    """`pred` of `pred.sum()`: its gradients are the same."""
    if not isinstance(outputs, ast.Call) or outputs.keywords:
        return outputs
    function = outputs.func
    if isinstance(function, ast.Attribute) and function.attr == "sum":
        if not outputs.args and isinstance(function.value, ast.Name):
            return function.value
        torch_sum = ast.unparse(function) == "torch.sum" and len(outputs.args) == 1
        if torch_sum and isinstance(outputs.args[0], ast.Name):
            return outputs.args[0]
    return outputs

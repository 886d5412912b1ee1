"""`torch.autograd.grad(outputs, inputs)`: gradients for tensors that the program computes with.

MindSpore differentiates functions: the statements that lead from the inputs to the outputs become
one, and the gradients are computed where they stood.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from migrate.flow import Flow, FunctionFlow
from migrate.flow.blocks import Home
from migrate.flow.events import Definition, reads_in
from migrate.flow.gradient_reads import gradient_reads
from migrate.flow.names import binds, reads
from migrate.flow.parameter_use import is_parameter
from migrate.flow.region import points_in, region_inputs
from migrate.pipeline.context import Context
from migrate.pipeline.refusal import Refusal
from migrate.plan.input_place import not_in_reach, place_of_gradients
from migrate.plan.interface import is_code, names_called
from migrate.plan.slice import leaves
from migrate.resolve.values import ListOf, Value, options_of
from migrate.syntax.ast_index import all_nodes

GRAD = "torch.autograd.grad"
_IGNORED = frozenset({"retain_graph", "only_inputs"})
_PARAMETERS = ("outputs", "inputs", "grad_outputs", "retain_graph", "create_graph", "only_inputs")


@dataclass(slots=True, eq=False)
class InputGradients:
    """Gradients of one output for some inputs, and the function that is differentiated."""

    node: ast.Call  # the call of autograd.grad, or of backward()
    statement: ast.stmt  # in which it stands
    outputs: ast.expr
    inputs: list[str]
    region: list[ast.stmt]  # becomes the body of the function
    deferred: list[ast.stmt]  # stood between and looks at results: goes behind
    place: ast.stmt  # where the gradients are computed
    others: list[str]  # what else the function is given
    kept: list[str]  # values of the region that are used outside
    start: ast.expr | None = None  # the gradient of the outputs, where it is not one
    create_graph: ast.expr | None = None
    dropped: list[ast.stmt] = field(default_factory=list)  # `x.requires_grad_()` has no use here
    reads: dict[ast.AST | None, int] = field(
        default_factory=dict
    )  # `x.grad` -> which of the inputs
    is_list: bool = False  # the one input is a list of tensors
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
    if isinstance(value, (ast.List, ast.Tuple)) and len(value.elts) == 1:
        return value.elts[0]
    return value


def input_names(value: ast.expr, context: Context) -> list[str]:
    """Variables that hold plain tensors; of parameters, value_and_grad takes the gradients."""
    parts = value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    if len(names) < len(parts) or not names or len(set(names)) < len(names):
        raise not_in_reach()
    if any(is_parameter(context.type(part)) for part in parts):
        raise not_in_reach()
    if len(parts) > 1 and any(holds_list(context.type(part)) for part in parts):
        raise not_in_reach()
    return names


def holds_list(value: Value) -> bool:
    """`w = list(net.parameters())`: as many inputs as it has tensors."""
    return any(isinstance(option, ListOf) for option in options_of(value))


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
    flow = context.flow.function(home)
    at = block.index(statement)
    switched = [s for s in block[:at] if switches(s, inputs)]
    if start is not None and is_unit_gradient(start, flow):
        start = None
    bare = summed(outputs, context.flow) if start is None else outputs
    region = _region(bare, inputs, block[:at], switched, flow)
    if not region and not gradient_reads(bare) & set(inputs):
        raise not_in_reach()
    if any(leaves(one) for one in region) or _are_linked(inputs, block[:at], flow):
        raise not_in_reach()
    if any(flow.names.changes(one) & set(inputs) for one in region):
        raise Refusal(
            "an input is given another value on the way to the output",
            "use another name for what is computed from it",
            "MS408",
        )
    ends = [bare] if start is None else [bare, start]
    place, deferred = place_of_gradients(region, statement, block, ends, switched, flow)
    first = {bare.id} if isinstance(bare, ast.Name) and start is None else set()
    return InputGradients(
        node,
        statement,
        bare,
        inputs,
        region,
        deferred,
        place,
        _others(region, ends, inputs, flow, context),
        kept=[name for name in _read_outside(region, node, flow) if name not in first],
        start=start,
        dropped=switched,
    )


def _are_linked(inputs: list[str], before: list[ast.stmt], flow: FunctionFlow) -> bool:
    """`h = x * 2` on the way: a function of both would not know that h depends on x."""
    for name in inputs:
        carried = {name}
        bound = max((i for i, s in enumerate(before) if name in binds(s)), default=-1)
        for statement in before[bound + 1 :]:
            if reads(statement) & carried:
                carried |= flow.names.changes(statement)
        if carried & set(inputs) - {name}:
            return True
    return False


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
    outputs: ast.expr,
    inputs: list[str],
    before: list[ast.stmt],
    switched: list[ast.stmt],
    flow: FunctionFlow,
) -> list[ast.stmt]:
    """The statements through which the outputs depend on the inputs."""
    needed = reads(outputs) - set(inputs)
    # With several inputs the first one may be used before the last one is there.
    firsts = [
        max((i for i, s in enumerate(before) if name in binds(s)), default=-1) for name in inputs
    ]
    chain = []
    for statement in reversed(before[min(firsts) + 1 :]):
        if statement not in switched and flow.names.changes(statement) & needed:
            chain.append(statement)
            needed |= reads(statement) - set(inputs)
    carried, found = set(inputs), []
    for statement in reversed(chain):
        if gradient_reads(statement) & carried:
            found.append(statement)
            carried |= flow.names.changes(statement)
    return found


def _read_outside(region: list[ast.stmt], call: ast.Call, flow: FunctionFlow) -> list[str]:
    """Names bound in the region whose values are read elsewhere, the call itself left out."""
    inside = points_in(flow, region)
    own = {n for i in inside for n in flow.cfg.points[i].reads} | set(all_nodes(call))
    found: dict[str, None] = {}
    for index in inside:
        for definition in flow.cfg.points[index].definitions:
            lasting = definition.name in flow.defuse.captured
            if lasting or any(read not in own for read in flow.defuse.uses(definition)):
                found.setdefault(definition.name)
    return list(found)


def _others(
    region: list[ast.stmt],
    ends: list[ast.expr],
    inputs: list[str],
    flow: FunctionFlow,
    context: Context,
) -> list[str]:
    """Values from around that the function computes with: compiled, they must be handed in."""
    parts: list[ast.AST] = [*region, *ends]
    nodes = [node for part in parts for node in all_nodes(part)]
    code = {n.id for n in nodes if isinstance(n, ast.Name) and is_code(n, context)}
    rest = names_called(parts) | code | set(inputs) | {"self", "cls"}
    bound = {name for one in region for name in binds(one)}
    free = dict.fromkeys(region_inputs(flow, region))
    free |= dict.fromkeys(n for end in ends for n in _in_order(end) if n not in bound)
    return [n for n in free if n not in rest and _is_local(n, flow)]


def _in_order(node: ast.AST) -> list[str]:
    return list(dict.fromkeys(name.id for name in reads_in(node)))


def _is_local(name: str, flow: FunctionFlow) -> bool:
    """A variable of the function: no import, and nothing from outside."""
    return any(d.kind != "import" for d in flow.defuse.definitions(name))


_ONES = frozenset({"ones", "ones_like", "new_ones"})
_SAME_VALUES = frozenset(
    {"to", "cuda", "cpu", "type", "float", "double", "half", "type_as", "detach", "clone"}
    | {"requires_grad_", "expand", "expand_as", "view", "reshape", "contiguous"}
)


def is_unit_gradient(value: ast.expr, flow: FunctionFlow) -> bool:
    """`torch.ones_like(d)`, `Variable(torch.ones(n, 1), requires_grad=False)`, a variable that
    holds one of them and nothing else.
    """
    return _is_unit_gradient(value, flow, set())


def _is_unit_gradient(value: ast.expr, flow: FunctionFlow, seen: set[Definition]) -> bool:
    if isinstance(value, ast.Constant):
        return value.value is None
    if isinstance(value, (ast.List, ast.Tuple)):
        return all(_is_unit_gradient(part, flow, seen) for part in value.elts)
    if isinstance(value, ast.IfExp):
        return _is_unit_gradient(value.body, flow, seen) and _is_unit_gradient(
            value.orelse, flow, seen
        )
    if isinstance(value, ast.Name):
        return _holds_unit_gradient(value, flow, seen)
    if not isinstance(value, ast.Call):
        return False
    function = value.func
    api = flow.symbols.api(function)
    if not api.startswith("torch."):
        return False  # `ones` of the program's own
    name = api.rpartition(".")[2]
    if name in _ONES:
        return True
    if name == "Variable" and value.args:
        return _is_unit_gradient(value.args[0], flow, seen)
    if name in ("fill_", "full", "full_like"):
        filler = value.args[-1 if name == "fill_" else 1 :]
        return bool(filler) and isinstance(filler[0], ast.Constant) and filler[0].value == 1
    return (
        name in _SAME_VALUES
        and isinstance(function, ast.Attribute)
        and _is_unit_gradient(function.value, flow, seen)
    )


def _holds_unit_gradient(name: ast.Name, flow: FunctionFlow, seen: set[Definition]) -> bool:
    """Every definition that the read may see gives it ones, and nothing writes to it."""
    definitions = [d for d in flow.defuse.reaching(name) if d not in seen]
    seen |= set(definitions)
    body: list[ast.stmt] = getattr(flow.node, "body", [])
    if any(name.id in flow.names.mutates(statement) for statement in body):
        return False
    return bool(flow.defuse.reaching(name)) and all(
        d.value is not None and _is_unit_gradient(d.value, flow, seen) for d in definitions
    )


def summed(outputs: ast.expr, flow: Flow) -> ast.expr:
    """`pred` of `pred.sum()`: its gradients are the same."""
    if not isinstance(outputs, ast.Call) or outputs.keywords:
        return outputs
    function = outputs.func
    api = flow.symbols.api(function)
    subject: ast.expr = outputs
    if api == "torch.Tensor.sum" and isinstance(function, ast.Attribute) and not outputs.args:
        subject = function.value
    elif api == "torch.sum" and len(outputs.args) == 1:
        subject = outputs.args[0]
    return subject if isinstance(subject, ast.Name) else outputs

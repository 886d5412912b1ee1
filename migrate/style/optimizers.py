"""Optimizers for mindspore.train.Model: mindspore.nn's where a run showed that they compute what
torch's do, else those of the default style in a step Cell of their own.

| torch | mindspore.nn | measured over 21 steps, both modes |
|---|---|---|
| SGD with momentum | Momentum | weights within 4e-7 |
| SGD with dampening or nesterov, or without momentum | SGD | weights within 5e-7 |
| weight decay of all parameters | one group with it, and `order_params` | weights within 3e-7 |

Without a group, mindspore.nn leaves parameters called gamma and beta out of the decay.
mindspore.nn.Adam adds eps before the bias correction and AdamWeightDecay has none: not used.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from migrate.pipeline.context import Context
from migrate.plan.bound_arguments import bound_arguments, literal_of
from migrate.resolve.plain_values import FLOAT
from migrate.style.batch_loop import Place
from migrate.style.frames import Frame
from migrate.syntax.access import attribute_of
from migrate.syntax.ast_index import nodes_of

SGD = "torch.optim.SGD"
_IGNORED = ("foreach", "fused")
_GROUP_KEYS = ("params", "lr", "weight_decay")


@dataclass(slots=True)
class Creation:
    """Where an optimizer, a schedule or a scaler is made: `name = call`."""

    statement: ast.Assign
    call: ast.Call
    api: str
    frame: Frame
    target: str
    local: bool  # in the scope that holds the loop


@dataclass(slots=True)
class NativeOptimizer:
    """A call of mindspore.nn, its learning rate left out."""

    name: str
    params: str
    rate: str  # the learning rate, as source
    options: dict[str, str] = field(default_factory=dict)
    group_rates: bool = False  # some group has a learning rate of its own

    @property
    def leaves_zeros_alone(self) -> bool:
        """A gradient of zeros moves nothing: neither momentum nor weight decay."""
        return "momentum" not in self.options and "weight_decay" not in self.params


def creation_of(place: Place | None, root: Frame, context: Context) -> Creation | None:
    """The one assignment that makes what an expression stands for."""
    if place is None:
        return None
    node, frame = place[1].origin(place[0])
    text = ast.unparse(node)
    scopes = [frame.scope, context.tree]
    for scope in dict.fromkeys(scopes):
        found = [
            one
            for one in _assignments(scope, context)
            if any(ast.unparse(target) == text for target in one.targets)
        ]
        if isinstance(node, ast.Attribute):
            found = _attribute_assignments(node, context)
        if len(found) != 1:
            if found:
                return None
            continue
        call = found[0].value
        if not isinstance(call, ast.Call) or len(found[0].targets) != 1:
            return None
        api = context.flow.symbols.api(call.func)
        local = scope is root.scope and not isinstance(node, ast.Attribute)
        return Creation(found[0], call, api, Frame(scope, context), text, local)
    return None


def _assignments(scope: ast.AST, context: Context) -> list[ast.Assign]:
    """The assignments of a scope itself."""
    found: list[ast.Assign] = []
    pending: list[ast.AST] = list(getattr(scope, "body", ()))
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Assign):
            found.append(node)
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            pending += [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.stmt)]
    return found


def _attribute_assignments(node: ast.Attribute, context: Context) -> list[ast.Assign]:
    """`self.optimizer = ...` anywhere in the file."""
    return [
        one
        for one in nodes_of(context.tree, ast.Assign)
        if any(attribute_of(t) == node.attr for t in one.targets)
    ]


def native_optimizer(creation: Creation, network: str, context: Context) -> NativeOptimizer | str:
    """The optimizer of mindspore.nn, or why there is none that computes the same."""
    if creation.api != SGD:
        name = creation.api.rpartition(".")[2] or creation.target
        return f"mindspore.nn has no {name} with torch's arithmetic"
    arguments = bound_arguments(creation.call, SGD, context.table)
    if arguments is None or "params" not in arguments:
        return "how the optimizer is called is only known at run time"
    refusal = _refusal(arguments)
    if refusal:
        return refusal
    options = _options(arguments, context)
    name = "Momentum" if list(options) == ["momentum"] else "SGD"
    decay = arguments.get("weight_decay")
    if decay is not None and literal_of(decay) == 0:
        decay = None
    rate = as_float(arguments.get("lr", ast.Constant(0.001)), context)
    made = NativeOptimizer(name, "", rate, options)
    return _with_params(made, arguments["params"], decay, network, context)


_SWITCHES = ("dampening", "nesterov")


def _refusal(arguments: dict[str, ast.expr]) -> str:
    """What of torch's SGD mindspore.nn's do not have, or only take as a constant."""
    dampening, nesterov = (literal_of(arguments.get(n, ast.Constant(0))) for n in _SWITCHES)
    if dampening not in (0, 0.0) and not isinstance(dampening, float):
        return "the dampening is only known at run time"
    if nesterov not in (0, False, True):
        return "whether momentum is Nesterov's is only known at run time"
    if literal_of(arguments.get("maximize", ast.Constant(False))) is not False:
        return "mindspore.nn's optimizers do not maximize"
    unknown = set(arguments) - {"params", "lr", "momentum", "weight_decay", "maximize", *_SWITCHES}
    return f"{sorted(unknown)[0]} is given" if unknown - set(_IGNORED) else ""


def _options(arguments: dict[str, ast.expr], context: Context) -> dict[str, str]:
    """The arguments of the optimizer, but for parameters, learning rate and decay."""
    options: dict[str, str] = {}
    momentum = arguments.get("momentum", ast.Constant(0))
    if literal_of(momentum) != 0:
        options["momentum"] = as_float(momentum, context)
    dampening, nesterov = (literal_of(arguments.get(n, ast.Constant(0))) for n in _SWITCHES)
    if dampening:
        options["dampening"] = repr(dampening)
    if nesterov:
        options["nesterov"] = "True"
    return options


def _with_params(
    made: NativeOptimizer,
    params: ast.expr,
    decay: ast.expr | None,
    network: str,
    context: Context,
) -> NativeOptimizer | str:
    everything = f"{network}.parameters()"
    if ast.unparse(_without_list(params)) == everything:
        everything = f"{network}.trainable_params()"
        made.params = everything
        if decay is not None:
            weight = as_float(decay, context)
            made.params = (
                f"[{{'params': {everything}, 'weight_decay': {weight}}}, "
                f"{{'order_params': {everything}}}]"
            )
        return made
    if not isinstance(params, (ast.List, ast.Tuple)):
        return f"which parameters `{ast.unparse(params)}` holds is not known"
    groups: list[str] = []
    for group in params.elts:
        settings = _settings(group)
        if settings is None:
            return "a parameter group has settings that mindspore.nn's groups do not"
        made.group_rates |= "lr" in settings
        parts = [f"{key!r}: {_setting(key, v, context)}" for key, v in settings.items()]
        groups.append(f"{{{', '.join(parts)}}}")
    made.params = f"[{', '.join(groups)}]"
    if decay is not None:
        made.options["weight_decay"] = as_float(decay, context)
    return made


def _settings(group: ast.expr) -> dict[str, ast.expr] | None:
    """The items of a parameter group, if mindspore.nn has them all."""
    if not isinstance(group, ast.Dict):
        return None
    keys = [literal_of(key) if key is not None else None for key in group.keys]
    if not all(isinstance(key, str) and key in _GROUP_KEYS for key in keys):
        return None
    return {str(key): value for key, value in zip(keys, group.values, strict=True)}


def _setting(key: str, value: ast.expr, context: Context) -> str:
    if key != "params":
        return as_float(value, context)
    text = ast.unparse(value)
    if text.endswith(".parameters()"):
        return f"{text.removesuffix('.parameters()')}.trainable_params()"
    return text if isinstance(value, ast.List) else f"list({text})"


def _without_list(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "list" and len(node.args) == 1:
        return node.args[0]
    return node


def as_float(node: ast.expr, context: Context) -> str:
    """Source that is a float for sure: MindSpore refuses whole numbers."""
    value = literal_of(node)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        text = ast.unparse(node)
        known = context.type(node) is FLOAT or _is_float_option(node, context)
        return text if known else f"float({text})"
    return ast.unparse(node) if isinstance(value, float) else repr(float(value))


def _is_float_option(node: ast.expr, context: Context) -> bool:
    """`args.lr` of `parser.add_argument("--lr", type=float, default=0.1)`."""
    if not isinstance(node, ast.Attribute):
        return False
    flag = f"--{node.attr.replace('_', '-')}", f"--{node.attr}"
    for call in nodes_of(context.tree, ast.Call):
        if getattr(call.func, "attr", "") == "add_argument" and any(
            isinstance(one, ast.Constant) and one.value in flag for one in call.args
        ):
            return _is_float_argument(call)
    return False


def _is_float_argument(call: ast.Call) -> bool:
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    default = literal_of(given.get("default", ast.Constant(None)))
    kind = given.get("type")
    return kind is not None and ast.unparse(kind) == "float" and isinstance(default, float | str)

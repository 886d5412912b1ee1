"""torch.autograd.Function: can its forward and backward be a construct and a bprop?

MindSpore gives bprop the inputs, the output and the output's gradient, and no context. What forward
keeps in `ctx` is therefore computed again in bprop: from inputs that forward leaves alone, from the
output, or by running forward once more, which needs a forward that draws no random numbers.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from dataclasses import dataclass, field

from migrate.pipeline.context import Context
from migrate.syntax.access import is_read, name_of
from migrate.syntax.ast_index import all_nodes

FUNCTION = "torch.autograd.Function"
_RANDOM = re.compile(r"rand|bernoulli|normal|uniform|dropout|multinomial|exponential|poisson")
WITHOUT_EFFECT = ("mark_non_differentiable", "set_materialize_grads")
_READ_BACK = ("saved_tensors", "saved_variables")


class NotPlain(Exception):
    """The class does more than a construct and a bprop can; the text says what."""


@dataclass(slots=True)
class CustomGradient:
    """How one class is written as a Cell."""

    inputs: list[str]
    gradients: list[str]  # one for each output
    contexts: tuple[str, str]  # what forward and backward call it
    kept: list[str] = field(default_factory=list)  # attributes of ctx that backward reads
    again: bool = False  # forward has to run once more for them
    output: str = ""  # a variable of forward that is its output
    taken: set[str] = field(default_factory=set)  # names in use


def _both_methods(cls: ast.ClassDef) -> tuple[ast.FunctionDef, ast.FunctionDef]:
    """forward and backward of a class that has nothing else of torch's."""
    if len(cls.bases) != 1 or cls.keywords or cls.decorator_list:
        raise NotPlain("it has other bases or decorators")
    methods = {item.name: item for item in cls.body if isinstance(item, ast.FunctionDef)}
    forward, backward = methods.get("forward"), methods.get("backward")
    if forward is None or backward is None:
        raise NotPlain("it has no forward or no backward")
    if "setup_context" in methods:
        raise NotPlain("setup_context fills the context")
    return forward, backward


def custom_gradient(cls: ast.ClassDef, context: Context) -> CustomGradient:
    """The plan for a class derived from Function; raises NotPlain."""
    forward, backward = _both_methods(cls)
    for method in (forward, backward):
        _check_signature(method, context)
    plan = CustomGradient(
        inputs=[argument.arg for argument in forward.args.args[1:]],
        gradients=[argument.arg for argument in backward.args.args[1:]],
        contexts=(forward.args.args[0].arg, backward.args.args[0].arg),
    )
    plan.taken = {
        node.id for m in (forward, backward) for node in all_nodes(m) if isinstance(node, ast.Name)
    }
    values = _kept_values(forward, plan)
    plan.kept = _read_in_backward(backward, plan, values)
    _check_returns(forward, backward, plan)
    names = {
        node.id
        for kept in plan.kept
        for value in values[kept]
        for node in all_nodes(value)
        if isinstance(node, ast.Name)
    }
    plan.again = bool(names & _unsteady(forward, plan))
    if plan.again and (drawn := _random_call(forward, context)):
        raise NotPlain(f"forward keeps what {drawn} drew, and bprop cannot draw it again")
    return plan


def _check_signature(method: ast.FunctionDef, context: Context) -> None:
    for decorator in method.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        usage = context.usage(called)
        plain = name_of(decorator) == "staticmethod"
        if not plain and (usage is None or not re.search(r"once_diff|custom_[fb]wd", usage.api)):
            raise NotPlain(f"{method.name} has a decorator")
    static = any(getattr(d, "id", "") == "staticmethod" for d in method.decorator_list)
    arguments = method.args
    if not static or not arguments.args:
        raise NotPlain(f"{method.name} is not static")
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
        raise NotPlain(f"{method.name} takes any number of arguments")
    for node in all_nodes(method):
        if isinstance(node, (ast.FunctionDef, ast.Yield, ast.Await)) and node is not method:
            raise NotPlain(f"{method.name} holds another function")


def _kept_values(forward: ast.FunctionDef, plan: CustomGradient) -> dict[str, list[ast.expr]]:
    """What forward puts into its context, each thing once and in any case."""
    values: dict[str, list[ast.expr]] = {}
    understood: set[ast.AST] = set()
    name = plan.contexts[0]
    for statement in forward.body:
        match statement:
            case ast.Expr(ast.Call(ast.Attribute(ast.Name(id=owner) as place, attr), args, [])):
                if owner != name:
                    continue
                if attr == "save_for_backward" and not any(
                    isinstance(argument, ast.Starred) for argument in args
                ):
                    kept = "saved_tensors"
                elif attr in WITHOUT_EFFECT:
                    kept = ""
                else:
                    raise NotPlain(f"forward calls {name}.{attr}")
                new = list(args)
            case ast.Assign([ast.Attribute(ast.Name(id=owner) as place, attr)], value):
                if owner != name:
                    continue
                kept, new = attr, [value]
            case _:
                continue
        if kept in values:
            raise NotPlain(f"forward sets {name}.{kept} twice")
        if kept:
            values[kept] = new
        understood.add(place)
    for node in all_nodes(forward):
        if (
            isinstance(node, ast.Attribute)
            and getattr(node.value, "id", "") == name
            and is_read(node)
            and node.attr in values
        ):
            understood.add(node.value)
    _check_all_understood(forward, name, understood)
    return values


def _check_all_understood(method: ast.FunctionDef, name: str, understood: set[ast.AST]) -> None:
    for node in all_nodes(method):
        if name_of(node) == name and node not in understood:
            raise NotPlain(f"{method.name} uses {name} in another way (line {node.lineno})")


def _read_in_backward(
    backward: ast.FunctionDef, plan: CustomGradient, values: dict[str, list[ast.expr]]
) -> list[str]:
    name, understood, read = plan.contexts[1], set[ast.AST](), set[str]()
    for node in all_nodes(backward):
        if not isinstance(node, ast.Attribute) or getattr(node.value, "id", "") != name:
            continue
        attribute = "saved_tensors" if node.attr in _READ_BACK else node.attr
        if attribute == "needs_input_grad":
            understood.add(node.value)
        elif is_read(node) and attribute in values:
            understood.add(node.value)
            read.add(attribute)
    _check_all_understood(backward, name, understood)
    return [attribute for attribute in values if attribute in read]


def _check_returns(
    forward: ast.FunctionDef, backward: ast.FunctionDef, plan: CustomGradient
) -> None:
    outputs = [node.value for node in all_nodes(forward) if isinstance(node, ast.Return)]
    if len(outputs) != 1 or not isinstance(forward.body[-1], ast.Return):
        raise NotPlain("forward returns in several places")
    wanted = len(outputs[0].elts) if isinstance(outputs[0], ast.Tuple) else 1
    if wanted != len(plan.gradients):
        raise NotPlain("backward takes another number of gradients than forward gives outputs")
    if isinstance(outputs[0], ast.Name):
        plan.output = outputs[0].id
    for node in all_nodes(backward):
        if not isinstance(node, ast.Return):
            continue
        given = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        spare = given[len(plan.inputs) :]
        alone = len(given) == 1 and len(plan.inputs) == 1
        if not alone and (
            len(given) < len(plan.inputs)
            or any(not isinstance(part, ast.Constant) for part in spare)
            or any(isinstance(part, ast.Starred) for part in given)
        ):
            raise NotPlain("backward does not spell out one gradient for each input")


def _unsteady(forward: ast.FunctionDef, plan: CustomGradient) -> set[str]:
    """Names that bprop does not know, or not with the value that forward kept."""
    stored = Counter(
        node.id for node in all_nodes(forward) if isinstance(node, ast.Name) and not is_read(node)
    )
    changed = {
        node.func.value.id
        for node in all_nodes(forward)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and re.fullmatch(r"[a-z]\w*_", node.func.attr)
    }
    steady = stored[plan.output] == 1 and plan.output not in {*changed, *plan.inputs}
    return {*stored, *changed} - ({plan.output} if steady else set())


def _random_call(forward: ast.FunctionDef, context: Context) -> str:
    for node in all_nodes(forward):
        usage = context.usage(node)
        if usage is not None and _RANDOM.search(usage.api.rpartition(".")[2]):
            return usage.api
        if isinstance(node, ast.Attribute) and _RANDOM.search(node.attr):
            return node.attr
    return ""

"""`penalty = r1_loss(pred, images)`, where the function asks for gradients of what its caller
computed: written out at its calls, because MindSpore differentiates what stands in one block.
"""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Iterator
from dataclasses import dataclass, field

from migrate.findings import Finding
from migrate.flow.mentions import trees_with
from migrate.pipeline import becomes, declare, same
from migrate.pipeline.context import Context
from migrate.syntax.access import is_read, is_store, read_of
from migrate.syntax.ast_index import all_nodes, child_nodes, nodes_of, parents_of
from migrate.syntax.edits import Edit, SourceText

_GRAD = "torch.autograd.grad"
_WHOLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return)
# What may not stand in the function: it would mean something else at the call, or cannot be moved.
_OWN_SCOPE = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Global, ast.Nonlocal),
    *(ast.Yield, ast.YieldFrom, ast.Await, ast.Import, ast.ImportFrom, ast.NamedExpr, ast.Try),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
_LOOKED_UP = (ast.Name, ast.Attribute, ast.Constant, ast.keyword, ast.BinOp, ast.UnaryOp)


@dataclass(slots=True)
class Inlined:
    """The edits of a file."""

    edits: list[Edit] = field(default_factory=list)
    notes: list[tuple[int, str]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class _Site:
    """One call, the statement in which it stands, and the function around."""

    call: ast.Call
    statement: ast.stmt
    caller: ast.FunctionDef | ast.AsyncFunctionDef


@declare(
    phase="lower",
    unit="program",
    needs=["usages"],
    examples=[
        becomes(
            """
            def r1_loss(pred, images):
                (grad,) = torch.autograd.grad(pred.sum(), images, create_graph=True)
                return grad.pow(2).sum()

            def penalty(net: nn.Module, x: torch.Tensor):
                out = net(x)
                return 10 * r1_loss(out, x)
            """,
            """
            def penalty(net: nn.Cell, x: Tensor):
                def outputs_of(x):
                    out = net(x)
                    return out

                out, x_grads = helpers.with_gradients(outputs_of, (x,), create_graph=True)
                (grad,) = x_grads
                r1_loss_result = grad.pow(2).sum()
                return 10 * r1_loss_result
            """,
        ),
        same("def slope(f, x):\n    y = f(x)\n    return y"),
    ],
)
def inline_gradients(context: Context, source: SourceText) -> Inlined:
    """Only where every use of the function is such a call; then the function goes, too."""
    result = Inlined()
    if not any(usage.api == _GRAD for usage in context.usages.values()):
        return result
    for function in _asking(context):
        sites = _sites(function, context, source)
        if not sites:
            continue
        for site in sites:
            result.edits += _written(function, site, source)
        result.edits.append(_removed(function, context, source))
    return result


def _asking(context: Context) -> Iterator[ast.FunctionDef]:
    """Functions of the outputs: `grad(pred.sum(), images)` of two of its parameters."""
    parents = parents_of(context.tree)
    for call in nodes_of(context.tree, ast.Call):
        usage = context.usage(call.func)
        if usage is None or usage.api != _GRAD:
            continue
        function: ast.AST | None = call
        while function is not None and not isinstance(function, ast.FunctionDef):
            function = parents.get(function)
        outputs, inputs = _ends(call)
        if function is None or not isinstance(inputs, ast.Name) or outputs is None:
            continue
        names = {arg.arg for arg in _parameters(function)}
        read = {n.id for n in all_nodes(outputs) if isinstance(n, ast.Name)} & names
        if inputs.id in names and read - {inputs.id, "self"} and _is_plain(function):
            yield function


def _ends(call: ast.Call) -> tuple[ast.expr | None, ast.expr | None]:
    given = {k.arg: k.value for k in call.keywords if k.arg}
    outputs = given.get("outputs", call.args[0] if call.args else None)
    inputs = given.get("inputs", call.args[1] if len(call.args) > 1 else None)
    if isinstance(inputs, (ast.List, ast.Tuple)) and len(inputs.elts) == 1:
        inputs = inputs.elts[0]
    return outputs, inputs


def _parameters(function: ast.FunctionDef) -> list[ast.arg]:
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def _is_plain(function: ast.FunctionDef) -> bool:
    """Statements one after the other with one return at the end, all in the function's scope."""
    last = function.body[-1]
    returns = [n for n in all_nodes(function) if isinstance(n, ast.Return)]
    static = [ast.unparse(one) for one in function.decorator_list] in ([], ["staticmethod"])
    inside = [node for statement in function.body for node in all_nodes(statement)]
    return (
        static
        and not (function.args.vararg or function.args.kwarg)
        and isinstance(last, ast.Return)
        and last.value is not None
        and returns == [last]
        and not any(isinstance(node, _OWN_SCOPE) for node in inside)
    )


# Calls -------------------------------------------------------------------------------------------


def _sites(function: ast.FunctionDef, context: Context, source: SourceText) -> list[_Site]:
    """All uses of the function, if each is a call that can be written out."""
    if any(trees_with(context.modules.project, function.name, but=context.resolution.source)):
        return []
    owner = parents_of(context.tree).get(function)
    if not isinstance(owner, (ast.Module, ast.ClassDef)) or _has_namesakes(function, context):
        return []
    sites = []
    for node in all_nodes(context.tree):
        name = getattr(node, "attr" if isinstance(node, ast.Attribute) else "id", "")
        if name != function.name or not isinstance(node, (ast.Name, ast.Attribute)):
            continue
        site = _site(node, function, owner, context)
        if site is None or not source.stands_alone(site.statement):
            return []
        sites.append(site)
    return sites


def _has_namesakes(function: ast.FunctionDef, context: Context) -> bool:
    return any(
        other is not function and other.name == function.name
        for other in nodes_of(context.tree, ast.FunctionDef)
    )


def _site(
    node: ast.Name | ast.Attribute,
    function: ast.FunctionDef,
    owner: ast.AST,
    context: Context,
) -> _Site | None:
    parents = parents_of(context.tree)
    call = parents.get(node)
    if not isinstance(call, ast.Call) or call.func is not node:
        return None
    by_self = isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "self"
    if by_self is not isinstance(owner, ast.ClassDef):
        return None
    statement: ast.AST = call
    while not isinstance(statement, ast.stmt):
        parent = parents[statement]
        if not isinstance(parent, ast.stmt) and not _comes_first(statement, parent):
            return None
        statement = parent
    caller = parents.get(statement)
    while caller is not None and not isinstance(caller, (ast.FunctionDef, ast.AsyncFunctionDef)):
        caller = parents.get(caller)
    if caller is None or caller is function or not isinstance(statement, _WHOLE):
        return None
    if by_self and parents.get(caller) is not owner:
        return None  # another class's self
    bound = {n.id for n in _names(caller) if is_store(n)}
    bound |= {arg.arg for arg in _all_arguments(caller)} - {"self"}
    if _globals(function) & bound or _arguments(function, call) is None:
        return None
    return _Site(call, statement, caller)


def _all_arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    return [node for node in all_nodes(function) if isinstance(node, ast.arg)]


def _comes_first(node: ast.AST, parent: ast.AST) -> bool:
    """Only names and constants are looked up before it."""
    if isinstance(parent, (ast.IfExp, ast.BoolOp, ast.Compare, *_OWN_SCOPE)):
        return False
    before = child_nodes(parent)
    before = before[: before.index(node)]
    return all(isinstance(part, _LOOKED_UP) for one in before for part in all_nodes(one))


def _globals(function: ast.FunctionDef) -> set[str]:
    """The names that the function reads from its module."""
    own = {arg.arg for arg in _parameters(function)} | _stored(function)
    read = {node.id for node in _names(function) if is_read(node)}
    return read - own - set(dir(builtins))


def _stored(function: ast.FunctionDef) -> set[str]:
    return {node.id for node in _names(function) if is_store(node)}


def _names(node: ast.AST) -> list[ast.Name]:
    return [one for one in all_nodes(node) if isinstance(one, ast.Name)]


def _arguments(function: ast.FunctionDef, call: ast.Call) -> dict[str, ast.expr] | None:
    """The arguments by the names of the parameters, with constants for defaults."""
    names = [arg.arg for arg in _parameters(function)]
    is_method = isinstance(call.func, ast.Attribute) and not function.decorator_list
    positional = names[1:] if is_method else names
    if len(call.args) > len(positional) or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    given: dict[str, ast.expr] = {"self": read_of("self")} if is_method else {}
    if is_method and names[:1] != ["self"]:
        return None
    given |= dict(zip(positional, call.args, strict=False))
    for keyword in call.keywords:
        if keyword.arg is None or keyword.arg in given:
            return None
        given[keyword.arg] = keyword.value
    args = function.args
    optional = [arg.arg for arg in (*args.posonlyargs, *args.args)]
    pairs = list(zip(reversed(optional), reversed(args.defaults), strict=False))
    pairs += [
        (arg.arg, value)
        for arg, value in zip(args.kwonlyargs, args.kw_defaults, strict=True)
        if value is not None
    ]
    for name, value in pairs:
        if name not in given and isinstance(value, ast.Constant):
            given[name] = value
    return given if given.keys() == set(names) else None


# Text --------------------------------------------------------------------------------------------


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: dict[str, ast.expr]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        new = self._names.get(node.id)
        if isinstance(new, ast.Name):
            return ast.Name(new.id, node.ctx)
        return node if new is None else new


def _written(function: ast.FunctionDef, site: _Site, source: SourceText) -> list[Edit]:
    """The function's statements in front of the call's, whose value takes the call's place."""
    given = _arguments(function, site.call)
    assert given is not None
    taken = {n.id for n in _names(site.caller)}
    taken |= {arg.arg for arg in _all_arguments(site.caller)}
    taken |= {n.id for n in nodes_of(source.tree, ast.Name) if is_store(n)} - _stored(function)
    names: dict[str, ast.expr] = {}
    lines: list[str] = []
    stored = _stored(function)
    for name, value in given.items():
        if isinstance(value, (ast.Name, ast.Constant)) and name not in stored:
            names[name] = value
        else:
            names[name] = _fresh(name, taken)
            lines.append(f"{ast.unparse(names[name])} = {source.source_of(value)}")
    for name in sorted(stored - given.keys()):
        names[name] = _fresh(name, taken)
    *body, last = function.body
    assert isinstance(last, ast.Return) and last.value is not None
    renamed = _Renamed(names)
    for statement in body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue  # the docstring
        lines += ast.unparse(renamed.visit(copy.deepcopy(statement))).split("\n")
    value = renamed.visit(copy.deepcopy(last.value))
    if not isinstance(value, ast.Name):
        result = _fresh(f"{function.name}_result", taken)
        lines.append(f"{result.id} = {ast.unparse(value)}")
        value = result
    indent = source.indent_of(site.statement)
    text = "".join(f"{line}\n{indent}" for line in lines)
    return [
        source.replace(site.statement, text, site.statement),
        source.replace(site.call, value.id),
    ]


def _fresh(name: str, taken: set[str]) -> ast.Name:
    free, number = name, 2
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    taken.add(free)
    return read_of(free)


def _removed(function: ast.FunctionDef, context: Context, source: SourceText) -> Edit:
    """The function itself; a class must not be left without a body."""
    owner = parents_of(context.tree)[function]
    alone = isinstance(owner, ast.ClassDef) and len(owner.body) == 1
    return source.replace(function, "pass" if alone else "")

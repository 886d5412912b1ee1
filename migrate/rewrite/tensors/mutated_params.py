"""Calls that change an argument: `scale(x, 2)` of the program, or `self.block(x)`, a container that
begins with an in-place layer.

torch's caller sees the change whatever it does with the result. Ported, a function that is
differentiated computes a new tensor, so the caller's name is bound to it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from migrate.flow.alias import Observer
from migrate.flow.answer import Verdict
from migrate.flow.function import FunctionFlow
from migrate.flow.mutations import Mutation, mutations
from migrate.flow.tables import IDEMPOTENT
from migrate.pipeline.context import Context
from migrate.resolve.values import UNKNOWN, ProjectFunction, Value, is_tensor
from migrate.rewrite.tensors.in_place import in_place_form, returns_nothing
from migrate.syntax.access import name_of
from migrate.syntax.ast_index import all_nodes, child_nodes

_DEEPEST = 6  # calls that pass an argument on


@dataclass(frozen=True, slots=True)
class MutatedArgument:
    """An argument that a call changes."""

    node: ast.expr
    verdict: Verdict
    how: str  # "relu", where that is all that happens to it
    returned: bool  # the result of the call is the changed argument

    @property
    def can_repeat(self) -> bool:
        """relu(relu(x)) is relu(x): it may be applied in front of the call as well."""
        return self.verdict.yes and self.how in IDEMPOTENT


def mutated_arguments(call: ast.Call, context: Context) -> list[MutatedArgument]:
    """The tensors that a call changes, those left out that the called function writes through."""
    if not any(_may_be_tensor(context.type(node)) for node in _arguments(call)):
        return []
    effects = context.flow.effects.of_call(call)
    if not effects.mutated:
        return []
    same = {node for node, relation in effects.returns if relation == "same"}
    targets = context.flow.symbols.targets(call)
    found = []
    for node, verdict, how in effects.mutated:
        kind = context.type(node)
        if not is_tensor(kind) and not (kind is UNKNOWN and verdict.yes):
            continue
        if targets and all(_writes_through(t.function, context) for t in targets):
            continue
        returned = node in same and not effects.returns_new
        found.append(MutatedArgument(node, verdict, how, returned))
    return found


def _arguments(call: ast.Call) -> Iterator[ast.expr]:
    if isinstance(call.func, ast.Attribute):
        yield call.func.value
    yield from call.args
    for keyword in call.keywords:
        yield keyword.value


def _may_be_tensor(value: Value) -> bool:
    return value is UNKNOWN or is_tensor(value)


def _writes_through(target: ProjectFunction, context: Context, depth: int = 0) -> bool:
    """The ported function changes the caller's tensor itself."""
    function = target.node
    if context.compiles(target) or isinstance(function, ast.Lambda) or depth > _DEEPEST:
        return False
    flow = context.flow.of(target)
    if target.module is not context.resolution.scope and _says_so(function):
        return True
    return all(
        _is_written_through(mutation, flow, context, depth)
        for mutation in mutations(flow)
        if mutation.kind != "item"
        and any(ref.memory.source == "parameter" for ref in flow.aliases.refs(mutation.place))
    )


def _is_written_through(
    mutation: Mutation, flow: FunctionFlow, context: Context, depth: int
) -> bool:
    """An operation on the parameter itself, or a function of the program that writes through;
    a layer gives a new tensor.
    """
    if mutation.kind != "call":
        return in_place_form(mutation.place, context, compiled=False).kind == "through"
    targets = [
        target
        for node in all_nodes(mutation.statement)
        if isinstance(node, ast.Call) and mutation.place in _arguments(node)
        for target in flow.symbols.targets(node)
    ]
    return bool(targets) and all(_writes_through(t.function, context, depth + 1) for t in targets)


def _says_so(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """What another file's port decides by: the name, no result, no gradients."""
    named = function.name.endswith("_") and not function.name.endswith("__")
    decorators = [ast.unparse(decorator) for decorator in function.decorator_list]
    stops = any("no_grad" in text or "inference_mode" in text for text in decorators)
    return named or stops or returns_nothing(function)


def rebinds(call: ast.Call, name: str, context: Context) -> bool:
    """`x, n = normalized(x, n)`: from there on the name is that of the result."""
    flow = context.flow.around(call)
    statement = flow.cfg.statement_of(call) if flow is not None else None
    points = flow.cfg.points_of(statement) if flow is not None and statement is not None else []
    return any(d.name == name for point in points for d in point.definitions)


def is_read_again(call: ast.Call, name: ast.expr, context: Context) -> bool:
    """The argument is read elsewhere in the statement, or behind it, by this name or another."""
    flow = context.flow.around(call)
    statement = flow.cfg.statement_of(call) if flow is not None else None
    if flow is None or statement is None:
        return True
    if not isinstance(name, ast.Name):
        return bool(flow.aliases.observers(name))
    point = flow.cfg.points_of(statement)[0]
    if any(read.id == name.id and read is not name for read in point.reads):
        return True
    if rebinds(call, name.id, context):
        return any(o.kind != "name" for o in _holders(name, flow))
    if flow.defuse.read_after(statement, name.id):
        return True
    return bool(_holders(name, flow))


def _holders(name: ast.expr, flow: FunctionFlow) -> list[Observer]:
    """Who else in the program holds the tensor; the caller of the function left out."""
    return [o for o in flow.aliases.observers(name) if o.kind != "caller"]


def is_first_use(call: ast.Call, name: ast.expr, context: Context) -> bool:
    """Nothing in the statement computes with the name's old value before the call does, and no
    other name, list or attribute holds it.
    """
    flow = context.flow.around(call)
    statement = flow.cfg.statement_of(call) if flow is not None else None
    if flow is not None and isinstance(name, ast.Name) and _holders(name, flow):
        return False
    if not isinstance(name, ast.Name):
        return _is_only_item(call, name, statement)
    if flow is None or statement is None or not isinstance(statement, ast.stmt):
        return False
    if any(isinstance(part, (ast.IfExp, ast.BoolOp)) for part in all_nodes(statement)):
        return False
    inside = set(all_nodes(call))
    for read in flow.cfg.points_of(statement)[0].reads:
        if read.id != name.id or read in inside:
            continue
        before = (read.lineno, read.col_offset) < (call.lineno, call.col_offset)
        if before and not _is_bare_operand(read, statement):
            return False
    own = [n for n in inside if name_of(n) == name.id]
    return len(own) == 1


def _is_only_item(call: ast.Call, item: ast.expr, statement: ast.AST | None) -> bool:
    """`op(states[-1]) + states[-2]`: no earlier part of the statement computes with the list."""
    assert isinstance(item, ast.Subscript)
    container = ast.unparse(item.value)
    steady = not any(isinstance(part, ast.Call) for part in all_nodes(item))
    return steady and not any(
        isinstance(part, ast.Call)
        and (part.lineno, part.col_offset) < (call.lineno, call.col_offset)
        and call not in all_nodes(part)
        and any(ast.unparse(a) == container for a in all_nodes(part) if isinstance(a, ast.Name))
        for part in all_nodes(statement or ast.Module([], []))
    )


def _is_bare_operand(read: ast.Name, statement: ast.stmt) -> bool:
    """`x` of `x + block(x)`: the tensor is looked up before, and computed with afterwards."""
    return any(
        isinstance(node, (ast.BinOp, ast.Tuple, ast.List))
        and any(child is read for child in child_nodes(node))
        for node in all_nodes(statement)
    )

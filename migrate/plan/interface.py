"""What goes into a forward function, and what comes out: data, code, results, earlier values."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from migrate.flow import FunctionFlow
from migrate.flow.blocks import Home, Loop, statements_below
from migrate.flow.names import binds, reads
from migrate.flow.region import (
    points_in,
    region_carried,
    region_inputs,
    region_outputs,
    surely_binds,
)
from migrate.pipeline.context import Context
from migrate.pipeline.refusal import Refusal
from migrate.plan.find import Backward
from migrate.resolve.members import is_module_value
from migrate.resolve.values import (
    External,
    ProjectClass,
    ProjectFunction,
    ProjectModule,
    is_tensor,
    options_of,
)
from migrate.syntax.access import is_store, name_of
from migrate.syntax.ast_index import all_nodes

_CODE = (External, ProjectClass, ProjectFunction, ProjectModule)


class Interface:
    """The parameters and results of the function that the statements of a step become."""

    def __init__(
        self,
        backward: Backward,
        region: list[ast.stmt],
        deferred: list[ast.stmt],
        home: Home,
        context: Context,
    ) -> None:
        self.backward, self.region, self.home, self.context = backward, region, home, context
        self.flow = context.flow.function(home)
        self.whole = [*region, backward.statement]
        self.inputs = region_inputs(self.flow, self.whole, moved=deferred)

    def code(self, weights: str) -> set[str]:
        """Names of networks and functions: part of the step, not of its data."""
        networks = names_called([*self.region, self.backward.loss])
        code = {name for name in self.inputs if name in networks or self._is_code(name)}
        return code | reads(ast.parse(weights))

    def _is_code(self, name: str) -> bool:
        """Modules, functions, classes and imports stay in the closure."""
        return any(
            name_of(node) == name and is_code(node, self.context)
            for part in (*self.region, self.backward.loss)
            for node in all_nodes(part)
        )

    def parameters(self, code: set[str], loop: Loop | None) -> list[str]:
        """Inputs that differ from one call to the next: what the loop around binds or writes to;
        without a loop, what the function has computed before or was given.
        """
        if loop is not None:
            changing = binds(loop) | self.flow.names.writes(loop)
        else:
            changing = self.flow.defuse.bound_before(self.backward.statement)
            if not isinstance(self.home, ast.Module):
                parts = [*self.region, self.backward.loss]
                changing |= data_arguments(self.home.args, parts, self.context)
        return [name for name in self.inputs if name in changing and name not in code]

    def outputs(self, parameters: list[str]) -> list[str]:
        """What the region binds and other statements, or its own next round, read."""
        if not self.region:
            return []
        outside = region_outputs(self.flow, self.region, besides=[self.backward.statement])
        read = {*outside, *self._deleted()}
        carried = region_carried(self.flow, self.region) & set(parameters)
        order = _bound_in_order(self.flow, self.region)
        bound = [name for name in order if name in carried or name in read]
        return [*bound, *(n for n in self._kept_changes(parameters) if n not in bound)]

    def _kept_changes(self, parameters: list[str]) -> list[str]:
        """Tensors from outside that the region changes in place, `weights[chosen] = w`, and that
        are read behind it, or by its next round.
        """
        changed = {n for s in self.region for n in self.flow.names.mutates(s)} & set(parameters)
        return [n for n in sorted(changed) if self._is_tensor(n) and self._is_read_again(n)]

    def _is_tensor(self, name: str) -> bool:
        return any(is_tensor(self.context.type(read)) for read in self._reads_of(name))

    def _is_read_again(self, name: str) -> bool:
        cfg, defuse = self.flow.cfg, self.flow.defuse
        loop = next(reversed(cfg.loops_of(self.region[0])), None)
        inside = {node for statement in self.region for node in all_nodes(statement)}
        each_round = set(all_nodes(loop)) if loop is not None else set()
        for definition in defuse.reaching_at(self.region[0], name):
            if loop is not None and definition.node not in each_round:
                return True
            for read in defuse.uses(definition):
                statement = cfg.statement_of(read)
                later = statement is not None and cfg.may_follow(self.region[-1], statement)
                if later and read not in inside:
                    return True
        return False

    def _deleted(self) -> set[str]:
        """`del out, loss` behind the step, or between, wants them there."""
        inside = {node for statement in self.region for node in all_nodes(statement)}
        return {
            target.id
            for _, statement in statements_below(self.home.body)
            if isinstance(statement, ast.Delete) and statement not in inside
            for target in statement.targets
            if isinstance(target, ast.Name)
        }

    def passed_by(self, parameters: list[str], outputs: list[str]) -> list[str]:
        """What only one branch of the region binds has its old value in the other one."""
        if not self.region:
            return []
        surely = {name for s in self.region for name in surely_binds(self.flow, s)}
        surely |= reads(self.backward.bare)
        rest = [name for name in outputs if name not in {*surely, *parameters}]
        return [n for n in rest if self.flow.defuse.reaching_at(self.region[0], n)]

    def unbound(self, parameters: list[str], passed: list[str]) -> dict[ast.stmt, list[str]]:
        """Inputs that some way to the step does not bind, by the statement in front of which they
        become None; `passed` ones are handed in whether or not the step reads them.
        """
        found: dict[ast.stmt, list[str]] = {}
        missing = {n for n in passed if self.flow.defuse.maybe_unbound_at(self.region[0], n)}
        for name in parameters:
            reads_ = map(self.flow.defuse.maybe_unbound, self._reads_of(name))
            if name in missing or any(reads_):
                first = next(s for s in self.home.body if name in binds(s))
                found.setdefault(first, []).append(name)
        return found

    def _reads_of(self, name: str) -> list[ast.Name]:
        points = points_in(self.flow, self.whole)
        return [r for index in points for r in self.flow.cfg.points[index].reads if r.id == name]

    def is_maybe_unbound(self, name: str) -> bool:
        """Some way leads to backward() past no statement that binds the name."""
        return self.flow.defuse.maybe_unbound_at(self.backward.statement, name)


def _bound_in_order(flow: FunctionFlow, region: Sequence[ast.stmt]) -> list[str]:
    inner = [node for statement in region for node in all_nodes(statement)]
    points = [p for node in inner for p in flow.cfg.points_of(node)]
    points.sort(key=lambda point: point.index)
    return list(dict.fromkeys(d.name for point in points for d in point.definitions))


def is_code(name: ast.Name, context: Context) -> bool:
    """A network, a function, a class or an import: no data."""
    kind = context.type(name)
    return is_module_value(kind) or any(isinstance(option, _CODE) for option in options_of(kind))


def names_called(parts: list[ast.AST]) -> set[str]:
    """Names that are called as they stand: networks and losses, never data."""
    return {
        node.func.id
        for part in parts
        for node in all_nodes(part)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


def data_arguments(
    arguments: ast.arguments, region: Sequence[ast.AST], context: Context
) -> set[str]:
    """Parameters of the function that the region only passes on or computes with: data, not
    code.
    """
    names = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    code: set[str] = set()
    for statement in region:
        for node in all_nodes(statement):
            head = node.func if isinstance(node, ast.Call) else None
            while isinstance(head, ast.Attribute):
                head = head.value
            if isinstance(head, ast.Name) and not is_tensor(context.type(head)):
                code.add(head.id)
    return names - code - {"self"}


def changed_in_part(region: list[ast.stmt], parameters: list[str], context: Context) -> list[str]:
    """Tensors from outside of which the region assigns to items: `outputs[i] = y`."""
    found: dict[str, None] = {}
    for statement in region:
        for node in all_nodes(statement):
            root = node.value if isinstance(node, ast.Subscript) else None
            if (
                isinstance(root, ast.Name)
                and isinstance(node, ast.Subscript)
                and is_store(node)
                and root.id in parameters
                and is_tensor(context.type(root))
            ):
                found[root.id] = None
    return list(found)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An earlier value of a name, as a name of its own."""

    name: str
    version: str
    is_copied: bool  # the step goes on to change the tensor itself

    @property
    def source(self) -> str:
        return f"{self.version} = {self.name}{'.copy()' if self.is_copied else ''}"


@dataclass(slots=True)
class Versions:
    """What the deferred statements of a step read and bind under other names."""

    snapshots: dict[ast.stmt, list[Snapshot]] = field(default_factory=dict)  # behind a statement
    renames: dict[ast.stmt, dict[str, str]] = field(default_factory=dict)  # of a deferred one

    @property
    def names(self) -> list[str]:
        return [one.version for found in self.snapshots.values() for one in found]


def find_versions(
    flow: FunctionFlow,
    statements: Sequence[ast.stmt],
    region: Sequence[ast.stmt],
    deferred: Sequence[ast.stmt],
    taken: set[str],
) -> Versions:
    """Follow the statements from the step's first one to backward(), in order."""
    versions = Versions()
    current: dict[str, str] = {}  # name -> what a deferred statement here has to call it
    before: ast.stmt | None = None  # the last statement of the region so far
    for index, statement in enumerate(statements):
        if statement in region:
            before = statement
            for name in flow.names.changes(statement):
                current.pop(name, None)
        elif statement in deferred:
            after = [one for one in statements[index + 1 :] if one in region]
            names = _rename(flow, statement, after, before, current, versions, taken)
            if names:
                versions.renames[statement] = names
    return versions


def _rename(
    flow: FunctionFlow,
    statement: ast.stmt,
    after: Sequence[ast.stmt],
    before: ast.stmt | None,
    current: dict[str, str],
    versions: Versions,
    taken: set[str],
) -> dict[str, str]:
    bound_later = {name for one in after for name in flow.names.changes(one)}
    names: dict[str, str] = {}
    for name in sorted(reads(statement)):
        if name in bound_later and name not in current and before is not None:
            copied = any(name in _changed_in_place(flow, one) for one in after)
            current[name] = _fresh(name, taken)
            snapshot = Snapshot(name, current[name], copied)
            versions.snapshots.setdefault(before, []).append(snapshot)
        if name in current:
            names[name] = current[name]
    for name in sorted(binds(statement)):
        if name in names:
            raise Refusal(
                f"{name} is read and bound between the statements that compute the loss, which "
                "bind it again",
                f"use another name for what becomes of {name}",
                "MS408",
            )
        if name in bound_later:
            names[name] = current[name] = _fresh(name, taken)
        else:
            current.pop(name, None)
    return names


def _changed_in_place(flow: FunctionFlow, statement: ast.stmt) -> set[str]:
    """`x[i] = v`, `x.add_(v)`; `x += v`, which is in place in Graph mode."""
    augmented = {
        node.target.id
        for node in all_nodes(statement)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
    }
    return flow.names.mutates(statement) - binds(statement) | augmented


def _fresh(name: str, taken: set[str]) -> str:
    number = 1
    while f"{name}_{number}" in taken:
        number += 1
    taken.add(f"{name}_{number}")
    return f"{name}_{number}"

"""Slice: which statements the loss of a backward() depends on, and which of them a gradient flows
through. They become the body of the forward function.
"""

from __future__ import annotations

import ast

from migrate.flow.blocks import statements_below
from migrate.flow.gradient_reads import gradient_reads, reads_with_gradient
from migrate.flow.host_state import moved_on
from migrate.flow.names import binds, reads
from migrate.flow.parameter_use import may_use_parameters
from migrate.flow.region import region_inputs, surely_binds
from migrate.pipeline.context import Context
from migrate.pipeline.refusal import Refusal
from migrate.plan.find import Backward, Calls
from migrate.resolve.members import is_module_value
from migrate.resolve.values import UNKNOWN, ProjectFunction
from migrate.syntax.access import name_of
from migrate.syntax.ast_index import all_nodes, child_nodes


def around(body: list[ast.stmt], backward: Backward) -> tuple[list[ast.stmt], int, ast.If | None]:
    """The block with the `if` one of whose branches calls backward(), and its place there."""
    for block, statement in statements_below(body):
        if isinstance(statement, ast.If) and (
            statement.body is backward.block or statement.orelse is backward.block
        ):
            return block, block.index(statement), statement
    return backward.block, backward.block.index(backward.statement), None


class Slicer:
    """Slices the statements in front of one backward pass.

    `freed` are statements through which an earlier backward pass has gone: torch has dropped that
    graph, and what they computed is data.
    """

    def __init__(
        self, backward: Backward, calls: Calls, context: Context, freed: set[ast.stmt]
    ) -> None:
        self.backward, self.calls, self.context, self.freed = backward, calls, context, freed
        self.flow = calls.flow
        self.changes = calls.flow.names.changes
        self.special = calls.statements

    def slice(self, block: list[ast.stmt], at: int) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """The statements of a block before `at` through which the loss depends on parameters, and
        those between that look at their results.

        All others that the loss needs are data: they stay where they are, in front of the step.
        """
        region = self._region(block, at)
        return [block[i] for i in sorted(region)], self._deferred(block, region, at)

    def region(self, block: list[ast.stmt], at: int) -> list[ast.stmt]:
        return [block[i] for i in sorted(self._region(block, at))]

    def _region(self, block: list[ast.stmt], at: int) -> set[int]:
        chain = self._chain(block, at)
        region = self._with_parameters(block, chain)
        return region | {i for i in chain if i not in region and self._starts(i, block, region, at)}

    def unknown_callees(self, block: list[ast.stmt]) -> list[str]:
        """Names that the loss is computed by, and of which nothing is known."""
        chain = self._chain(block, block.index(self.backward.statement))
        called = [
            node.func.id
            for part in [*(block[i] for i in chain), self.backward.bare]
            for node in all_nodes(part)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and self.context.type(node.func) is UNKNOWN
        ]
        return list(dict.fromkeys(called))

    def _chain(self, block: list[ast.stmt], at: int) -> list[int]:
        """Backwards from the loss: every statement that changes what is needed behind it."""
        needed = reads(self.backward.bare) - self._modules(self.backward.bare)
        flowing = self._surely_flowing(self.backward.bare)
        chain: list[int] = []
        for index in range(at - 1, -1, -1):
            statement = block[index]
            if statement in self.special or isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                continue
            changed = self.changes(statement)
            if statement in self.freed and not self._is_alive(statement, flowing):
                needed -= changed
            elif changed & needed:
                chain.append(index)
                flowing |= self._surely_flowing(statement) if changed & flowing else set()
                needed -= surely_binds(self.flow, statement)  # its old value does not matter
                needed |= set(region_inputs(self.flow, [statement])) - self._modules(statement)
        return chain[::-1]

    def _is_alive(self, statement: ast.stmt, flowing: set[str]) -> bool:
        """Whether the loss takes a gradient through the statement: torch would raise if an earlier
        backward pass had dropped its graph, so that pass did not go through it.
        """
        carried = self.changes(statement) & flowing
        if not carried or self.context.flow.grad_regions.stops(statement):
            return False
        return may_use_parameters(statement, self.context.flow)

    def _surely_flowing(self, node: ast.AST) -> set[str]:
        """Names that pass a gradient on; what `pool.query(fake)` does with it is not known."""
        unknown = {
            inner
            for call in ast.walk(node)
            if isinstance(call, ast.Call)
            and self.context.usage(call.func) is None
            and not is_module_value(self.context.type(call.func))
            and not isinstance(self.context.type(call.func), ProjectFunction)
            for argument in (*call.args, *call.keywords)
            for inner in ast.walk(argument)
        }
        names = [name for name in reads_with_gradient(node) if name not in unknown]
        return {name.id for name in names}

    def _with_parameters(self, block: list[ast.stmt], chain: list[int]) -> set[int]:
        """Forwards: what uses parameters, and what uses that."""
        found: set[int] = set()
        bound: set[str] = set()
        read: set[str] = set()
        moved: frozenset[str] = frozenset()  # generators, iterators
        for index in chain:
            statement = block[index]
            # A name that the region has read and that changes here must change inside as well.
            uses = bool(reads(statement) & bound or self.changes(statement) & read)
            moves = moved_on(statement, self.context.flow)
            uses = uses or bool(moves & moved)
            if not uses and not self.context.flow.grad_regions.stops(statement):
                uses = may_use_parameters(statement, self.context.flow)
            if uses:
                found.add(index)
                bound |= self.changes(statement)
                read |= reads(statement)
                moved |= moves
            elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
                bound -= binds(statement)  # data again from here on
        return found

    def _modules(self, node: ast.AST) -> set[str]:
        """Names of networks: what builds them is no part of a step."""
        return {
            inner.id
            for inner in all_nodes(node)
            if isinstance(inner, ast.Name) and is_module_value(self.context.type(inner))
        }

    def _starts(self, index: int, block: list[ast.stmt], region: set[int], at: int) -> bool:
        """`loss = 0`, `terms = []`: the start of what the region itself adds up."""
        statement = block[index]
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or not _is_empty(statement.value):
            return False
        names = binds(statement)
        inside = [block[i] for i in region if i > index]
        outside = [block[i] for i in range(index + 1, at) if i not in region]
        return any(names & self.changes(s) for s in inside) and not any(
            names & reads(s) for s in outside
        )

    def _deferred(self, block: list[ast.stmt], region: set[int], at: int) -> list[ast.stmt]:
        """Statements between that look at the region's results: they go behind the backward pass.

        What an earlier backward pass of this block has computed is there already.
        """
        earlier = [
            block.index(other.statement)
            for other in self.calls.backwards
            if other.block is block and block.index(other.statement) < at
        ]
        start = max(earlier, default=-1) + 1
        bound: set[str] = set()
        read: set[str] = set()
        found: list[ast.stmt] = []
        moved: frozenset[str] = frozenset()
        for index in range(start, at):
            statement = block[index]
            changed = self.changes(statement)
            if index in region:
                bound |= changed
                read |= reads(statement)
                moved |= moved_on(statement, self.context.flow)
            elif statement not in self.special and (
                reads(statement) & bound
                or (changed | _deleted(statement)) & (read | (bound if found else set()))
                or self._keeps_order(statement, found, [block[i] for i in region if i > index])
                or self._draws_behind(statement, moved, [block[i] for i in region if i > index])
            ):
                self._check_attributes(statement, [block[i] for i in region if i > index])
                found.append(statement)
                bound |= changed
                read |= reads(statement)
        return found

    def _check_attributes(self, statement: ast.stmt, after: list[ast.stmt]) -> None:
        """`self.bank[i] = z` cannot go behind a step that reads `self.bank` after it."""
        looked_at = {
            ast.unparse(node)
            for part in (*after, self.backward.bare)
            for node in all_nodes(part)
            if isinstance(node, ast.Attribute)
        }
        kept = sorted(written_attributes(statement) & looked_at)
        if kept:
            raise Refusal(
                f"{' and '.join(kept)} is changed by results of the step in which it is used",
                "change it behind the step, or compute the loss from a variable",
                "MS408",
            )

    def _keeps_order(
        self, statement: ast.stmt, before: list[ast.stmt], after: list[ast.stmt]
    ) -> bool:
        """Must it stay behind those that go behind the step, though it reads nothing of theirs?

        `continue` must not skip them, what they may skip must not run, text keeps its order.
        """
        if leaves(statement):
            return bool(before)
        if not any(map(leaves, before)):
            return _prints(statement) and any(map(_prints, before))
        changed = self.changes(statement)
        feeds = changed & {name for one in after for name in reads(one)}
        if feeds and reads(statement) & changed:
            raise Refusal(
                f"whether {' and '.join(sorted(feeds))} changes is decided by results of the step "
                "in which it is used",
                "decide about the batch behind backward(), or change it in front of the forward "
                "pass",
                "MS408",
            )
        return not feeds

    def _draws_behind(
        self, statement: ast.stmt, moved: frozenset[str], after: list[ast.stmt]
    ) -> bool:
        """It draws from a stream from which the step has drawn before it."""
        shared = moved_on(statement, self.context.flow) & moved if moved else frozenset()
        again = [one for one in after if moved_on(one, self.context.flow) & shared]
        if shared and again:
            raise Refusal(
                f"{' and '.join(sorted(shared))} is drawn from between two uses in the step",
                "draw first, and compute the loss from what was drawn",
                "MS408",
            )
        return bool(shared)

    # The way of the gradient ----------------------------------------------------------------------

    def detached(self, region: list[ast.stmt]) -> list[ast.stmt]:
        """Statements at the region's start whose results are only used as `fake.detach()`: they may
        stand in front of the step, and a later one may still take gradients through them.
        """
        found: list[ast.stmt] = []
        for index, statement in enumerate(region):
            rest: list[ast.AST] = [*region[index + 1 :], self.backward.loss]
            names = binds(statement) if isinstance(statement, ast.Assign) else set()
            used = names & {name for part in rest for name in reads(part)}
            before = [s for s in region[:index] if s not in found]
            if (
                used
                and not any(used & gradient_reads(part) for part in rest)
                and not any(self.changes(s) & reads(statement) for s in before)
                and not any(self.changes(s) & names for s in region if s is not statement)
            ):
                found.append(statement)
        return found

    def flowing(self, region: list[ast.stmt]) -> list[ast.stmt]:
        """The statements that the gradient of the loss goes through."""
        wanted = gradient_reads(self.backward.loss)
        found = []
        for statement in reversed(region):
            if self.changes(statement) & wanted:
                found.append(statement)
                wanted |= gradient_reads(statement)
        return found[::-1]


def _is_empty(value: ast.expr | None) -> bool:
    """A number, `[]`, `{"fit": []}`, `defaultdict(list)`: nothing was computed for it."""
    if isinstance(value, (ast.List, ast.Tuple)):
        return all(map(_is_empty, value.elts))
    if isinstance(value, ast.Dict):
        return all(map(_is_empty, value.values))
    if isinstance(value, ast.Call):
        parts = [value.func, *value.args]
        return all(name_of(one) in _CONTAINERS for one in parts)
    return isinstance(value, ast.Constant)


_CONTAINERS = ("list", "dict", "set", "defaultdict", "OrderedDict", "deque")


def written_attributes(statement: ast.stmt) -> set[str]:
    """`self.bank` of `self.bank[i] = z`, `self.bank += z` and `self.bank.add_(z)`."""
    places: list[ast.expr] = []
    for node in all_nodes(statement):
        if isinstance(node, ast.Assign):
            places += node.targets
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
            places.append(node.target)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            function = node.value.func
            places += [function.value] if isinstance(function, ast.Attribute) else []
    found: set[str] = set()
    for place in places:
        while isinstance(place, (ast.Subscript, ast.Starred)):
            place = place.value
        if isinstance(place, ast.Attribute):
            found.add(ast.unparse(place))
    return found


def _deleted(statement: ast.stmt) -> set[str]:
    return {t.id for t in getattr(statement, "targets", ()) if isinstance(t, ast.Name)}


def _prints(statement: ast.stmt) -> bool:
    return any(
        isinstance(node, ast.Call) and name_of(node.func) == "print"
        for node in all_nodes(statement)
    )


def leaves(statement: ast.AST, in_loop: bool = False) -> bool:
    """`continue`, `break` or `return` of the code around: a function of its own cannot do that."""
    if isinstance(statement, (ast.Return, ast.Yield, ast.YieldFrom)):
        return True
    if isinstance(statement, (ast.Continue, ast.Break)):
        return not in_loop
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
        return False
    inside = in_loop or isinstance(statement, (ast.For, ast.AsyncFor, ast.While))
    return any(leaves(child, inside) for child in child_nodes(statement))

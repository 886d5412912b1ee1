"""One walk over a file that hands each node to the passes, in their declared order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import libcst as cst

from migrate.pipeline.context import Context
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.syntax.node_pairs import pair_nodes
from migrate.syntax.walk import Enter, Leave, walk_lazily

_HANDLERS = ("visit_", "propose_", "leave_")
_Handler = Callable[[Any, Any], Any]


def rewrite_nodes(
    module: cst.Module, context: Context, passes: Sequence[Callable[[FileRewrite], NodePass]]
) -> cst.Module:
    """The module as the passes leave it. Raises JoinError where the trees disagree."""
    context.pairs = pair_nodes(context.tree, module)
    file = FileRewrite(context, context.pairs)
    driver = _Driver(file, [make(file) for make in passes])
    new = walk_lazily(module, driver.handlers, cst.CSTTransformer())
    for one in driver.passes:
        one.finish()
    return new


class _Driver:
    def __init__(self, file: FileRewrite, passes: Sequence[NodePass]) -> None:
        self.file = file
        self.passes = passes
        self._found: dict[str, list[Any]] = {}  # methods by their names, in the order of the passes
        for one in passes:
            kind: Any = type(one)
            for name in _handlers_of(kind):
                self._found.setdefault(name, []).append(getattr(one, name))

    def handlers(self, kind: type[cst.CSTNode]) -> tuple[Enter | None, Leave | None]:
        """What is done with nodes of a kind on the way down and on the way up."""
        name = kind.__name__
        return self._enter(kind, self._methods(f"visit_{name}")), self._leave(
            kind, self._methods(f"propose_{name}"), self._methods(f"leave_{name}")
        )

    def _methods(self, name: str) -> list[Any]:
        return self._found.get(name, [])

    def _enter(self, kind: type[cst.CSTNode], visits: list[Callable[[Any], Any]]) -> Enter | None:
        moves = _ENTER.get(kind)
        if not visits and moves is None:
            return None
        file = self.file

        def enter(node: Any) -> bool:
            inside = True
            for visit in visits:
                inside = visit(node) is not False and inside
            if moves is not None:
                moves(file, node)
            return inside

        return enter

    def _leave(
        self, kind: type[cst.CSTNode], proposals: list[_Handler], leaves: list[_Handler]
    ) -> Leave | None:
        moves = _LEAVE.get(kind)
        if moves is None and not proposals and not leaves:
            return None
        file, pairs = self.file, self.file.context.pairs

        def leave(original: Any, updated: Any) -> Any:
            if moves is not None:
                moves(file)
            new = updated
            for propose in proposals:
                proposed = propose(original, updated)
                if proposed is not None:
                    new = proposed
                    break
            for change in leaves:
                new = change(original, new)
            # What a node became means what the original meant: later passes ask its types.
            if new is not original and original in pairs and isinstance(new, cst.CSTNode):
                pairs.setdefault(new, pairs[original])
            return new

        return leave


@cache
def _handlers_of(kind: type[NodePass]) -> list[str]:
    return [name for name in dir(kind) if name.startswith(_HANDLERS)]


def _enter_function(file: FileRewrite, node: cst.CSTNode) -> None:
    file.position.functions.append(file.pairs.get(node))


def _leave_function(file: FileRewrite) -> None:
    file.position.functions.pop()


def _enter_class(file: FileRewrite, node: cst.CSTNode) -> None:
    file.position.classes.append(file.pairs[node])  # type: ignore[arg-type]


def _leave_class(file: FileRewrite) -> None:
    file.position.classes.pop()


def _enter_nested(file: FileRewrite, node: cst.CSTNode) -> None:
    file.position.nested += 1


def _leave_nested(file: FileRewrite) -> None:
    file.position.nested -= 1


def _enter_annotation(file: FileRewrite, node: cst.CSTNode) -> None:
    file.position.annotations += 1


def _leave_annotation(file: FileRewrite) -> None:
    file.position.annotations -= 1


_ENTER: dict[type[cst.CSTNode], Callable[[FileRewrite, cst.CSTNode], None]] = {
    cst.FunctionDef: _enter_function,
    cst.ClassDef: _enter_class,
    cst.Lambda: _enter_nested,
    cst.ListComp: _enter_nested,
    cst.GeneratorExp: _enter_nested,
    cst.Annotation: _enter_annotation,
}
_LEAVE: dict[type[cst.CSTNode], Callable[[FileRewrite], None]] = {
    cst.FunctionDef: _leave_function,
    cst.ClassDef: _leave_class,
    cst.Lambda: _leave_nested,
    cst.ListComp: _leave_nested,
    cst.GeneratorExp: _leave_nested,
    cst.Annotation: _leave_annotation,
}

"""A hook that keeps the output of a layer whose next layer works in place: torch's hook holds the
values behind that layer.

    self.relu(self.conv(x))     # relu in place
    net.conv.register_forward_hook(lambda m, i, out: kept.append(out.detach()))
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from migrate.flow.mutations import mutations
from migrate.flow.project_flags import builds_any_in_place
from migrate.pipeline import declare, flags
from migrate.pipeline.refusal import Refusal
from migrate.resolve.values import Instance, ProjectClass, ProjectFunction, options_of
from migrate.rewrite.node_pass import NodePass
from migrate.syntax.access import attribute_of
from migrate.syntax.ast_index import all_nodes

_HOOK = "torch.nn.Module.register_forward_hook"
# What gives the tensor itself or a view of it.
_SAME = frozenset({"detach", "data", "cpu", "to", "view", "squeeze", "numpy", "float"})
_STORING = frozenset({"append", "update", "insert", "setdefault", "add"})


_NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.relu = nn.Conv2d(3, 3, 1), nn.ReLU(inplace=True)

    def forward(self, x):
        return self.relu(self.conv(x))

kept = []
net = Net()
net.conv.register_forward_hook(lambda module, inputs, output: kept.append(output.detach()))
"""


@declare(
    phase="rewrite",
    unit="node",
    needs=["types", "effects"],
    examples=[flags(_NET, "the hook keeps an output that Net changes in place")],
)
class HookedOutputs(NodePass):
    """Flags them; the call itself is ported as it is."""

    def visit_Call(self, node: cst.Call) -> None:
        call = self.partner(node)
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return
        usage = self.context.usage(call.func)
        if usage is None or usage.api != _HOOK or not call.args:
            return
        if not self._keeps_output(call.args[0]):
            return
        reason = self._changed_later(call.func.value)
        if reason:
            step = "where the old value is meant, store output.clone() in the torch program"
            self.flag(call, Refusal(f"the hook keeps an output that {reason}", step, "MS403"))

    # The hook -----------------------------------------------------------------------------------

    def _keeps_output(self, hook: ast.expr) -> bool:
        """Its third argument, or a view of it, is stored somewhere."""
        functions = list(self._functions(hook))
        return not functions or any(map(_stores_last, functions))

    def _functions(self, node: ast.expr) -> Iterator[ast.FunctionDef | ast.Lambda]:
        if isinstance(node, ast.Lambda):
            yield node
            return
        called = node.func if isinstance(node, ast.Call) else None
        for option in options_of(self.context.type(called if called is not None else node)):
            if not isinstance(option, ProjectFunction) or isinstance(option.node, ast.Lambda):
                continue
            if called is None:
                yield option.node  # type: ignore[misc]
                continue
            for inner in all_nodes(option.node):  # `make_hook(name)`
                if isinstance(inner, (ast.FunctionDef, ast.Lambda)) and inner is not option.node:
                    yield inner

    # The layer ----------------------------------------------------------------------------------

    def _changed_later(self, layer: ast.expr) -> str:
        """What the next layer does to the output of this one; empty where nothing is known."""
        if isinstance(layer, ast.Attribute):
            owner = self.context.type(layer.value)
            options = [o.cls for o in options_of(owner) if isinstance(o, Instance)]
            own = [cls for cls in options if isinstance(cls, ProjectClass)]
            reasons = [self._changed_in(cls, layer.attr) for cls in own]
            return next(filter(None, reasons), "" if options else self._unseen())
        flow = self.context.flow.around(layer)
        layers = self.context.flow.effects.layers
        found = layers.of(layer, flow) if flow is not None else None
        if not isinstance(layer, (ast.Name, ast.Subscript)):
            return ""
        if found is None:
            return self._unseen()
        return f"another layer may change: {found.mutates.reason}" if found.mutates.unknown else ""

    def _unseen(self) -> str:
        if not builds_any_in_place(self.context.modules.project):
            return ""
        return "another layer may change: some of the program work in place, and this may be any"

    def _changed_in(self, cls: ProjectClass, name: str) -> str:
        for base in cls.lineage():
            methods = base.body.values() if isinstance(base, ProjectClass) else ()
            for method in methods:
                if isinstance(method, ProjectFunction) and self._changes_result(method, name):
                    return f"{cls.qualified} changes in place"
        return ""

    def _changes_result(self, method: ProjectFunction, name: str) -> bool:
        inner = self.context.flow.of(method)
        for change in mutations(inner):
            places = [change.place]
            if isinstance(change.place, ast.Name):
                defined = inner.defuse.reaching(change.place)
                places += [d.value for d in defined if d.value is not None]
            if any(_is_call_of(place, name) for place in places):
                return True
        return False


def _is_call_of(node: ast.expr, name: str) -> bool:
    """`self.conv(x)`"""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == name
        and getattr(node.func.value, "id", "") == "self"
    )


def _stores_last(function: ast.FunctionDef | ast.Lambda) -> bool:
    names = [argument.arg for argument in function.args.args]
    if len(names) < 3:
        return True
    for node in all_nodes(function):
        values: list[ast.expr] = []
        if isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name):
            values = [node.value]
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _STORING:
            values = [*node.args, *(keyword.value for keyword in node.keywords)]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "setattr":
            values = node.args[2:]
        if any(_is_itself(value, names[-1]) for value in values):
            return True
    return False


def _is_itself(node: ast.expr, name: str) -> bool:
    if isinstance(node, (ast.Tuple, ast.List)):
        return any(_is_itself(part, name) for part in node.elts)
    while True:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func
        inside = attribute_of(node) in _SAME
        if not inside and not isinstance(node, ast.Subscript):
            return isinstance(node, ast.Name) and node.id == name
        node = node.value  # type: ignore[attr-defined]

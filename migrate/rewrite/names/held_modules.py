"""`T = torchvision.transforms`: the value itself, once all its members are written as MindSpore's.

It becomes the MindSpore module where most of them are, if reading the program shows every use of
it: a name that is read as `T.Compose` and nothing else, an attribute, a function's result. Handed
on to anything else, it keeps its finding.
"""

from __future__ import annotations

import ast

from migrate.pipeline.context import Context
from migrate.resolve.held_modules import modules_in
from migrate.syntax.access import is_read, is_store
from migrate.syntax.ast_index import all_nodes, nodes_of, parents_of

TARGETS = {
    "torch": "mindspore",
    "torch.nn": "mindspore.nn",
    "torch.nn.functional": "mindspore.ops",
    "torchvision.transforms": "mindspore.dataset.vision",
    "torchvision.transforms.v2": "mindspore.dataset.vision",
}
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def find_held_modules(tree: ast.Module, context: Context) -> dict[ast.AST, str]:
    """The module in MindSpore, by the expression that names torch's.

    In a file that is ported already, one that is left has its finding, and its uses may be gone.
    """
    scope = context.resolution.scope
    if scope is not None and scope.ported:
        return {}
    held = {
        node: TARGETS[usage.api]
        for node in nodes_of(tree, ast.Name, ast.Attribute)
        if (usage := context.usage(node)) is not None
        and usage.form == "value"
        and usage.api in TARGETS
    }
    if not held:
        return {}
    search = _Search(tree, context)
    return held if search.every_use_is_known(set(held)) else {}


class _Search:
    def __init__(self, tree: ast.Module, context: Context) -> None:
        self.tree = tree
        self.context = context
        self.parents = parents_of(tree)
        self.shared: set[str] = set()  # names that other files could read it by

    def every_use_is_known(self, held: set[ast.AST]) -> bool:
        # Every attribute of a name counts as a use of the whole path, hence only the outermost.
        return all(
            self._is_followed(node)
            for node in all_nodes(self.tree)
            if isinstance(node, ast.expr)
            and (node in held or (self._holds(node) and not self._is_import(node)))
        ) and not any(self._occurs_elsewhere(name) for name in self.shared)

    def _holds(self, node: ast.expr) -> bool:
        if is_store(node):
            return False
        return bool(modules_in(self.context.type(node), self.context.table))

    def _is_import(self, node: ast.expr) -> bool:
        """`transforms` in `transforms.Compose`, where an import gave the name."""
        return isinstance(self.parents.get(node), ast.Attribute)

    def _is_followed(self, node: ast.expr) -> bool:
        parent = self.parents.get(node)
        if isinstance(parent, ast.Attribute):
            return True
        if isinstance(parent, ast.IfExp):
            return parent.test is not node and self._holds(parent)
        if isinstance(parent, ast.Assign):
            return all(self._all_reads_hold(target, parent) for target in parent.targets)
        if isinstance(parent, ast.Return):
            return self._is_only_called(parent)
        return False

    def _all_reads_hold(self, target: ast.expr, statement: ast.AST) -> bool:
        """Whoever reads this name, or an attribute of this name, reads a module."""
        if isinstance(target, ast.Name):
            if self._function(statement) is None:
                self.shared.add(target.id)
            named = [n for n in nodes_of(self.tree, ast.Name) if n.id == target.id]
        elif isinstance(target, ast.Attribute):
            self.shared.add(target.attr)
            named = [n for n in nodes_of(self.tree, ast.Attribute) if n.attr == target.attr]
        else:
            return False
        return all(self._holds(node) for node in named if is_read(node))

    def _is_only_called(self, statement: ast.AST) -> bool:
        function = self._function(statement)
        if function is None or isinstance(self.parents.get(function), ast.ClassDef):
            return False
        self.shared.add(function.name)
        for node in nodes_of(self.tree, ast.Name):
            if node.id == function.name:
                call = self.parents.get(node)
                if not (isinstance(call, ast.Call) and call.func is node and self._holds(call)):
                    return False
        return True

    def _function(self, node: ast.AST | None) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        while node is not None and not isinstance(node, _FUNCTIONS):
            node = self.parents.get(node)
        return node

    def _occurs_elsewhere(self, name: str) -> bool:
        own = self.context.resolution.source
        project = self.context.modules.project
        others = (file for file in project.files if file.path != own.path)
        return any(project.scans.names_any(file.path, {name}) for file in others)

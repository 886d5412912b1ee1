"""Classes of torch that the program chooses while it runs: by name, or by the class of a layer."""

from __future__ import annotations

import libcst as cst

from migrate.rewrite.names.getattr_tables import find_getattr_tables
from migrate.rewrite.names.runtime_class_checks import classes_to_ask_for
from migrate.rewrite.node_pass import FileAccess, FileRewrite
from migrate.syntax.nodes import expression
from migrate.syntax.text import code


class RuntimeChoices(FileAccess):
    """Where the file does so."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        tree = self.context.tree
        self.asked_classes = classes_to_ask_for(tree, self.context)
        self.getattr_tables = find_getattr_tables(tree, self.context)
        self.namespaces = {found.owner.node for found in self.getattr_tables.values()}

    def class_of(self, layer: cst.BaseExpression) -> cst.BaseExpression:
        return expression(f"{self.spelling.name('helpers.torch_class')}({code(layer)})")

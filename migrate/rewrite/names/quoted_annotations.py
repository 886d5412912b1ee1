"""Annotations in quotes: `"nn.Module"` is a name as well."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from migrate.rewrite.names.library_names import LibraryNames


class Spelled(ast.NodeTransformer):
    """Puts MindSpore's names into a parsed annotation."""

    def __init__(self, references: LibraryNames) -> None:
        self.references = references

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._named(node) or node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return self._named(node) or node

    def _named(self, node: ast.expr) -> ast.expr | None:
        name = self.references.quoted_name(node)
        return None if name is None else ast.parse(name, mode="eval").body

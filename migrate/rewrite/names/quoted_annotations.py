"""`x: "torch.Tensor"`: an annotation in quotes is a name as well, and one that MindSpore has no
class for is put in quotes.
"""

from __future__ import annotations

import ast
import copy

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.pipeline.refusal import Refusal
from migrate.rewrite.names.library_names import LibraryNames
from migrate.rewrite.names.reference_forms import ReferenceForms
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.syntax.ast_index import all_nodes
from migrate.syntax.text import code


@declare(
    phase="rewrite",
    unit="node",
    needs=["usages"],
    examples=[
        becomes(
            """
            def first(x: "torch.Tensor", shape: "torch.Size") -> "torch.Tensor":
                return x
            """,
            """
            def first(x: 'Tensor', shape: 'tuple') -> 'Tensor':
                return x
            """,
        )
    ],
)
class QuotedAnnotations(NodePass):
    """Names in annotations."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._names = file.shared(LibraryNames)
        self._forms = file.shared(ReferenceForms)
        self._quoted = dict(self.context.resolution.quoted)
        self._usages = {
            ast.unparse(part): usage
            for annotation in self._quoted.values()
            for part in all_nodes(annotation)
            if (usage := self.context.usage(part)) is not None
        }

    def visit_Annotation(self, node: cst.Annotation) -> None:
        self._forms.unknown_type = False

    def leave_Annotation(self, original: cst.Annotation, updated: cst.Annotation) -> cst.Annotation:
        if not self._forms.unknown_type:
            return updated
        # As a whole: `"torch.jit.Final"[int]` and `"torch.X" | None` are errors when Python runs.
        text = code(updated.annotation.with_changes(lpar=[], rpar=[]))
        return updated.with_changes(annotation=cst.SimpleString(repr(" ".join(text.split()))))

    def propose_SimpleString(
        self, original: cst.SimpleString, updated: cst.SimpleString
    ) -> cst.BaseExpression | None:
        text = original.evaluated_value if self.file.position.annotations else None
        tree = self._quoted.get(text) if isinstance(text, str) else None
        if tree is None:
            return None
        new = _Spelled(self).visit(copy.deepcopy(tree))
        # Single quotes inside need double ones outside, and the other way round.
        quote = original.quote
        inside = ast.unparse(new).replace(quote[0], "'" if quote[0] == '"' else '"')
        return updated.with_changes(value=f"{quote}{inside}{quote}")

    def name(self, node: ast.expr) -> str | None:
        """MindSpore's name for a part of an annotation."""
        usage = self._usages.get(ast.unparse(node))
        if usage is None:
            return None
        try:
            self.context.ported += 1
            return code(self._names.named(usage, self._names.row(usage)))
        except Refusal:
            return None


class _Spelled(ast.NodeTransformer):
    """Puts MindSpore's names into a parsed annotation."""

    def __init__(self, annotations: QuotedAnnotations) -> None:
        self._annotations = annotations

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._named(node) or node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return self._named(node) or node

    def _named(self, node: ast.expr) -> ast.expr | None:
        name = self._annotations.name(node)
        return None if name is None else ast.parse(name, mode="eval").body

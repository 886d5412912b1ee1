"""`try: loss = model(x) ... except RuntimeError:`: MindSpore runs operators asynchronously, so that
an error surfaces behind the try, and raises ValueError or TypeError for RuntimeError.
"""

from __future__ import annotations

import ast

import libcst as cst

from migrate.pipeline import becomes, declare, same
from migrate.resolve.values import is_tensor
from migrate.rewrite.node_pass import NodePass
from migrate.syntax.ast_index import all_nodes
from migrate.syntax.nodes import expression
from migrate.syntax.text import code

_HELPERS = {
    "RuntimeError": "helpers.tensor_errors",
    "IndexError": "helpers.index_errors",
    "Exception": "helpers.any_error",
}


@declare(
    phase="rewrite",
    unit="node",
    needs=["types"],
    examples=[
        becomes(
            """
            def square(x: torch.Tensor):
                try:
                    return x @ x
                except RuntimeError:
                    return x
            """,
            """
            def square(x: Tensor):
                try:
                    return x @ x
                except helpers.tensor_errors:
                    return x
            """,
        ),
        becomes(
            """
            def first(x: torch.Tensor, i: torch.Tensor):
                try:
                    return x[i]
                except (IndexError, KeyError):
                    return x
            """,
            """
            def first(x: Tensor, i: Tensor):
                try:
                    return x[i]
                except (*helpers.index_errors, KeyError):
                    return x
            """,
        ),
        becomes(
            """
            def check(net: nn.Module, x: torch.Tensor):
                try:
                    return net(x)
                except ValueError as e:
                    return str(e)
            """,
            """
            def check(net: nn.Cell, x: Tensor):
                try:
                    return net(x)
                except ValueError as e:
                    helpers.without_call_stack(e)
                    return str(e)
            """,
        ),
        same("try:\n    n = int('3')\nexcept RuntimeError:\n    pass"),
    ],
)
class CaughtErrors(NodePass):
    """Catches what MindSpore raises, and has operators raise where they are called."""

    def leave_Try(self, original: cst.Try, updated: cst.Try) -> cst.Try:
        partner = self.partner(original)
        if not isinstance(partner, ast.Try):
            return updated
        if not any(self._computes(statement) for statement in partner.body):
            return updated
        pairs = zip(original.handlers, updated.handlers, strict=True)
        handlers = [self._handler(old, new) for old, new in pairs]
        handlers = [
            self._with_own_words(handler) if _is_used(node) else handler
            for handler, node in zip(handlers, partner.handlers, strict=True)
        ]
        return updated.with_changes(handlers=handlers)

    def _with_own_words(self, handler: cst.ExceptHandler) -> cst.ExceptHandler:
        """`except ValueError as e: print(e)`: compiled code adds to the message where it rose."""
        if handler.name is None or not isinstance(handler.body, cst.IndentedBlock):
            return handler
        function = self.spelling.name("helpers.without_call_stack")
        line = cst.parse_statement(f"{function}({code(handler.name.name)})\n")
        return handler.with_changes(body=handler.body.with_changes(body=[line, *handler.body.body]))

    def _computes(self, statement: ast.stmt) -> bool:
        """Whether an operator may run in the statement."""
        return any(
            isinstance(node, (ast.Call, ast.BinOp, ast.Subscript))
            and is_tensor(self.context.type(node))
            for node in all_nodes(statement)
        )

    def _handler(self, old: cst.ExceptHandler, handler: cst.ExceptHandler) -> cst.ExceptHandler:
        if isinstance(old.type, cst.Tuple) and isinstance(handler.type, cst.Tuple):
            pairs = zip(old.type.elements, handler.type.elements, strict=True)
            elements = [self._element(one, other) for one, other in pairs]
            return handler.with_changes(type=handler.type.with_changes(elements=elements))
        helper = _HELPERS.get(code(old.type)) if old.type is not None else _HELPERS["Exception"]
        if helper is None:
            return handler
        new = expression(self.spelling.name(helper))
        space = cst.SimpleWhitespace(" ")
        return handler.with_changes(type=new, whitespace_after_except=space)

    def _element(self, old: cst.BaseElement, element: cst.BaseElement) -> cst.BaseElement:
        """One of several kinds: except takes no tuple in a tuple."""
        helper = _HELPERS.get(code(old.value))
        if helper is None or not isinstance(element, cst.Element):
            return element
        value = expression(self.spelling.name(helper))
        return cst.StarredElement(value=value, comma=element.comma)


def _is_used(handler: ast.ExceptHandler) -> bool:
    """The handler reads the error that it catches."""
    return handler.name is not None and any(
        isinstance(node, ast.Name) and node.id == handler.name
        for statement in handler.body
        for node in all_nodes(statement)
    )

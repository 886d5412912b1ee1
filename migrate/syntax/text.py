"""The source text of libcst nodes.

libcst opens a context around every node so that others can note positions; nobody does here, and
these contexts are half of the time that the text takes.
"""

from __future__ import annotations

from contextlib import nullcontext
from functools import lru_cache
from typing import Any

import libcst as cst
from libcst._nodes.internal import CodegenState

_NOTHING = nullcontext()
_INDENT = " " * 4


class _Unrecorded(CodegenState):
    def record_syntactic_position(self, *_: Any, **__: Any) -> Any:
        return _NOTHING


class _Commented(_Unrecorded):
    """Notes comments on their way into the text."""

    found: list[str]

    def before_codegen(self, node: cst.CSTNode) -> None:
        if node.__class__ is cst.Comment:
            self.found.append(node.value)


def code(node: cst.CSTNode) -> str:
    """The text of a piece of a file."""
    return _text(node, _INDENT, "\n")


@lru_cache(maxsize=2)
def module_code(module: cst.Module) -> str:
    """The text of a file, in its own indentation and line ends."""
    return _text(module, module.default_indent, module.default_newline)


def comments(node: cst.CSTNode) -> list[str]:
    """All comments in a piece of source, in order."""
    state = _Commented(default_indent=_INDENT, default_newline="\n")
    state.found = []
    node._codegen(state)
    return state.found


def _text(node: cst.CSTNode, indent: str, newline: str) -> str:
    state = _Unrecorded(default_indent=indent, default_newline=newline)
    node._codegen(state)
    return "".join(state.tokens)

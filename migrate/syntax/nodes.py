"""Small libcst workshop: parse pieces of source, fill templates, put parentheses where they are
needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from operator import is_
from typing import Any, TypeVar

import libcst as cst

from migrate.syntax.walk import transform_lazily

Node = TypeVar("Node", bound=cst.CSTNode)

_HOLE = re.compile(r"\{(\w+)\}")
_SINGLE_QUOTED = re.compile(r"'([^'\"\\]*)'")
_PREFIX = "ms_hole_"
_ATOMS = (
    cst.Name,
    cst.Attribute,
    cst.Call,
    cst.Subscript,
    cst.Integer,
    cst.Float,
    cst.SimpleString,
    cst.FormattedString,
    cst.List,
    cst.Dict,
    cst.Set,
    cst.ListComp,
    cst.DictComp,
    cst.SetComp,
)


@lru_cache(maxsize=2048)
def expression(text: str) -> cst.BaseExpression:
    return cst.parse_expression(text)


def in_quotes(text: str, quote: str) -> str:
    """Source from the table, its strings in the quotes that the file prefers."""
    return _SINGLE_QUOTED.sub(r'"\1"', text) if quote == '"' else text


def styled(text: str, quote: str) -> cst.BaseExpression:
    return expression(in_quotes(text, quote))


def with_parts(node: Node, **parts: Any) -> Node:
    """The node with these fields, or the very node where it has them already."""
    new = {name: value for name, value in parts.items() if not _is_same(getattr(node, name), value)}
    return node.with_changes(**new) if new else node


def _is_same(old: Any, new: Any) -> bool:
    if old is new:
        return True
    sequences = isinstance(old, (tuple, list)) and isinstance(new, (tuple, list))
    return sequences and len(old) == len(new) and all(map(is_, old, new))


def atomic(node: cst.BaseExpression) -> cst.BaseExpression:
    """The same expression, fit to stand beside an operator or before a dot."""
    if isinstance(node, _ATOMS) or node.lpar:
        return node
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


class OtherQuotes(cst.CSTTransformer):
    """Gives strings that stand in these quotes the other ones."""

    def __init__(self, quote: str) -> None:
        super().__init__()
        self.quote = quote
        self.other = "'" if quote == '"' else '"'

    def leave_SimpleString(
        self, original_node: cst.SimpleString, updated_node: cst.SimpleString
    ) -> cst.SimpleString:
        value = updated_node.value
        if not value.startswith(self.quote) or self.other in value or "\\" in value:
            return updated_node
        return updated_node.with_changes(value=f"{self.other}{value[1:-1]}{self.other}")


def is_cheap(node: cst.BaseExpression) -> bool:
    """A name, a path of attributes or a constant: evaluating it twice changes nothing."""
    if isinstance(node, (cst.Subscript, cst.Attribute)):
        return is_cheap(node.value)
    if isinstance(node, cst.IfExp) and isinstance(node.test, cst.Call):
        return is_cheap(node.body) and is_cheap(node.orelse)  # a member chosen by type
    return dotted_name(node) is not None or literal(node) is not None


def holes(template: str) -> list[str]:
    return _HOLE.findall(template)


@lru_cache(maxsize=2048)
def _template(text: str) -> cst.BaseExpression:
    return cst.parse_expression(_HOLE.sub(lambda match: f"{_PREFIX}{match.group(1)}", text))


def is_hole_alone(template: str) -> bool:
    return _HOLE.fullmatch(template) is not None


def fill(
    template: str, values: Mapping[str, cst.BaseExpression], spell: Callable[[str], str]
) -> cst.BaseExpression:
    """The template with its holes filled, and its library names spelled for this file."""
    if is_hole_alone(template):
        return values[template[1:-1]]
    kept = _template(template)
    filled = transform_lazily(kept, _Fill(values, spell))
    # Each use is a node of its own: some are told apart by their identity.
    return filled.with_changes() if filled is kept else filled


class _Fill(cst.CSTTransformer):
    def __init__(
        self, values: Mapping[str, cst.BaseExpression], spell: Callable[[str], str]
    ) -> None:
        super().__init__()
        self.values = values
        self.spell = spell

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        hole = _hole_of(original_node.value)
        return updated_node.with_changes(value=self.values[hole]) if hole else updated_node

    def leave_Index(self, original_node: cst.Index, updated_node: cst.Index) -> cst.Index:
        hole = _hole_of(original_node.value)
        return updated_node.with_changes(value=self.values[hole]) if hole else updated_node

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        hole = _hole_of(original_node)
        return atomic(self.values[hole]) if hole else updated_node

    def visit_Attribute(self, node: cst.Attribute) -> bool:
        # A dotted library name is spelled as a whole; below it there is nothing to fill.
        return dotted_name(node) is None or _hole_of(_root(node)) is not None

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        dotted = dotted_name(original_node)
        if dotted is None or _hole_of(_root(original_node)) is not None:
            owner = updated_node.value
            if isinstance(owner, cst.Integer) and not owner.lpar:
                owner = owner.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
            return updated_node.with_changes(value=owner, attr=original_node.attr)
        try:
            return expression(self.spell(dotted))
        except KeyError:
            return updated_node


def _root(node: cst.BaseExpression) -> cst.BaseExpression:
    while isinstance(node, cst.Attribute):
        node = node.value
    return node


def _hole_of(node: cst.BaseExpression) -> str | None:
    if isinstance(node, cst.Name) and node.value.startswith(_PREFIX):
        return node.value[len(_PREFIX) :]
    return None


def dotted_name(node: cst.BaseExpression) -> str | None:
    """`a.b.c` as text when the expression is nothing but names and dots."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return None
    parts.append(node.value)
    return ".".join(reversed(parts))


def comments_in(text: str) -> list[str]:
    """All comments in whole lines of source; a number sign in a string is none."""
    if "#" not in text:
        return []
    return [found[1] for found in _STRING_OR_COMMENT.finditer(text) if found[1]]


_STRING_OR_COMMENT = re.compile(
    r"""'''(?:\\.|[^\\])*?'''|\"{3}(?:\\.|[^\\])*?\"{3}"""
    r"""|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|(#[^\n]*)""",
    re.DOTALL,
)


def comment_line(text: str) -> cst.EmptyLine:
    return cst.EmptyLine(indent=True, comment=cst.Comment(text))


def keyword_argument(name: str, value: cst.BaseExpression) -> cst.Arg:
    return cst.Arg(
        keyword=cst.Name(name),
        value=value,
        equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
    )


def literal(node: cst.BaseExpression) -> str | None:
    """The source of a constant in its plain form, or None when it is computed."""
    if isinstance(node, cst.SimpleString):
        return repr(node.evaluated_value)
    if isinstance(node, (cst.Integer, cst.Float, cst.Imaginary)):
        return node.value
    if isinstance(node, cst.Name) and node.value in ("True", "False", "None"):
        return node.value
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        inner = literal(node.expression)
        return None if inner is None else f"-{inner}"
    if isinstance(node, (cst.Tuple, cst.List)):
        inner_texts = [literal(element.value) for element in node.elements]
        if any(text is None for text in inner_texts):
            return None
        inside = ", ".join(text for text in inner_texts if text is not None)
        if isinstance(node, cst.List):
            return f"[{inside}]"
        return f"({inside},)" if len(inner_texts) == 1 else f"({inside})"
    return None


def as_tuple(node: cst.List) -> cst.Tuple:
    """A list that is written out, as a tuple: not every MindSpore function takes both."""
    elements = list(node.elements)
    if len(elements) == 1:
        elements = [elements[0].with_changes(comma=cst.Comma())]
    return cst.Tuple(elements, lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def one_of_list(node: cst.Subscript) -> cst.BaseExpression:
    """`float(rates[0])` for `[float(r) for r in rates][0]`: the one that is meant, not all."""
    listed, index = node.value, node.slice[0].slice
    if (
        not isinstance(listed, cst.ListComp)
        or listed.for_in.ifs
        or listed.for_in.inner_for_in is not None
        or not isinstance(listed.elt, cst.Call)
        or len(node.slice) != 1
        or not isinstance(index, cst.Index)
    ):
        return node
    target, arguments = listed.for_in.target, listed.elt.args
    if len(arguments) != 1 or not arguments[0].value.deep_equals(target):
        return node
    one = node.with_changes(value=atomic(listed.for_in.iter))
    return cst.Call(func=listed.elt.func, args=[cst.Arg(one)])

"""What becomes text: the arguments of print and str, the values in f-strings and formats.

    print("shape", x.shape)     f"{x.dtype}"     "%s" % x.size()     log.info("%s", loss)

A list, tuple, dict or comprehension that is written there shows each of its values.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate.syntax.ast_index import nodes_of

_FUNCTIONS = frozenset({"print", "str", "repr", "format", "ascii"})
# Methods of loggers, progress bars and files.
_METHODS = frozenset(
    """
    critical debug error exception fatal info log print set_description set_postfix warn warning
    write
    """.split()  # noqa: SIM905
)


def shown_values(tree: ast.Module) -> Iterator[ast.expr]:
    """Every expression whose text is asked for."""
    for node in nodes_of(tree, ast.Call, ast.FormattedValue, ast.BinOp):
        if isinstance(node, ast.Call):
            yield from _of_call(node)
        elif isinstance(node, ast.FormattedValue):
            if node.format_spec is None:
                yield from _parts(node.value)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and _is_text(node.left):
            yield from _parts(node.right)


def _of_call(node: ast.Call) -> Iterator[ast.expr]:
    function = node.func
    if isinstance(function, ast.Name) and function.id in _FUNCTIONS:
        given = node.args if function.id == "print" else node.args[:1]
    elif isinstance(function, ast.Attribute) and (
        _is_logging(function.attr, node) or (function.attr == "format" and _is_text(function.value))
    ):
        given = [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg)]
    else:
        return
    for argument in given:
        yield from _parts(argument)


def _is_logging(name: str, call: ast.Call) -> bool:
    """`logger.info(x)`, `logger.log(level, x)`, but not `torch.log(x)`."""
    return name in _METHODS and (name != "log" or len(call.args) > 1)


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        for element in node.elts:
            yield from _parts(element)
    elif isinstance(node, ast.Dict):
        for value in node.values:
            yield from _parts(value)
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
        yield from _parts(node.elt)
    elif isinstance(node, ast.DictComp):
        yield from _parts(node.value)
    elif isinstance(node, ast.IfExp):
        yield from _parts(node.body)
        yield from _parts(node.orelse)
    else:
        yield node.value if isinstance(node, ast.Starred) else node


def _is_text(node: ast.expr) -> bool:
    if isinstance(node, ast.JoinedStr):
        return True
    if isinstance(node, ast.BinOp):
        return _is_text(node.left) or _is_text(node.right)
    return isinstance(node, ast.Constant) and isinstance(node.value, str)

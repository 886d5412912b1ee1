"""`found.insert(0, y)`, `dict(a=y)`: MindSpore 2.10 compiles them without the gradients of what
they hold, and nothing says so. Displays and sums of lists keep them.
"""

from __future__ import annotations

import ast
import re
import textwrap

import libcst as cst

from migrate.graph_mode.vars_of_kind import lists_in, vars_of_kind
from migrate.pipeline import becomes, declare
from migrate.pipeline.context import Context
from migrate.syntax.nodes import atomic, expression, is_cheap
from migrate.syntax.text import code
from migrate.syntax.walk import transform_lazily

_MADE = re.compile(r"\.(?:insert|extend|remove|reverse|sort|copy|pop)\(|\b(?:dict|OrderedDict)\(")
_DICTS = frozenset({"dict", "OrderedDict", "collections.OrderedDict"})


@declare(
    phase="graph_mode",
    unit="function",
    needs=["compiled"],
    after={
        "expand_pop": "there `found = [y] + found` would count as an escape of the list",
        "expand_item_augassign": "there `found = [y] + found` would count as an escape of the list",
    },
    examples=[
        becomes("found = [x]\nfound.insert(0, y)", "found = [x]\nfound = [y] + found"),
        becomes("out = dict(a=x)", "out = {'a': x}"),
    ],
)
def functional_collections(
    function: cst.FunctionDef, text: str, context: Context
) -> cst.FunctionDef:
    """`found = [y] + found`, `{"a": y}`."""
    if not _MADE.search(text):
        return function
    tree = ast.parse(textwrap.dedent(text)).body[0]
    kept = _kept_elsewhere(tree)
    lists = lists_in(tree) - kept
    dicts = vars_of_kind(tree, _makes_dict) - kept | _keywords(tree)
    taken = set(re.findall(r"\w+", text))
    return transform_lazily(function, _WriteOut(lists, dicts, taken))


class _WriteOut(cst.CSTTransformer):
    def __init__(self, lists: set[str], dicts: set[str], taken: set[str]) -> None:
        super().__init__()
        self._lists = lists
        self._dicts = dicts
        self._key = "key" if "key" not in taken else "each_key"
        self._value = "value" if "value" not in taken else "each_value"

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine | cst.FlattenSentinel[cst.SimpleStatementLine]:
        small = updated_node.body[0]
        if len(updated_node.body) != 1 or not isinstance(small, cst.Assign | cst.Expr):
            return updated_node
        name, method, arguments = _method(small.value)
        if method == "pop" and name in self._dicts:
            return self._popped(updated_node, small, name, arguments)
        if not isinstance(small, cst.Expr):
            return updated_node
        sorted_list = self._sorted(small.value)
        if sorted_list:
            return updated_node.with_changes(body=[_assigned(*sorted_list)])
        if name not in self._lists:
            return updated_node
        new = _longer(name, method, arguments)
        if new is None:
            return updated_node
        return updated_node.with_changes(body=[_assigned(name, new)])

    def _sorted(self, call: cst.BaseExpression) -> tuple[str, str] | None:
        """`sizes.sort(reverse=True)`, which the compiler passes over in silence."""
        if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute):
            return None
        name = code(call.func.value)
        if call.func.attr.value != "sort" or name not in self._lists:
            return None
        given = "".join(
            f", {code(a.with_changes(comma=cst.MaybeSentinel.DEFAULT))}" for a in call.args
        )
        return name, f"sorted({name}{given})"

    def _popped(
        self,
        line: cst.SimpleStatementLine,
        small: cst.Assign | cst.Expr,
        name: str,
        arguments: list[cst.BaseExpression],
    ) -> cst.SimpleStatementLine | cst.FlattenSentinel[cst.SimpleStatementLine]:
        """`scale = options.pop("scale", 1)`: read, then left out."""
        if not arguments or not isinstance(arguments[0], cst.SimpleString) or len(arguments) > 2:
            return line
        key = code(arguments[0])
        pair = f"{self._key}: {self._value} for {self._key}, {self._value}"
        rest = cst.parse_statement(f"{name} = {{{pair} in {name}.items() if {self._key} != {key}}}")
        assert isinstance(rest, cst.SimpleStatementLine)
        if isinstance(small, cst.Expr):
            return rest.with_changes(leading_lines=line.leading_lines)
        read = (
            f"{name}[{key}]" if len(arguments) == 1 else f"{name}.get({key}, {code(arguments[1])})"
        )
        taken = line.with_changes(body=[small.with_changes(value=expression(read))])
        return cst.FlattenSentinel([taken, rest])

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        name, method, arguments = _method(updated_node)
        if method == "copy" and not arguments and name in self._lists:
            return expression(f"list({name})")
        if method == "copy" and not arguments and name in self._dicts:
            return self._of_pairs(f"{name}.items()")
        if code(updated_node.func) not in _DICTS or not updated_node.args:
            return updated_node
        return self._dict(updated_node) or updated_node

    def _dict(self, call: cst.Call) -> cst.BaseExpression | None:
        """A call of dict as a display; None where its arguments do not tell the items."""
        if any(argument.star for argument in call.args):
            return None
        if all(argument.keyword is not None for argument in call.args):
            items = [f'"{a.keyword.value}": {code(a.value)}' for a in call.args if a.keyword]
            return expression(f"{{{', '.join(items)}}}")
        if len(call.args) > 1:
            return None
        held = call.args[0].value
        if isinstance(held, cst.Name) and held.value in self._dicts:
            return self._of_pairs(f"{held.value}.items()")
        if isinstance(held, cst.List | cst.Tuple):
            pairs = [element.value for element in held.elements]
            if all(isinstance(p, cst.Tuple | cst.List) and len(p.elements) == 2 for p in pairs):
                items = [": ".join(code(e.value) for e in p.elements) for p in pairs]  # type: ignore[attr-defined]
                return expression(f"{{{', '.join(items)}}}")
        if isinstance(held, cst.GeneratorExp):
            held = cst.ListComp(elt=held.elt, for_in=held.for_in)
        pairs_given = isinstance(held, cst.ListComp) or (
            isinstance(held, cst.Call) and code(held.func) in ("zip", "enumerate")
        )
        return self._of_pairs(code(held)) if pairs_given else None

    def _of_pairs(self, pairs: str) -> cst.BaseExpression:
        names = f"{self._key}, {self._value}"
        return expression(f"{{{self._key}: {self._value} for {names} in {pairs}}}")


def _assigned(name: str, value: str) -> cst.Assign:
    return cst.Assign([cst.AssignTarget(cst.Name(name))], expression(value))


def _method(value: cst.BaseExpression) -> tuple[str, str, list[cst.BaseExpression]]:
    """Name, method and arguments of `found.insert(0, y)`; nothing for other calls."""
    if (
        not isinstance(value, cst.Call)
        or not isinstance(value.func, cst.Attribute)
        or not isinstance(value.func.value, cst.Name)
        or any(a.keyword or a.star for a in value.args)
    ):
        return "", "", []
    return value.func.value.value, value.func.attr.value, [a.value for a in value.args]


def _longer(name: str, method: str, arguments: list[cst.BaseExpression]) -> str | None:
    """The list after its change."""
    if method == "insert" and len(arguments) == 2:
        at, item = code(arguments[0]), code(arguments[1])
        if at == "0":
            return f"[{item}] + {name}"
        return (
            f"{name}[:{at}] + [{item}] + {name}[{at}:]"
            if at.isidentifier() or at.isdigit()
            else None
        )
    if method == "extend" and len(arguments) == 1:
        (more,) = arguments
        whole = isinstance(more, cst.List | cst.ListComp)
        return f"{name} + {code(atomic(more)) if whole else f'list({code(more)})'}"
    if method == "reverse" and not arguments:
        return f"{name}[::-1]"
    if method == "remove" and len(arguments) == 1 and is_cheap(arguments[0]):
        place = f"{name}.index({code(arguments[0])})"
        return f"{name}[:{place}] + {name}[{place} + 1:]"
    return None


def _kept_elsewhere(function: ast.AST) -> set[str]:
    """Variables whose value gets another name."""
    values = [node.value for node in ast.walk(function) if isinstance(node, ast.Assign)]
    return {name for value in values for name in _names_kept(value)}


def _makes_dict(value: ast.expr, name: str) -> bool:
    if isinstance(value, ast.Call):
        return ast.unparse(value.func) in _DICTS
    return isinstance(value, ast.Dict | ast.DictComp)


def _names_kept(value: ast.expr) -> set[str]:
    """`other = found`, `pair = [found, x]`: names of the list that live on."""
    if isinstance(value, ast.Name):
        return {value.id}
    if isinstance(value, ast.List | ast.Tuple):
        return {name for item in value.elts for name in _names_kept(item)}
    if isinstance(value, ast.Dict):
        return {name for item in value.values for name in _names_kept(item)}
    return set()


def _keywords(function: ast.AST) -> set[str]:
    """`**options` of the function itself: a dictionary of its own."""
    rest = function.args.kwarg if isinstance(function, ast.FunctionDef) else None
    return {rest.arg} if rest is not None else set()

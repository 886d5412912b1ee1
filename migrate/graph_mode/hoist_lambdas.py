"""Lambdas that a Cell may be made of, on lines of their own: the compiler reads a lambda by its
line, and takes none that stands in a list, behind an `or`, or as a parameter's default.

A lambda with defaults (`lambda x, f=f: f(x)`) does not compile at all; the helpers hold its values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import libcst as cst

from migrate.graph_mode.compiled_functions import all_compiled_names
from migrate.pipeline import becomes, declare
from migrate.pipeline.context import Context
from migrate.syntax.children import code_nodes
from migrate.syntax.collapse_lines import on_one_line
from migrate.syntax.import_planner import HELPERS, ImportPlanner
from migrate.syntax.nodes import dotted_name, expression
from migrate.syntax.text import code
from migrate.syntax.walk import transform_lazily

_LIBRARIES = frozenset({"mindspore", "nn", "ops", "mint", HELPERS})
_COLLECTORS = frozenset({"append", "insert"})
_Line = cst.SimpleStatementLine


@declare(
    phase="graph_mode",
    unit="module",
    needs=["classes", "compiled"],
    examples=[
        becomes(
            """
            class Block(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.parts = [lambda t: t + 1, lambda t: t * 2]
            """,
            """
            class Block(nn.Cell):
                def __init__(self):
                    super().__init__()
                    function = lambda t: t + 1
                    function_2 = lambda t: t * 2
                    self.parts = [function, function_2]
            """,
        ),
    ],
)
def hoist_lambdas(module: cst.Module, context: Context) -> cst.Module:
    """In the classes that become Cells, and in the functions that are compiled."""
    cells = [cls.qualified for cls in context.module_classes.values()]
    if not cells or "lambda" not in context.text:
        return module
    taken = {node.value for node in code_nodes(module) if isinstance(node, cst.Name)}
    compiled = all_compiled_names(context)
    return transform_lazily(module, _Lines(cells, compiled, taken, context.spelling))


class _Lines(cst.CSTTransformer):
    def __init__(
        self,
        cells: Collection[str],
        compiled: Collection[str],
        taken: set[str],
        spelling: ImportPlanner,
    ) -> None:
        super().__init__()
        self._cells = cells
        self._compiled = compiled
        self._taken = taken
        self._spelling = spelling
        self._path: list[str] = []
        self._kinds: list[type] = []
        self._before_class: list[_Line] = []

    # Scopes -------------------------------------------------------------------------------------

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        self._path.append(node.name.value)
        self._kinds.append(cst.ClassDef)

    def leave_ClassDef(self, original_node: cst.ClassDef, updated_node: cst.ClassDef) -> Any:
        self._path.pop()
        self._kinds.pop()
        if cst.ClassDef in self._kinds or not self._before_class:
            return updated_node
        lines, self._before_class = self._before_class, []
        return _in_front(lines, updated_node)

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        self._path.append(node.name.value)
        self._kinds.append(cst.FunctionDef)

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> Any:
        dotted = ".".join(self._path)
        self._path.pop()
        self._kinds.pop()
        own = dotted in self._compiled or self._in_cell()
        if cst.FunctionDef in self._kinds:
            return updated_node  # made each time that the function around it runs
        lines: list[_Line] = []
        parameters = [
            parameter.with_changes(default=self._default(parameter, lines, own))
            if isinstance(parameter.default, cst.Lambda)
            else parameter
            for parameter in updated_node.params.params
        ]
        if not lines:
            return updated_node
        changed = updated_node.with_changes(
            params=updated_node.params.with_changes(params=parameters)
        )
        if cst.ClassDef in self._kinds:
            # A line between methods would be an attribute of the class.
            self._before_class += lines
            return changed
        return _in_front(lines, changed)

    def visit_Lambda(self, node: cst.Lambda) -> bool:
        return False

    def _in_cell(self) -> bool:
        return any(
            ".".join(self._path[:end]) in self._cells for end in range(1, len(self._path) + 1)
        )

    def _is_compiled(self) -> bool:
        return any(
            ".".join(self._path[:end]) in self._compiled for end in range(1, len(self._path) + 1)
        )

    # Lambdas ------------------------------------------------------------------------------------

    def _default(self, parameter: cst.Param, lines: list[_Line], own: bool) -> cst.BaseExpression:
        value = parameter.default
        assert isinstance(value, cst.Lambda)
        if not own and not _is_of_tensors(value):
            return value
        return self._moved(value, f"default_{parameter.name.value}", lines)

    def leave_SimpleStatementLine(self, original_node: _Line, updated_node: _Line) -> Any:
        if len(updated_node.body) != 1 or self._is_compiled():
            return updated_node
        statement = updated_node.body[0]
        if not isinstance(statement, (cst.Assign, cst.AnnAssign, cst.Return, cst.Expr)):
            return updated_node
        value = statement.value
        if value is None:
            return updated_node
        lines: list[_Line] = []
        new = self._value(value, lines, alone=not isinstance(statement, (cst.Return, cst.Expr)))
        if new is value:
            return updated_node
        changed = updated_node.with_changes(body=[statement.with_changes(value=new)])
        if self._kinds and self._kinds[-1] is cst.ClassDef:
            self._before_class += lines
            return changed
        return _in_front(lines, changed)

    def _value(
        self, value: cst.BaseExpression, lines: list[_Line], *, alone: bool
    ) -> cst.BaseExpression:
        """The value of a statement, with its lambdas in lines before; `alone` where a lambda that
        is the whole value stands on a line of its own already.
        """
        found = _held(value)
        due = self._in_cell() or any(_is_of_tensors(one) for one, _ in found)
        if not found or not due:
            return value
        if value is found[0][0] and alone and not _defaults(found[0][0]):
            return value
        moved: dict[cst.Lambda, cst.BaseExpression] = {  # nodes are compared by identity
            one: self._moved(one, f"{key}_function" if key else "function", lines)
            for one, key in found
        }
        if all(new is one for one, new in moved.items()):
            return value
        return _replaced(value, lambda one: moved.get(one, one))

    def _moved(self, function: cst.Lambda, wish: str, lines: list[_Line]) -> cst.BaseExpression:
        """The name that the lambda gets, or what holds its defaults."""
        values = _defaults(function)
        if values is None:
            return function  # `*rest` and the like
        plain = function.with_changes(lpar=[], rpar=[])
        if values:
            parameters = [
                cst.Param(
                    parameter.name,
                    comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
                    if index + 1 < len(function.params.params)
                    else cst.MaybeSentinel.DEFAULT,
                )
                for index, parameter in enumerate(function.params.params)
            ]
            plain = plain.with_changes(params=cst.Parameters(parameters))
        name = self._name(wish)
        lines.append(_Line([cst.Assign([cst.AssignTarget(cst.Name(name))], on_one_line(plain))]))
        if not values:
            return cst.Name(name)
        holder = self._spelling.name(f"{HELPERS}.WithDefaults")
        return expression(f"{holder}({', '.join([name, *map(code, values)])})")

    def _name(self, wish: str) -> str:
        name, number = wish, 1
        while name in self._taken:
            number += 1
            name = f"{wish}_{number}"
        self._taken.add(name)
        return name


def _in_front(lines: list[_Line], statement: Any) -> Any:
    """The lines take the comments above the statement."""
    first = lines[0].with_changes(leading_lines=statement.leading_lines)
    space = [cst.EmptyLine(indent=False)] * 2 if isinstance(statement, cst.ClassDef) else []
    last = statement.with_changes(leading_lines=space)
    return cst.FlattenSentinel([first, *lines[1:], last])


def _held(value: cst.BaseExpression) -> list[tuple[cst.Lambda, str]]:
    """Lambdas that are values here, not arguments of a call that is made at once; with their keys
    in a dictionary.
    """
    if isinstance(value, cst.Lambda):
        return [(value, "")]
    if isinstance(value, cst.Dict):
        return [
            (one, key or _key(element))
            for element in value.elements
            for one, key in _held(element.value)
        ]
    if isinstance(value, (cst.List, cst.Tuple)):
        return [pair for element in value.elements for pair in _held(element.value)]
    if isinstance(value, cst.BooleanOperation):
        return [*_held(value.left), *_held(value.right)]
    if isinstance(value, cst.IfExp):
        return [*_held(value.body), *_held(value.orelse)]
    if isinstance(value, cst.Call) and _collects(value.func):
        return [pair for argument in value.args for pair in _held(argument.value)]
    return []


def _collects(function: cst.BaseExpression) -> bool:
    return isinstance(function, cst.Attribute) and function.attr.value in _COLLECTORS


def _key(element: cst.BaseDictElement) -> str:
    key = element.key if isinstance(element, cst.DictElement) else None
    text = key.raw_value if isinstance(key, cst.SimpleString) else ""
    return text if text.isidentifier() else ""


def _defaults(function: cst.Lambda) -> list[cst.BaseExpression] | None:
    """Of the last parameters; None where there are parameters of other kinds."""
    parameters = function.params
    if (
        parameters.kwonly_params
        or parameters.posonly_params
        or parameters.star_kwarg is not None
        or isinstance(parameters.star_arg, cst.Param)
    ):
        return None
    return [p.default for p in parameters.params if p.default is not None]


def _is_of_tensors(function: cst.Lambda) -> bool:
    """By what it does: it names MindSpore, gives back what it is given, or calls it."""
    parameters = {parameter.name.value for parameter in function.params.params}
    body = function.body
    if isinstance(body, cst.Name):
        return body.value in parameters
    return any(
        (isinstance(node, cst.Attribute) and _is_library(_first_name(node)))
        or (isinstance(node, cst.Call) and _first_name(node.func) in parameters)
        for node in code_nodes(body)
    )


def _first_name(node: cst.BaseExpression) -> str:
    """`f` of `f`, and of `f.apply`."""
    return (dotted_name(node) or "").partition(".")[0]


def _is_library(name: str) -> bool:
    return name in _LIBRARIES or name.startswith("ms_")


def _replaced(
    value: cst.BaseExpression, replace: Callable[[cst.Lambda], cst.BaseExpression]
) -> cst.BaseExpression:
    """The expression with its lambdas replaced."""
    if isinstance(value, cst.Lambda):
        return replace(value)
    return transform_lazily(value, _Replace(replace))


class _Replace(cst.CSTTransformer):
    def __init__(self, replace: Callable[[cst.Lambda], cst.BaseExpression]) -> None:
        super().__init__()
        self._replace = replace

    def visit_Lambda(self, node: cst.Lambda) -> bool:
        return False

    def leave_Lambda(
        self, original_node: cst.Lambda, updated_node: cst.Lambda
    ) -> cst.BaseExpression:
        return self._replace(original_node)

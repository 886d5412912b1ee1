"""Python that a compiled construct does not take, in forms that it does."""

from __future__ import annotations

import ast

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.resolve.values import UNKNOWN, External, Instance, ListOf, options_of
from migrate.rewrite.node_pass import NodePass
from migrate.syntax.ast_index import all_nodes
from migrate.syntax.nodes import atomic, expression, is_cheap
from migrate.syntax.text import code

_LAYERS = ("torch.nn.ModuleList", "torch.nn.Sequential")
_BACKWARDS = [cst.SubscriptElement(cst.Slice(None, None, cst.parse_expression("-1")))]

_PARTIAL = ("partial", "functools.partial")
_ITERATE = ("functools.reduce", "itertools.chain")
_REFUSED = ("all", "any", "divmod", "enumerate", "list", "map", "reversed", "zip")


@declare(
    phase="rewrite",
    unit="node",
    needs=["types", "compiled"],
    examples=[
        becomes("a, b = map(lambda t: t + x, (x, y))", "a, b = [t + x for t in (x, y)]"),
        becomes("n, m = divmod(x.shape[0], 2)", "n, m = (x.shape[0] // 2, x.shape[0] % 2)"),
    ],
)
class CompiledCode(NodePass):
    """Rewrites what Graph mode refuses: `map` with a lambda, `reversed` of layers, `sqrt`
    without `math`.
    """

    def leave_Raise(self, original: cst.Raise, updated: cst.Raise) -> cst.Raise:
        """`raise NotImplemented(...)` means the error, and the compiler takes only errors."""
        error = updated.exc
        name = error.func if isinstance(error, cst.Call) else error
        if not isinstance(name, cst.Name) or name.value != "NotImplemented":
            return updated
        assert error is not None
        return updated.with_deep_changes(name, value="NotImplementedError")

    def propose_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression | None:
        name = original.func.value if isinstance(original.func, cst.Name) else ""
        if name in _REFUSED and self.file.compiles(self.partner(original)):
            new = self._refused(name, original, updated)
            if new is not None:
                return new
        iterated = self._read_in_row(original, updated)
        if iterated is not None:
            return iterated
        if name and self.function is not None:
            callee = self.context.type(self.partner(original.func))
            if isinstance(callee, External) and callee.name.startswith("math."):
                # `sqrt(n)` of a size is no number to the compiler, `math.sqrt(n)` is.
                return updated.with_changes(func=expression(self.spelling.name(callee.name)))
        return None

    def _refused(
        self, name: str, original: cst.Call, updated: cst.Call
    ) -> cst.BaseExpression | None:
        """A builtin that compiled code does not take."""
        if name == "reversed" and self._is_sequence(self.partner(original)):
            return cst.Subscript(atomic(updated.args[0].value), _BACKWARDS)
        if name == "map":
            named = "item" if "item" not in self.spelling.taken else "each_item"
            return (
                _comprehension(updated)
                or _of_partial(updated, named)
                or _of_inner(updated, named, self.function)
                or updated
            )
        if name == "divmod" and all(is_cheap(a.value) for a in updated.args):
            whole, part = (code(atomic(a.value)) for a in updated.args)
            return expression(f"({whole} // {part}, {whole} % {part})")
        if name == "list" and _is_comprehension(updated):
            return updated.args[0].value
        inside = self.is_compiled(self.function)  # in a step, their result goes to Python, too
        if inside and name in ("all", "any") and _calls_for_each(updated):
            return self._over_values(name, updated)
        if name in ("enumerate", "zip"):
            return updated.with_changes(args=[*map(_sliced_range, updated.args)])
        return None

    def _read_in_row(self, original: cst.Call, call: cst.Call) -> cst.BaseExpression | None:
        """`reduce(f, parts)` and `chain(a, b)`: the compiler loses gradients in them."""
        callee = self.context.type(self.partner(original.func))
        known = isinstance(callee, External) and callee.name in _ITERATE
        if not known or not self.file.compiles(self.partner(original)):
            return None
        if any(argument.star or argument.keyword for argument in call.args) or not call.args:
            return None
        assert isinstance(callee, External)
        if callee.name == "functools.reduce":
            return call.with_changes(func=expression(self.spelling.name("helpers.reduce_values")))
        return expression(" + ".join(f"list({code(argument.value)})" for argument in call.args))

    def _over_values(self, name: str, call: cst.Call) -> cst.Call:
        """`all([fits(n) for n in x.shape])`: the compiler would look for `fits` in Python."""
        values = call.args[0].value
        if isinstance(values, cst.GeneratorExp):
            values = cst.ListComp(elt=values.elt, for_in=values.for_in)
        function = expression(self.spelling.name(f"helpers.{name}_of"))
        return call.with_changes(func=function, args=[call.args[0].with_changes(value=values)])

    def _is_sequence(self, call: ast.AST | None) -> bool:
        """Whether what is reversed can be sliced: a list or tuple, or layers in a container."""
        if not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords:
            return False
        (held,) = call.args
        if isinstance(held, ast.Call) and getattr(held.func, "id", "") in ("list", "tuple"):
            return True
        kinds = options_of(self.context.type(held))
        if kinds == (UNKNOWN,) and isinstance(held, (ast.Name, ast.Attribute, ast.Subscript)):
            return True  # left to Python it would have no gradient, and hardly anything else is
        return bool(kinds) and all(
            (isinstance(kind, ListOf) and kind.kind in ("list", "tuple"))
            or (isinstance(kind, Instance) and kind.cls in _LAYERS)
            for kind in kinds
        )


def _sliced_range(argument: cst.Arg) -> cst.Arg:
    """`zip(reversed(range(n)), layers)`: beside cells, the numbers would not be known any more."""
    call = argument.value
    if not isinstance(call, cst.Call) or code(call.func) != "reversed" or len(call.args) != 1:
        return argument
    numbers = call.args[0].value
    if not isinstance(numbers, cst.Call) or code(numbers.func) != "range":
        return argument
    return argument.with_changes(value=cst.Subscript(numbers, _BACKWARDS))


def _calls_for_each(call: cst.Call) -> bool:
    values = call.args[0].value if len(call.args) == 1 else None
    if not isinstance(values, (cst.ListComp, cst.GeneratorExp)):
        return False
    return any(isinstance(node, ast.Call) for node in all_nodes(ast.parse(f"({code(values.elt)})")))


def _is_comprehension(call: cst.Call) -> bool:
    return len(call.args) == 1 and isinstance(call.args[0].value, cst.ListComp)


def _comprehension(call: cst.Call) -> cst.ListComp | None:
    """`map(lambda t: f(t), parts)` as `[f(t) for t in parts]`.

    The lambda may use other names, which no compiled map can.
    """
    function = call.args[0].value if call.args else None
    if not isinstance(function, cst.Lambda) or any(a.keyword or a.star for a in call.args):
        return None
    parameters = function.params
    names = [parameter.name.value for parameter in parameters.params]
    plain = len(names) == len(call.args) - 1 == len(_all_parameters(parameters))
    if not plain or any(parameter.default is not None for parameter in parameters.params):
        return None
    items = [code(argument.value) for argument in call.args[1:]]
    source = items[0] if len(items) == 1 else f"zip({', '.join(items)})"
    made = expression(f"[_ for {', '.join(names)} in {source}]")
    assert isinstance(made, cst.ListComp)
    return made.with_changes(elt=function.body)


def _of_partial(call: cst.Call, name: str) -> cst.ListComp | None:
    """`map(partial(torch.cat, dim=1), pairs)` as `[torch.cat(item, dim=1) for item in pairs]`."""
    partial = call.args[0].value if len(call.args) == 2 else None
    if not isinstance(partial, cst.Call) or code(partial.func) not in _PARTIAL or not partial.args:
        return None
    if any(argument.star for argument in (*partial.args, *call.args)):
        return None
    function, *held = [code(a.with_changes(comma=cst.MaybeSentinel.DEFAULT)) for a in partial.args]
    places = sum(argument.keyword is None for argument in partial.args) - 1
    arguments = ", ".join([*held[:places], name, *held[places:]])
    made = expression(f"[{function}({arguments}) for {name} in {code(call.args[1].value)}]")
    assert isinstance(made, cst.ListComp)
    return made


def _of_inner(call: cst.Call, name: str, around: ast.AST | None) -> cst.ListComp | None:
    """`map(merge, (q, k))` of a function that is made here, and may use other names of this one."""
    function = call.args[0].value if len(call.args) == 2 else None
    if not isinstance(function, cst.Name) or any(a.keyword or a.star for a in call.args):
        return None
    for node in all_nodes(around or ast.Module([], [])):
        defined = isinstance(node, ast.FunctionDef) and node is not around
        bound = isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda)
        names = [t.id for t in getattr(node, "targets", ()) if isinstance(t, ast.Name)]
        if (defined and getattr(node, "name", "") == function.value) or (
            bound and function.value in names
        ):
            text = f"[{function.value}({name}) for {name} in {code(call.args[1].value)}]"
            made = expression(text)
            assert isinstance(made, cst.ListComp)
            return made
    return None


def _all_parameters(parameters: cst.Parameters) -> list[object]:
    found: list[object] = [
        *parameters.params,
        *parameters.posonly_params,
        *parameters.kwonly_params,
    ]
    if isinstance(parameters.star_arg, cst.Param):
        found.append(parameters.star_arg)
    if parameters.star_kwarg is not None:
        found.append(parameters.star_kwarg)
    return found

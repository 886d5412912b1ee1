"""The head of a piece without some of its parameters: on one line, on a line between the brackets,
or a line for each.
"""

from __future__ import annotations

import libcst as cst

_WIDTH = 100


def signed(function: cst.FunctionDef, without: set[str]) -> cst.FunctionDef:
    """The function without some parameters, on one line where it fits."""
    if not without:
        return function
    given = function.params
    kept = [one for one in given.params if one.name.value not in without]
    named = [one for one in given.kwonly_params if one.name.value not in without]
    star = given.star_arg
    if not named and isinstance(star, cst.ParamStar):
        star = cst.MaybeSentinel.DEFAULT
    plain = cst.Parameters(
        params=[_alone(one) for one in kept],
        star_arg=_alone(star) if isinstance(star, cst.Param) else star,
        kwonly_params=[_alone(one) for one in named],
        star_kwarg=_alone(given.star_kwarg) if given.star_kwarg else None,
    )
    if isinstance(plain.star_arg, cst.ParamStar):
        plain = plain.with_changes(star_arg=cst.ParamStar())
    one_line = function.with_changes(
        params=plain, whitespace_before_params=cst.SimpleWhitespace("")
    )
    head = one_line.with_changes(
        body=cst.SimpleStatementSuite([cst.Pass()]), decorators=[], leading_lines=[]
    )
    if len(cst.Module([head]).code) <= _WIDTH - 4:
        return one_line
    indent = 8 if kept and kept[0].name.value == "self" else 4
    params = _closed(plain, indent) if _fits(plain, indent) else _stacked(plain, indent)
    return function.with_changes(params=params, whitespace_before_params=_break(indent))


def _alone(parameter: cst.Param) -> cst.Param:
    """Without what stands between it and the next one, or the bracket."""
    return parameter.with_changes(
        comma=cst.MaybeSentinel.DEFAULT, whitespace_after_param=cst.SimpleWhitespace("")
    )


def _fits(params: cst.Parameters, indent: int) -> bool:
    """On one line between the brackets."""
    return len(cst.Module([]).code_for_node(params)) <= _WIDTH - indent


def _closed(params: cst.Parameters, indent: int) -> cst.Parameters:
    """All on one line, and the bracket on the next."""
    broken = {"whitespace_after_param": _break(indent - 4)}
    if params.star_kwarg is not None:
        return params.with_changes(star_kwarg=params.star_kwarg.with_changes(**broken))
    for part in ("kwonly_params", "params"):
        listed = getattr(params, part)
        if listed:
            last = listed[-1].with_changes(**broken)
            return params.with_changes(**{part: [*listed[:-1], last]})
    return params


def _stacked(params: cst.Parameters, indent: int) -> cst.Parameters:
    """One parameter a line."""
    last = params.star_kwarg or (*params.params, *params.kwonly_params)[-1]

    class Breaks(cst.CSTTransformer):
        def leave_Param(self, original_node: cst.Param, updated_node: cst.Param) -> cst.Param:
            spaces = indent - 4 if original_node is last else indent
            return updated_node.with_changes(comma=cst.Comma(whitespace_after=_break(spaces)))

        def leave_ParamStar(
            self, original_node: cst.ParamStar, updated_node: cst.ParamStar
        ) -> cst.ParamStar:
            return cst.ParamStar(cst.Comma(whitespace_after=_break(indent)))

    new = params.visit(Breaks())
    assert isinstance(new, cst.Parameters)
    return new


def _break(spaces: int) -> cst.ParenthesizedWhitespace:
    return cst.ParenthesizedWhitespace(last_line=cst.SimpleWhitespace(" " * spaces), indent=False)

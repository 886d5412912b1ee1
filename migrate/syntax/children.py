"""Which fields of a libcst node hold code, in the order in which they stand in the source.

The other fields hold whitespace, commas, brackets and operators: two thirds of a file's nodes,
which no rewriting asks for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

CHILDREN: dict[type[cst.CSTNode], tuple[str, ...]] = {
    # Statements
    cst.Module: ("body",),
    cst.IndentedBlock: ("body",),
    cst.SimpleStatementLine: ("body",),
    cst.SimpleStatementSuite: ("body",),
    cst.AnnAssign: ("target", "annotation", "value"),
    cst.Assert: ("test", "msg"),
    cst.Assign: ("targets", "value"),
    cst.AssignTarget: ("target",),
    cst.AugAssign: ("target", "value"),
    cst.Break: (),
    cst.Continue: (),
    cst.Del: ("target",),
    cst.Expr: ("value",),
    cst.Global: ("names",),
    cst.Import: ("names",),
    cst.ImportAlias: ("name", "asname"),
    cst.ImportFrom: ("module", "names"),
    cst.ImportStar: (),
    cst.NameItem: ("name",),
    cst.Nonlocal: ("names",),
    cst.Pass: (),
    cst.Raise: ("exc", "cause"),
    cst.Return: ("value",),
    cst.TypeAlias: ("name", "type_parameters", "value"),
    # Blocks
    cst.AsName: ("name",),
    cst.ClassDef: ("decorators", "name", "type_parameters", "bases", "keywords", "body"),
    cst.Decorator: ("decorator",),
    cst.Else: ("body",),
    cst.ExceptHandler: ("type", "name", "body"),
    cst.ExceptStarHandler: ("type", "name", "body"),
    cst.Finally: ("body",),
    cst.For: ("target", "iter", "body", "orelse"),
    cst.FunctionDef: ("decorators", "name", "type_parameters", "params", "returns", "body"),
    cst.If: ("test", "body", "orelse"),
    cst.Try: ("body", "handlers", "orelse", "finalbody"),
    cst.TryStar: ("body", "handlers", "orelse", "finalbody"),
    cst.While: ("test", "body", "orelse"),
    cst.With: ("items", "body"),
    cst.WithItem: ("item", "asname"),
    # Parameters
    cst.Annotation: ("annotation",),
    cst.Param: ("name", "annotation", "default"),
    cst.ParamStar: (),
    cst.Parameters: ("posonly_params", "params", "star_arg", "kwonly_params", "star_kwarg"),
    cst.ParamSpec: ("name",),
    cst.TypeParam: ("param", "default"),
    cst.TypeParameters: ("params",),
    cst.TypeVar: ("name", "bound"),
    cst.TypeVarTuple: ("name",),
    # Expressions
    cst.Arg: ("keyword", "value"),
    cst.Attribute: ("value", "attr"),
    cst.Await: ("expression",),
    cst.BinaryOperation: ("left", "right"),
    cst.BooleanOperation: ("left", "right"),
    cst.Call: ("func", "args"),
    cst.Comparison: ("left", "comparisons"),
    cst.ComparisonTarget: ("comparator",),
    cst.CompFor: ("target", "iter", "ifs", "inner_for_in"),
    cst.CompIf: ("test",),
    cst.ConcatenatedString: ("left", "right"),
    cst.Dict: ("elements",),
    cst.DictComp: ("key", "value", "for_in"),
    cst.DictElement: ("key", "value"),
    cst.Element: ("value",),
    cst.Ellipsis: (),
    cst.Float: (),
    cst.FormattedString: ("parts",),
    cst.FormattedStringExpression: ("expression", "format_spec"),
    cst.FormattedStringText: (),
    cst.From: ("item",),
    cst.GeneratorExp: ("elt", "for_in"),
    cst.IfExp: ("body", "test", "orelse"),
    cst.Imaginary: (),
    cst.Index: ("value",),
    cst.Integer: (),
    cst.Lambda: ("params", "body"),
    cst.List: ("elements",),
    cst.ListComp: ("elt", "for_in"),
    cst.Name: (),
    cst.NamedExpr: ("target", "value"),
    cst.Set: ("elements",),
    cst.SetComp: ("elt", "for_in"),
    cst.SimpleString: (),
    cst.Slice: ("lower", "upper", "step"),
    cst.StarredDictElement: ("value",),
    cst.StarredElement: ("value",),
    cst.Subscript: ("value", "slice"),
    cst.SubscriptElement: ("slice",),
    cst.Tuple: ("elements",),
    cst.UnaryOperation: ("expression",),
    cst.Yield: ("value",),
    # Patterns
    cst.Match: ("subject", "cases"),
    cst.MatchAs: ("pattern", "name"),
    cst.MatchCase: ("pattern", "guard", "body"),
    cst.MatchClass: ("cls", "patterns", "kwds"),
    cst.MatchKeywordElement: ("key", "pattern"),
    cst.MatchList: ("patterns",),
    cst.MatchMapping: ("elements", "rest"),
    cst.MatchMappingElement: ("key", "pattern"),
    cst.MatchOr: ("patterns",),
    cst.MatchOrElement: ("pattern",),
    cst.MatchSequenceElement: ("value",),
    cst.MatchSingleton: ("value",),
    cst.MatchStar: ("name",),
    cst.MatchTuple: ("patterns",),
    cst.MatchValue: ("value",),
}


def code_nodes(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The node and all below it, in source order, without whitespace, commas and brackets."""
    stack: list[cst.CSTNode] = [node]
    while stack:
        one = stack.pop()
        yield one
        stack += reversed(code_children(one))


def code_children(node: cst.CSTNode) -> Sequence[cst.CSTNode]:
    """Those directly below, in source order, without whitespace, commas and brackets."""
    names = CHILDREN.get(type(node))
    return node.children if names is None else _children(node, names)


def _children(node: cst.CSTNode, names: Sequence[str]) -> list[cst.CSTNode]:
    found: list[cst.CSTNode] = []
    for name in names:
        value = getattr(node, name)
        if isinstance(value, (tuple, list)):
            found += value
        elif isinstance(value, cst.CSTNode):
            found.append(value)
    return found

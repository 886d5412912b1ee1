"""torch.autograd.Function as a Cell: forward is construct, backward is bprop."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.pipeline.refusal import Refusal
from migrate.rewrite.cells.custom_gradients import (
    FUNCTION,
    WITHOUT_EFFECT,
    CustomGradient,
    NotPlain,
    custom_gradient,
)
from migrate.rewrite.names.library_names import LibraryNames
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.rewrite.statements.suites import GONE, decided_if, without_empty
from migrate.syntax.access import is_read
from migrate.syntax.ast_index import nodes_of
from migrate.syntax.text import code


@declare(
    phase="rewrite",
    unit="node",
    needs=["usages"],
    after={
        "markers": "the members that it writes anew keep their comments",
        "cell_classes": "the class has the names of its parameters first",
    },
    examples=[
        becomes(
            """
            class Double(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    return x * 2

                @staticmethod
                def backward(ctx, grad):
                    return grad * 2
            """,
            """
            class Double(helpers.Function):
                def construct(self, x):
                    return x * 2

                def bprop(self, x, out, grad):
                    return (grad * 2,)
            """,
        ),
    ],
)
class GradientCells(NodePass):
    """Rewrites the classes that state a gradient of their own."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        # By base: a plan, or why there is none.
        self._gradients: dict[ast.AST, CustomGradient | str] = {}
        self._names = file.shared(LibraryNames)
        for node in nodes_of(self.context.tree, ast.ClassDef):
            for base in node.bases:
                usage = self.context.usage(base)
                if usage is not None and usage.api == FUNCTION:
                    try:
                        self._gradients[base] = custom_gradient(node, self.context)
                    except NotPlain as reason:
                        self._gradients[base] = str(reason)

    def propose_Name(self, original: cst.Name, updated: cst.Name) -> cst.BaseExpression | None:
        return self._by_hand(self.partner(original)) if self._gradients else None

    def propose_Attribute(
        self, original: cst.Attribute, updated: cst.Attribute
    ) -> cst.BaseExpression | None:
        return self._by_hand(self.partner(original)) if self._gradients else None

    def _by_hand(self, base: ast.AST | None) -> cst.BaseExpression | None:
        """A base whose class keeps torch's name, with a finding."""
        reason = self._gradients.get(base) if base is not None else None
        usage = self.context.usage(base)
        if not isinstance(reason, str) or usage is None:
            return None
        entry = self._names.row(usage)
        message = f"a custom gradient that is written by hand: {reason}"
        self.flag(usage.node, Refusal(message, entry.way, "MS301"), usage.api)
        return cst.parse_expression(self.spelling.keep_torch(usage.api))

    def leave_ClassDef(self, original: cst.ClassDef, updated: cst.ClassDef) -> cst.ClassDef:
        cls = self.partner(original)
        assert isinstance(cls, ast.ClassDef)
        plan = self._gradients.get(cls.bases[0]) if cls.bases else None
        if not isinstance(plan, CustomGradient):
            return updated
        skip = self.spelling.name("helpers.no_gradient")
        return updated.with_changes(
            body=updated.body.with_changes(body=_members(updated.body.body, plan, skip))
        )


def _members(
    body: Sequence[cst.BaseStatement | cst.BaseSmallStatement], plan: CustomGradient, skip: str
) -> list[cst.BaseStatement | cst.BaseSmallStatement]:
    """The members of the class, with construct and bprop for forward and backward."""
    functions = {m.name.value: m for m in body if isinstance(m, cst.FunctionDef)}
    construct, kept = _construct(functions["forward"], plan)
    bprop = _bprop(functions["backward"], plan, kept, skip)
    new: dict[cst.CSTNode, Sequence[cst.BaseStatement | cst.BaseSmallStatement]] = {
        functions["forward"]: construct,
        functions["backward"]: [bprop],
    }
    return [part for member in body for part in new.get(member, [member])]


def _local(name: str, plan: CustomGradient) -> str:
    """The variable that stands for an attribute of the context."""
    free = name.isidentifier() and name not in plan.taken and name not in plan.inputs
    return name if free else f"ctx_{name}"


def _construct(
    forward: cst.FunctionDef, plan: CustomGradient
) -> tuple[list[cst.FunctionDef], dict[str, cst.BaseExpression]]:
    """construct, with what bprop needs beside it; and what was kept, by name."""
    taker = _ContextTaker(plan, keep=plan.again)
    block = forward.body.visit(taker)
    assert isinstance(block, cst.IndentedBlock)
    body, rest = without_empty(block.body)
    body = [*body, cst.SimpleStatementLine([GONE], leading_lines=rest)] if rest else body
    plain = _as_method(forward, "construct")
    if not plan.again:
        return [plain.with_changes(body=block.with_changes(body=body))], taker.kept
    # The last statement returns the output: what is kept goes along with it.
    last = body[-1]
    assert isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], cst.Return)
    value = last.body[-1].value
    names = ", ".join(_local(name, plan) for name in plan.kept)
    both = cst.parse_expression(f"{code(_bracketed(value))}, ({names},)")
    body[-1] = last.with_changes(body=[*last.body[:-1], last.body[-1].with_changes(value=both)])
    inner = _as_method(forward, "with_kept").with_changes(body=block.with_changes(body=body))
    line = cst.parse_statement(f"return self.with_kept({', '.join(plan.inputs)})[0]\n")
    short = plain.with_changes(
        body=cst.IndentedBlock([line]), leading_lines=[cst.EmptyLine(indent=False)]
    )
    return [inner, short], taker.kept


def _bracketed(value: cst.BaseExpression | None) -> cst.BaseExpression:
    assert value is not None
    if isinstance(value, cst.Tuple) and not value.lpar:
        return value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return value


def _as_method(node: cst.FunctionDef, name: str) -> cst.FunctionDef:
    """A static method as one of an instance."""
    first = node.params.params[0].with_changes(name=cst.Name("self"), annotation=None)
    parameters = node.params.with_changes(params=[first, *node.params.params[1:]])
    decorators = [
        decorator
        for decorator in node.decorators
        if getattr(decorator.decorator, "value", "") != "staticmethod"
    ]
    lines = [line for d in node.decorators for line in d.leading_lines if line.comment]
    return node.with_changes(
        name=cst.Name(name),
        params=parameters,
        decorators=decorators,
        lines_after_decorators=(),
        leading_lines=[*node.leading_lines, *lines],
    )


def _bprop(
    backward: cst.FunctionDef,
    plan: CustomGradient,
    kept: dict[str, cst.BaseExpression],
    skip: str,
) -> cst.FunctionDef:
    bound = _names_bound(backward)
    # An input that backward has a variable of the same name for goes by another one.
    inputs = {name: f"{name}_" if name in bound else name for name in plan.inputs}
    block = backward.body.visit(_BackwardBody(plan, inputs, skip))
    assert isinstance(block, cst.IndentedBlock)
    first: list[cst.BaseStatement] = []
    if plan.again:
        names = ", ".join(_local(name, plan) for name in plan.kept)
        comma = "," if len(plan.kept) == 1 else ""
        call = f"self.with_kept({', '.join(inputs.values())})[1]"
        first.append(cst.parse_statement(f"{names}{comma} = {call}\n"))
    else:
        renamed = _Renamed({**inputs, **({plan.output: "out"} if plan.output else {})})
        for name in plan.kept:
            value = kept[name].visit(renamed)
            assert isinstance(value, cst.BaseExpression)
            if code(value) != _local(name, plan):
                first.append(cst.parse_statement(f"{_local(name, plan)} = {code(value)}\n"))
    gradient = plan.gradients[0] if len(plan.gradients) == 1 else "gradients"
    if len(plan.gradients) > 1:
        first.insert(0, cst.parse_statement(f"{', '.join(plan.gradients)} = gradients\n"))
    head = cst.parse_statement(
        f"def bprop({', '.join(['self', *inputs.values(), 'out', gradient])}):\n    pass\n"
    )
    assert isinstance(head, cst.FunctionDef)
    method = _as_method(backward, "bprop")
    body = list(block.body)
    at = 1 if body and _is_docstring(body[0]) else 0
    return method.with_changes(
        params=head.params, body=block.with_changes(body=[*body[:at], *first, *body[at:]])
    )


def _is_docstring(statement: object) -> bool:
    return (
        isinstance(statement, cst.SimpleStatementLine)
        and isinstance(statement.body[0], cst.Expr)
        and isinstance(statement.body[0].value, cst.SimpleString)
    )


def _names_bound(function: cst.FunctionDef) -> set[str]:
    tree = ast.parse(code(function.with_changes(leading_lines=[])))
    return {node.id for node in nodes_of(tree, ast.Name) if not is_read(node)}


class _ContextTaker(cst.CSTTransformer):
    """Takes the context out of forward, and what was put into it."""

    def __init__(self, plan: CustomGradient, *, keep: bool) -> None:
        super().__init__()
        self.plan = plan
        self.keep = keep
        self.kept: dict[str, cst.BaseExpression] = {}
        self._reads: frozenset[str] | None = None  # what forward itself reads back

    def _is_context(self, node: cst.BaseExpression) -> bool:
        return isinstance(node, cst.Name) and node.value == self.plan.contexts[0]

    def leave_SimpleStatementLine(
        self, original: cst.SimpleStatementLine, updated: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine:
        name, value = self._stored_in(original)
        if name is None:
            return updated
        if value is not None:
            self.kept[name] = value
        wanted = (self.keep and name in self.plan.kept) or name in (self._reads or ())
        if value is None or not wanted:
            return updated.with_changes(body=[GONE])
        line = cst.parse_statement(f"{_local(name, self.plan)} = {code(value)}\n")
        assert isinstance(line, cst.SimpleStatementLine)
        return updated.with_changes(body=line.body)

    def _stored_in(
        self, line: cst.SimpleStatementLine
    ) -> tuple[str | None, cst.BaseExpression | None]:
        first = line.body[0] if len(line.body) == 1 else None
        if isinstance(first, cst.Expr) and isinstance(first.value, cst.Call):
            call = first.value
            if isinstance(call.func, cst.Attribute) and self._is_context(call.func.value):
                if call.func.attr.value in WITHOUT_EFFECT:
                    return "", None
                inside = ", ".join(code(argument.value) for argument in call.args)
                comma = "," if len(call.args) == 1 else ""
                return "saved_tensors", cst.parse_expression(f"({inside}{comma})")
        if isinstance(first, cst.Assign) and len(first.targets) == 1:
            target = first.targets[0].target
            if isinstance(target, cst.Attribute) and self._is_context(target.value):
                return target.attr.value, first.value
        return None, None

    def visit_IndentedBlock(self, node: cst.IndentedBlock) -> None:
        if self._reads is None:
            finder = _Reads(self.plan.contexts[0])
            node.visit(finder)
            self._reads = frozenset(finder.found)

    def leave_Attribute(
        self, original: cst.Attribute, updated: cst.Attribute
    ) -> cst.BaseExpression:
        if self._is_context(original.value) and original.attr.value in (self._reads or ()):
            return cst.Name(_local(original.attr.value, self.plan))
        return updated


class _Reads(cst.CSTVisitor):
    """Attributes of the context that are read."""

    def __init__(self, context: str) -> None:
        super().__init__()
        self.context = context
        self.found: set[str] = set()

    def visit_AssignTarget(self, node: cst.AssignTarget) -> bool:
        return not isinstance(node.target, cst.Attribute)

    def visit_Call(self, node: cst.Call) -> None:
        for argument in node.args:
            argument.visit(self)

    def visit_Attribute(self, node: cst.Attribute) -> None:
        is_context = isinstance(node.value, cst.Name) and node.value.value == self.context
        if is_context and node.attr.value not in (*WITHOUT_EFFECT, "save_for_backward"):
            self.found.add(node.attr.value)


class _BackwardBody(cst.CSTTransformer):
    """backward without its context, one gradient for each input."""

    def __init__(self, plan: CustomGradient, inputs: dict[str, str], skip: str) -> None:
        super().__init__()
        self.plan = plan
        self.inputs = list(inputs.values())
        self.skip = skip

    def leave_Attribute(
        self, original: cst.Attribute, updated: cst.Attribute
    ) -> cst.BaseExpression:
        owner = original.value
        if not isinstance(owner, cst.Name) or owner.value != self.plan.contexts[1]:
            return updated
        name = original.attr.value
        if name == "needs_input_grad":
            return cst.Tuple(
                [cst.Element(cst.Name("True"))] * max(len(self.inputs), 2),
                lpar=[cst.LeftParen()],
                rpar=[cst.RightParen()],
            )
        return cst.Name(_local("saved_tensors" if name == "saved_variables" else name, self.plan))

    def leave_Subscript(
        self, original: cst.Subscript, updated: cst.Subscript
    ) -> cst.BaseExpression:
        value = original.value
        if isinstance(value, cst.Attribute) and value.attr.value == "needs_input_grad":
            return cst.Name("True")  # value_and_grad asks for those that it needs
        return updated

    def leave_If(self, original: cst.If, updated: cst.If) -> Any:
        test = updated.test
        if isinstance(test, cst.Name) and test.value == "True" and updated.orelse is None:
            return decided_if(updated, True)
        return updated

    def leave_Return(self, original: cst.Return, updated: cst.Return) -> cst.Return:
        value = updated.value
        parts = [e.value for e in value.elements] if isinstance(value, cst.Tuple) else [value]
        texts = [
            f"{self.skip}({name})" if part is None or code(part) == "None" else code(part)
            for name, part in zip(self.inputs, parts, strict=False)
        ]
        text = f"({texts[0]},)" if len(texts) == 1 else ", ".join(texts)
        return cst.Return(
            cst.parse_expression(text), whitespace_after_return=cst.SimpleWhitespace(" ")
        )


class _Renamed(cst.CSTTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        super().__init__()
        self.names = names

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> cst.Name:
        return updated.with_changes(value=self.names.get(updated.value, updated.value))

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> cst.Attribute:
        return updated.with_changes(attr=original.attr)

    def leave_Arg(self, original: cst.Arg, updated: cst.Arg) -> cst.Arg:
        return updated.with_changes(keyword=original.keyword)

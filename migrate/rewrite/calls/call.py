"""One call of a torch API on its way to MindSpore: arguments bound to torch's parameters, then
changed by rules.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from migrate.pipeline.refusal import Refusal as Refusal
from migrate.resolve.binding import fitting_overloads, is_sure
from migrate.resolve.values import UNKNOWN, Value
from migrate.syntax.nodes import expression, literal, styled
from migrate.table import Entry, Overload
from migrate.table.signature import REQUIRED, Parameter, Signature

MISSING: Any = object()
_NUMPY_WORDS = {"axis": "dim", "keepdims": "keepdim", "x": "input", "x2": "other"}


class Unbound(Exception):
    """The arguments are only known at run time (*args, **kwargs)."""


@dataclass(slots=True)
class Slot:
    """What stands for one torch parameter: the argument given, or what rules put in its place."""

    name: str
    value: cst.BaseExpression
    type: Value = UNKNOWN
    source: cst.Arg | None = None  # the argument as written, with its commas and comments
    positional: bool = False
    outputs: list[tuple[str, cst.BaseExpression]] | None = (
        None  # MindSpore keywords that replace it
    )


@dataclass(slots=True)
class Call:
    """A bound call. Rules read and replace arguments by torch's parameter names."""

    entry: Entry
    overload: Overload
    receiver: cst.BaseExpression | None = None
    receiver_type: Value = UNKNOWN
    slots: dict[str, Slot] = field(default_factory=dict)  # in source order
    varargs: list[Slot] = field(default_factory=list)
    extra: list[tuple[str, cst.BaseExpression]] = field(
        default_factory=list
    )  # keywords added by rules
    target: str = ""
    emit: str = ""
    helper: str = ""
    node: cst.Call | None = None
    around: ast.AST | None = None  # the function that the call stands in
    variable: str = ""  # what its result is assigned to
    changes: bool = False  # gives a new value for what it changes; the statement rebinds that
    quote: str = "'"  # of the file, so that strings from the table look at home
    sources: dict[str, ast.expr] = field(default_factory=dict)  # arguments and "self" as written
    dtype_of: Callable[[ast.expr], str] | None = None
    may_be_empty: Callable[[ast.expr], bool] = lambda _: False
    gets_empty: Callable[[str], bool] = lambda _: False  # a layer of this class, in this file
    builds: Callable[[], bool] = lambda: False  # does it run only while an object is built?

    @property
    def signature(self) -> Signature | None:
        return self.overload.signature

    def given(self, name: str) -> bool:
        return name in self.slots

    def value(self, name: str) -> cst.BaseExpression:
        """The argument, or torch's default when the caller left it out."""
        if name in self.slots:
            return self.slots[name].value
        return expression(self.parameter(name).default)

    def type(self, name: str) -> Value:
        return self.slots[name].type if name in self.slots else UNKNOWN

    def dtype(self, name: str) -> str:
        """The dtype of a tensor among the arguments ("self": the receiver), "" if not stated."""
        source = self.sources.get(name)
        return self.dtype_of(source) if self.dtype_of is not None and source is not None else ""

    def is_maybe_empty(self, name: str) -> bool:
        """The program shows that a tensor among the arguments may have no elements."""
        source = self.sources.get(name)
        return source is not None and self.may_be_empty(source)

    def constant(self, name: str) -> Any:
        """The Python value of an argument that is a literal (torch's default if left out), else
        MISSING.
        """
        text = literal(self.value(name))
        return MISSING if text is None else ast.literal_eval(text)

    def parameter(self, name: str) -> Parameter:
        found = self.signature.get(name) if self.signature else None
        if found is None:
            raise KeyError(f"{self.entry.torch} has no parameter {name}")
        return found

    def replace(self, name: str, *outputs: tuple[str, str | cst.BaseExpression]) -> None:
        """Put MindSpore keywords in the place of a torch argument; none removes it."""
        pairs = [(k, styled(v, self.quote) if isinstance(v, str) else v) for k, v in outputs]
        if name in self.slots:
            self.slots[name].outputs = pairs
        else:
            self.extra += pairs

    def is_default(self, name: str) -> bool:
        if name not in self.slots:
            return True
        text = literal(self.slots[name].value)
        default = self.parameter(name).default
        return (
            text is not None
            and default != REQUIRED
            and ast.literal_eval(text) == _evaluated(default)
        )


def _evaluated(default: str) -> Any:
    try:
        return ast.literal_eval(default)
    except (ValueError, SyntaxError):
        return MISSING


def bind(
    entry: Entry, node: cst.Call, types: list[Value], receiver: cst.BaseExpression | None
) -> list[Call]:
    """The call in each form it can be, best first; raises Refusal or Unbound."""
    if any(argument.star for argument in node.args) and entry.main.params is not None:
        raise Unbound
    node = _with_torch_names(entry, node)
    return [
        _bound(entry, overload, node, types, receiver)
        for overload in _candidates(entry, node, types)
    ]


def _with_torch_names(entry: Entry, node: cst.Call) -> cst.Call:
    """torch also takes numpy's words for the common parameters: x.sum(axis=1, keepdims=True)."""
    known = {name for form in entry.overloads if form.signature for name in form.signature.names}
    arguments = [
        argument.with_changes(keyword=cst.Name(_NUMPY_WORDS[argument.keyword.value]))
        if argument.keyword is not None
        and argument.keyword.value not in known
        and _NUMPY_WORDS.get(argument.keyword.value) in known
        else argument
        for argument in node.args
    ]
    return node.with_changes(args=arguments)


def _bound(
    entry: Entry,
    overload: Overload,
    node: cst.Call,
    types: list[Value],
    receiver: cst.BaseExpression | None,
) -> Call:
    call = Call(
        entry=entry,
        overload=overload,
        receiver=receiver,
        target=overload.mindspore,
        emit=overload.emit,
        helper=overload.helper,
        node=node,
    )
    signature = overload.signature
    if signature is None:
        return call
    positional = signature.positional
    for index, (argument, kind) in enumerate(zip(node.args, types, strict=True)):
        if argument.keyword is not None:
            call.slots[argument.keyword.value] = Slot(
                argument.keyword.value, argument.value, kind, argument
            )
        elif index < len(positional):
            name = positional[index].name
            call.slots[name] = Slot(name, argument.value, kind, argument, positional=True)
        else:
            call.varargs.append(Slot("", argument.value, kind, argument, positional=True))
    return call


def _candidates(entry: Entry, node: cst.Call, types: list[Value]) -> list[Overload]:
    """The forms the call surely is; or the only one it can be."""
    values = [
        kind for argument, kind in zip(node.args, types, strict=True) if argument.keyword is None
    ]
    keywords: dict[str | None, Value] = {
        argument.keyword.value: kind
        for argument, kind in zip(node.args, types, strict=True)
        if argument.keyword is not None
    }
    fitting = [
        overload
        for overload in fitting_overloads(entry, values, keywords)
        if overload.signature is None or _binds(overload.signature, len(values), keywords)
    ]
    if not fitting:
        forms = " or ".join(f"{entry.torch}({overload.params})" for overload in entry.overloads)
        raise Refusal(f"the arguments do not fit {forms}", "check the call", "MS309")
    sure = [overload for overload in fitting if is_sure(overload, values, keywords)]
    if sure or len(fitting) == 1:
        return sure or fitting
    raise Refusal(
        f"cannot tell which form of {entry.torch} this is: the type of an argument is not known",
        "annotate the variable, for example `x: torch.Tensor`",
        "MS310",
    )


def _binds(signature: Signature, count: int, keywords: dict[str | None, Value]) -> bool:
    positional = signature.positional
    if count > len(positional) and signature.varargs is None:
        return False
    taken = {parameter.name for parameter in positional[:count]}
    for name in keywords:
        if name in taken or (signature.get(name or "") is None and signature.varkwargs is None):
            return False
    given = taken | set(keywords)
    return all(p.name in given for p in signature.parameters if p.required)

"""torch's parameters as the table writes them: a Python parameter list in one string."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import lru_cache

REQUIRED = "<required>"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One torch parameter; `default` is source text, or REQUIRED."""

    name: str
    default: str = REQUIRED
    kind: str = "normal"  # normal, positional, keyword, varargs, varkwargs
    type: str = ""
    type_words: frozenset[str] = field(init=False, compare=False, repr=False)  # `int | None`: both

    def __post_init__(self) -> None:
        words = frozenset(word.strip() for word in self.type.split("|"))
        object.__setattr__(self, "type_words", words)

    @property
    def required(self) -> bool:
        return self.default == REQUIRED and self.kind not in ("varargs", "varkwargs")


class Signature:
    """The parameters of one torch callable, in torch's order. Every call of a program is bound to
    one: what is asked of it is computed once.
    """

    __slots__ = ("_by_name", "names", "parameters", "positional", "varargs", "varkwargs")

    def __init__(self, parameters: tuple[Parameter, ...]) -> None:
        self.parameters = parameters
        self.names = tuple(parameter.name for parameter in parameters)
        self.positional = tuple(p for p in parameters if p.kind in ("normal", "positional"))
        self.varargs = next((p for p in parameters if p.kind == "varargs"), None)
        self.varkwargs = next((p for p in parameters if p.kind == "varkwargs"), None)
        self._by_name = {parameter.name: parameter for parameter in reversed(parameters)}

    def get(self, name: str) -> Parameter | None:
        return self._by_name.get(name)


@lru_cache(maxsize=4096)
def parse_signature(text: str) -> Signature:
    """Read `"input, dim: int, keepdim=False, *, out=None"`.

    Raises SyntaxError when it is not a parameter list.
    """
    arguments = ast.parse(f"def f({text}): ...").body[0].args  # type: ignore[attr-defined]
    parameters: list[Parameter] = []
    positional = [(a, "positional") for a in arguments.posonlyargs] + [
        (a, "normal") for a in arguments.args
    ]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    for (argument, kind), default in zip(positional, defaults, strict=True):
        parameters.append(_parameter(argument, default, kind))
    if arguments.vararg:
        parameters.append(_parameter(arguments.vararg, None, "varargs"))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        parameters.append(_parameter(argument, default, "keyword"))
    if arguments.kwarg:
        parameters.append(_parameter(arguments.kwarg, None, "varkwargs"))
    return Signature(tuple(parameters))


def _parameter(argument: ast.arg, default: ast.expr | None, kind: str) -> Parameter:
    return Parameter(
        name=argument.arg,
        default=REQUIRED if default is None else ast.unparse(default),
        kind=kind,
        type=ast.unparse(argument.annotation) if argument.annotation else "",
    )

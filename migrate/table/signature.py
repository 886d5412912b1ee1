"""torch's parameters as the table writes them: a Python parameter list in one string."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache

REQUIRED = "<required>"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One torch parameter; `default` is source text, or REQUIRED."""

    name: str
    default: str = REQUIRED
    kind: str = "normal"  # normal, positional, keyword, varargs, varkwargs
    type: str = ""

    @property
    def required(self) -> bool:
        return self.default == REQUIRED and self.kind not in ("varargs", "varkwargs")


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of one torch callable, in torch's order."""

    parameters: tuple[Parameter, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self.parameters)

    def get(self, name: str) -> Parameter | None:
        return next((p for p in self.parameters if p.name == name), None)

    @property
    def positional(self) -> tuple[Parameter, ...]:
        return tuple(p for p in self.parameters if p.kind in ("normal", "positional"))

    @property
    def varargs(self) -> Parameter | None:
        return next((p for p in self.parameters if p.kind == "varargs"), None)

    @property
    def varkwargs(self) -> Parameter | None:
        return next((p for p in self.parameters if p.kind == "varkwargs"), None)


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

"""What a tensor holds, as far as its own function tells: complex numbers, or whole ones."""

from __future__ import annotations

import ast
import re

from migrate.syntax.access import name_of
from migrate.syntax.ast_index import all_nodes

_DEPTH = 6
_COMPLEX = re.compile(r"view_as_complex|polar|complex|[rh]?fft[2n]?|ifft[2n]?|as_complex")
_COUNTS = re.compile(r"arange|randint|argmax|argmin|argsort|long|int|nonzero|bincount")
# Functions and methods whose result holds what their first argument does.
_KEEP = re.compile(
    r"t|to|cpu|cuda|view|view_as|reshape|expand|expand_as|repeat|tile|squeeze|unsqueeze|flatten"
    r"|transpose|permute|contiguous|clone|detach|roll|flip|index_select|gather|narrow|conj"
    r"|cat|stack|broadcast_to|chunk|split|unbind|rearrange|unflatten|movedim|swapaxes"
)


def is_complex(node: ast.expr, around: ast.AST | None) -> bool:
    """The result of view_as_complex, polar or a Fourier transform, reshaped or multiplied."""
    return _is(node, around, _COMPLEX, any_operand=True)


def is_count(node: ast.expr, around: ast.AST | None) -> bool:
    """The result of arange, long() or an arg-function, reshaped: torch makes floats of these."""
    return _is(node, around, _COUNTS, any_operand=False)


def _is(
    node: ast.expr, around: ast.AST | None, made_by: re.Pattern[str], *, any_operand: bool
) -> bool:
    def again(part: ast.expr, depth: int) -> bool:
        if depth > _DEPTH:
            return False
        if isinstance(part, ast.Call):
            return of_call(part, depth)
        if isinstance(part, (ast.Subscript, ast.Starred)):
            return again(part.value, depth + 1)
        if isinstance(part, ast.Constant):
            return made_by is _COMPLEX and isinstance(part.value, complex)
        if isinstance(part, ast.BinOp):
            sides = [again(side, depth + 1) for side in (part.left, part.right)]
            return any(sides) if any_operand else all(sides)
        if isinstance(part, ast.Name):
            values = _assigned(part, around)
            found = [again(value, depth + 1) for value in values]
            return any(found) if any_operand else bool(found) and all(found)
        return False

    def of_call(call: ast.Call, depth: int) -> bool:
        function = call.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        typed = any(keyword.arg == "dtype" for keyword in call.keywords)
        if made_by.fullmatch(name):
            return not typed and not _has_fraction(call)
        if not _KEEP.fullmatch(name) or typed or "float" in ast.unparse(call):
            return False
        subjects = call.args[:1]
        if isinstance(function, ast.Attribute) and not _is_module(function.value):
            subjects = [function.value]
        if subjects and isinstance(subjects[0], (ast.List, ast.Tuple)):
            subjects = subjects[0].elts[:1]
        return any(again(subject, depth + 1) for subject in subjects)

    return again(node, 0)


def _has_fraction(call: ast.Call) -> bool:
    """`torch.arange(0.0, 3)` holds floats."""
    return any(
        isinstance(part, ast.Constant) and isinstance(part.value, float)
        for argument in call.args
        for part in all_nodes(argument)
    )


def _is_module(node: ast.expr) -> bool:
    return name_of(node) in ("torch", "F", "einops", "fft")


def _assigned(name: ast.Name, around: ast.AST | None) -> list[ast.expr]:
    """All that the function gives a variable, but in terms of itself."""
    return [
        part.value
        for part in (all_nodes(around) if around is not None else ())
        if isinstance(part, ast.Assign)
        and any(name_of(target) == name.id for target in part.targets)
        and not any(name_of(n) == name.id for n in all_nodes(part.value))
    ]

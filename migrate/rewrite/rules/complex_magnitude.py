"""abs of complex numbers: real in torch, complex without an imaginary part in MindSpore."""

from __future__ import annotations

import ast

from migrate.rewrite.calls.call import Call
from migrate.rewrite.rules import becomes, rule
from migrate.rewrite.tensors.value_kinds import is_complex
from migrate.syntax.text import code


@rule(
    becomes("torch.abs(torch.fft.rfft(x))", "ops.real(ops.abs(ops.rfft(x)))"),
    becomes("torch.abs(x)", "ops.abs(x)"),
)
def complex_magnitude(call: Call) -> None:
    if call.receiver is not None:
        held, hole = call.receiver, "{self}"
    elif call.given("input"):
        held, hole = call.value("input"), "{input}"
    else:
        return
    text = code(held)
    # The argument is ported already: its own function still says where a variable comes from.
    made = "Complex()" in text or is_complex(ast.parse(text, mode="eval").body, call.around)
    if made:
        call.emit = f"ops.real(ops.abs({hole}))"

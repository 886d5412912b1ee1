"""`parser.add_argument("--device", default="cuda")`: an option that names a device.

Its value becomes a device as `torch.device` gives one: on Ascend `cuda` and `Ascend` both mean the
accelerator, and `args.device == "cuda"` holds for either.
"""

from __future__ import annotations

import ast
import re

import libcst as cst

from migrate.pipeline import becomes, declare, same
from migrate.rewrite.node_pass import NodePass
from migrate.syntax.nodes import expression, keyword_argument

_OPTION = re.compile(r"-{0,2}(?:[a-z]+[-_])?(?:device|dev)")
_CUDA = re.compile(r"\b(?:cuda|CUDA)\b(?!:)")


@declare(
    phase="rewrite",
    unit="node",
    needs=["usages"],
    examples=[
        becomes(
            'parser.add_argument("--device", default="cuda", help="cuda or cpu")',
            'parser.add_argument("--device", default="cuda", help="Ascend or cpu", '
            "type=helpers.device)",
        ),
        becomes(
            'parser.add_argument("--device", type=str, default="cuda:0", choices=kinds)',
            'parser.add_argument("--device", type=helpers.device, default="cuda:0", choices=kinds)',
        ),
        same('parser.add_argument("--devices", default=1, type=int)'),
    ],
)
class DeviceOptions(NodePass):
    """Gives such options their type, and names the accelerator in their help."""

    def leave_Call(self, original: cst.Call, updated: cst.BaseExpression) -> cst.BaseExpression:
        partner = self.partner(original)
        if not isinstance(partner, ast.Call) or not isinstance(updated, cst.Call):
            return updated
        if not _names_a_device(partner):
            return updated
        kept = [_in_words_of_mindspore(argument) for argument in updated.args]
        kind = keyword_argument("type", expression(self.spelling.name("helpers.device")))
        places = [i for i, a in enumerate(kept) if a.keyword and a.keyword.value == "type"]
        if places:
            kept[places[0]] = kept[places[0]].with_changes(value=kind.value)
        else:
            kept.append(kind)
        self.context.edited_lines.add(partner.lineno)
        return updated.with_changes(args=kept)


def _names_a_device(call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "add_argument":
        return False
    names = [a.value for a in call.args if isinstance(a, ast.Constant)]
    options = {k.arg: k.value for k in call.keywords}
    kind = options.get("type")
    if kind is not None and not (isinstance(kind, ast.Name) and kind.id == "str"):
        return False
    if not any(isinstance(name, str) and _OPTION.fullmatch(name) for name in names):
        return False
    default = options.get("default")
    return default is not None and any(
        isinstance(part, ast.Constant)
        and isinstance(part.value, str)
        and part.value.partition(":")[0] == "cuda"
        for part in ast.walk(default)
    )


def _in_words_of_mindspore(argument: cst.Arg) -> cst.Arg:
    """`help="cuda or cpu"`, with the device that the program runs on now."""
    if argument.keyword is None or argument.keyword.value != "help":
        return argument
    if not isinstance(argument.value, cst.SimpleString):
        return argument
    text = _CUDA.sub("Ascend", argument.value.value)
    return argument.with_changes(value=argument.value.with_changes(value=text))

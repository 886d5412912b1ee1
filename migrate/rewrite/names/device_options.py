"""`parser.add_argument("--device", default="cuda")`: an option that names a device.

Its value becomes a device as `torch.device` gives one: on Ascend `cuda` and `Ascend` both mean the
accelerator, and `args.device == "cuda"` holds for either.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container

import libcst as cst

from migrate.pipeline import becomes, declare, same
from migrate.rewrite.node_pass import NodePass
from migrate.syntax.ast_index import all_nodes
from migrate.syntax.nodes import expression, keyword_argument
from migrate.syntax.text import code

_OPTION = re.compile(r"-{0,2}(?:[a-z]+[-_])?(?:device|dev)")
# The word, not a part of another option's name.
_CUDA = re.compile(r"(?<![-\w.])(?:cuda|CUDA)\b(?![-\w(])")


@declare(
    phase="rewrite",
    unit="node",
    needs=["usages"],
    examples=[
        becomes(
            'parser.add_argument("--device", default="cuda", help="cuda or cpu")',
            'parser.add_argument("--device", default="Ascend", help="Ascend or cpu", '
            "type=helpers.device)",
        ),
        becomes(
            'parser.add_argument("--device", type=str, default="cuda:0", choices=kinds)',
            'parser.add_argument("--device", type=helpers.device, default="Ascend:0", '
            "choices=kinds)",
        ),
        becomes(
            'parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else '
            '"cpu")',
            'parser.add_argument("--device", default=mindspore.get_context("device_target"), '
            "type=helpers.device)",
        ),
        becomes(
            'parser.add_argument("--no-cuda", action="store_true", help="disables CUDA training")\n'
            "torch.manual_seed(0)",
            'parser.add_argument("--no-cuda", action="store_true", '
            'help="disables accelerator training")\nmindspore.set_seed(0)',
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
        if not _is_option(partner):
            return updated
        if not _names_a_device(partner):
            renamed = _with_help(updated)
            if renamed is not updated:
                self.context.edited_lines.add(partner.lineno)
            return renamed
        kept = [_in_words_of_mindspore(argument) for argument in updated.args]
        kind = keyword_argument("type", expression(self.spelling.name("helpers.device")))
        places = [i for i, a in enumerate(kept) if a.keyword and a.keyword.value == "type"]
        if places:
            kept[places[0]] = kept[places[0]].with_changes(value=kind.value)
        else:
            kept.append(kind)
        self.context.edited_lines.add(partner.lineno)
        return updated.with_changes(args=kept)


def _is_option(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument"


def _with_help(call: cst.Call) -> cst.Call:
    """Of another option: `help="disables CUDA training"`."""
    args = [_in_words_of_mindspore(one, "accelerator", {"help"}) for one in call.args]
    changed = any(new is not old for new, old in zip(args, call.args, strict=True))
    return call.with_changes(args=args) if changed else call


def _names_a_device(call: ast.Call) -> bool:
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
        for part in all_nodes(default)
    )


def _in_words_of_mindspore(
    argument: cst.Arg, word: str = "Ascend", among: Container[str] = ("help", "default")
) -> cst.Arg:
    """`help="cuda or cpu"`, with the device that the program runs on now."""
    if argument.keyword is None or argument.keyword.value not in among:
        return argument
    value = argument.value
    if argument.keyword.value == "default" and isinstance(value, cst.IfExp):
        asked = value.test.left if isinstance(value.test, cst.Comparison) else value.test
        if code(value.body)[1:-1] == "cuda" and code(asked).endswith(
            'get_context("device_target")'
        ):
            return argument.with_changes(value=asked)
    if not isinstance(value, cst.SimpleString):
        return argument
    text = _CUDA.sub(word, value.value)
    if text == value.value:
        return argument
    return argument.with_changes(value=value.with_changes(value=text))

"""`parser.add_argument("--device", default="cuda")`: an option that names a device.

Its value becomes a device as `torch.device` gives one: on Ascend `cuda` and `Ascend` both mean the
accelerator, and `args.device == "cuda"` holds for either.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container
from functools import cached_property

import libcst as cst

from migrate.pipeline import becomes, declare, same
from migrate.rewrite.node_pass import NodePass
from migrate.syntax.access import attribute_of, name_of
from migrate.syntax.ast_index import all_nodes, nodes_of
from migrate.syntax.nodes import expression, keyword_argument
from migrate.syntax.text import code

_ADDS = "add_argument"
_PARSERS = ("ArgumentParser", "add_parser", "add_argument_group", "add_subparsers")
_PROSE = ("help", "description", "epilog")
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
        becomes(
            'parser = argparse.ArgumentParser(description="on one GPU (default: cuda)")\n'
            "add = parser.add_argument\n"
            'add("--device", default="cuda", help="cuda or cpu")\n',
            'parser = argparse.ArgumentParser(description="on one GPU (default: accelerator)")\n'
            "add = parser.add_argument\n"
            'add("--device", default="Ascend", help="Ascend or cpu", type=helpers.device)\n',
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
        if not _is_option(partner, self._aliases):
            return self._described(partner, updated)
        if not _names_a_device(partner):
            return self._described(partner, updated, option=True)
        kept = [_in_words_of_mindspore(argument) for argument in updated.args]
        kind = keyword_argument("type", expression(self.spelling.name("helpers.device")))
        places = [i for i, a in enumerate(kept) if a.keyword and a.keyword.value == "type"]
        if places:
            kept[places[0]] = kept[places[0]].with_changes(value=kind.value)
        else:
            kept.append(kind)
        self.context.edited_lines.add(partner.lineno)
        return updated.with_changes(args=kept)

    @cached_property
    def _aliases(self) -> set[str]:
        return _aliases(self.context.tree)

    def _described(self, call: ast.Call, updated: cst.Call, *, option: bool = False) -> cst.Call:
        """With the accelerator in what an option or a parser says of itself."""
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        name = call.func.id if isinstance(call.func, ast.Name) else name
        if not option and name not in _PARSERS:
            return updated
        renamed = _with_help(updated)
        if renamed is not updated:
            self.context.edited_lines.add(call.lineno)
        return renamed


def _is_option(call: ast.Call, aliases: Container[str]) -> bool:
    if isinstance(call.func, ast.Name):
        return call.func.id in aliases
    return attribute_of(call.func) == _ADDS


def _aliases(tree: ast.Module) -> set[str]:
    """`add = parser.add_argument`: names that are nothing else."""
    bound: dict[str, list[ast.expr | None]] = {}
    for node in nodes_of(tree, ast.Assign, ast.AnnAssign, ast.NamedExpr):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            if isinstance(target, ast.Name):
                bound.setdefault(target.id, []).append(node.value)
    return {
        name
        for name, values in bound.items()
        if all(attribute_of(value) == _ADDS for value in values)
    }


def _with_help(call: cst.Call) -> cst.Call:
    """Of another option: `help="disables CUDA training"`; of a parser, its description."""
    args = [_in_words_of_mindspore(one, "accelerator", _PROSE) for one in call.args]
    changed = any(new is not old for new, old in zip(args, call.args, strict=True))
    return call.with_changes(args=args) if changed else call


def _names_a_device(call: ast.Call) -> bool:
    names = [a.value for a in call.args if isinstance(a, ast.Constant)]
    options = {k.arg: k.value for k in call.keywords}
    kind = options.get("type")
    if kind is not None and name_of(kind) != "str":
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

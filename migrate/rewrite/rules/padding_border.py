"""`RandomCrop(32, padding=4, padding_mode="reflect")`: MindSpore's borders are an enumeration."""

from __future__ import annotations

import ast

from migrate.pipeline.refusal import Refusal
from migrate.rewrite.calls.call import Call
from migrate.rewrite.rules import becomes, rule
from migrate.syntax.text import code

_BORDERS = ("constant", "edge", "reflect", "symmetric")


@rule(
    becomes(
        'transforms.Compose([transforms.Pad(2, padding_mode="reflect"), transforms.ToTensor()])',
        "helpers.Compose([vision.Pad(2, padding_mode=vision.Border.REFLECT), vision.ToTensor()])",
    ),
    becomes(
        "transforms.Compose([transforms.Pad(2, padding_mode=k), transforms.ToTensor()])",
        "helpers.Compose([helpers.Pad(2, padding_mode=k), vision.ToTensor()])",
    ),
    becomes(
        'torchvision.transforms.Pad(2, padding_mode="reflect")',
        'helpers.Pad(2, padding_mode="reflect")',
    ),
)
def padding_border(call: Call) -> None:
    if not call.given("padding_mode"):
        return
    mode = code(call.value("padding_mode"))
    try:
        known = ast.literal_eval(mode)
    except (ValueError, SyntaxError):
        known = None
    if known not in _BORDERS:
        raise Refusal(
            "the kind of border is computed",
            "choose from {'reflect': vision.Border.REFLECT, ...}[mode]",
            "MS306",
        )
    call.replace("padding_mode", ("padding_mode", f"vision.Border.{known.upper()}"))

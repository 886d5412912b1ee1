"""`Resize(256, Image.BICUBIC)`: PIL's constants, where MindSpore takes its own."""

from __future__ import annotations

import re

from migrate.rewrite.calls.call import Call
from migrate.rewrite.rules import becomes, rule
from migrate.syntax.text import code

_PIL = re.compile(r"(?:PIL\.)?Image\.(?:Resampling\.)?([A-Z]+)")
_NAMES = {"BICUBIC": "BICUBIC", "BILINEAR": "LINEAR", "NEAREST": "NEAREST"}


@rule(
    becomes(
        "transforms.Compose([transforms.Resize(9, Image.BICUBIC), transforms.ToTensor()])",
        "helpers.Compose([vision.Resize(9, interpolation=vision.Inter.BICUBIC), "
        "vision.ToTensor()])",
    ),
)
def pil_interpolation(call: Call) -> None:
    if not call.given("interpolation"):
        return
    found = _PIL.fullmatch(code(call.value("interpolation")))
    if found is not None and found[1] in _NAMES:
        new = f"vision.Inter.{_NAMES[found[1]]}"
        call.replace("interpolation", ("interpolation", new))

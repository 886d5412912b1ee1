"""Is what the port gave what torch gave? The first difference, in words."""

from __future__ import annotations

import math
import re
from typing import Any

RELATIVE, ABSOLUTE = 2e-4, 2e-5
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|\bnan\b|-?\binf\b", re.I)


def difference(expected: dict[str, Any], found: dict[str, Any]) -> str:
    """Empty if the two records agree; else where they part."""
    if "error" in expected and "error" in found:
        return ""
    if "crash" in found or "error" in found:
        return "raises " + _message(found)
    if "error" in expected or "crash" in expected:
        return "does not raise " + _message(expected)
    return _values(expected["value"], found["value"], "result") or _texts(
        expected["printed"], found["printed"]
    )


_PATH = re.compile(r"(?<![\w.])/[\w./-]+")


def _message(record: dict[str, Any]) -> str:
    words = " ".join(str(record.get("error") or record["crash"]).split())
    return _PATH.sub("…", words)[:160]  # where a run keeps its files says nothing


def _values(expected: Any, found: Any, where: str) -> str:
    if isinstance(expected, dict) and isinstance(found, dict):
        kinds = [_kind(expected), _kind(found)]
        if kinds[0] != kinds[1]:
            return f"{where}: {kinds[0]} became {kinds[1]}: {_short(expected)} {_short(found)}"
        if kinds[0] in ("tensor", "array"):
            return _tensors(kinds[0], expected, found, where)
        if kinds[0] == "float":
            same = _close(float(expected["float"]), float(found["float"]))
            return "" if same else f"{where}: {expected['float']} became {found['float']}"
        if kinds[0] == "object":
            return ""
        return _lists(expected[kinds[0]], found[kinds[0]], where)
    if isinstance(expected, list) and isinstance(found, list):
        return _lists(expected, found, where)
    if type(expected) is type(found) and expected == found:
        return ""
    return f"{where}: {_short(expected)} became {_short(found)}"


def _lists(expected: Any, found: Any, where: str) -> str:
    if not isinstance(expected, list):
        return "" if expected == found else f"{where}: {expected} became {found}"
    if len(expected) != len(found):
        return f"{where}: {len(expected)} items became {len(found)}"
    for number, (one, other) in enumerate(zip(expected, found, strict=True)):
        if text := _values(one, other, f"{where}[{number}]"):
            return text
    return ""


def _tensors(kind: str, expected: Any, found: Any, where: str) -> str:
    for what in ("shape", "dtype"):
        if expected[what] != found[what]:
            return f"{where}: {what} {expected[what]} became {found[what]}"
    for number, (one, other) in enumerate(zip(expected[kind], found[kind], strict=True)):
        if not _close(_number(one), _number(other), "16" in expected["dtype"]):
            return f"{where}: element {number}: {one} became {other}"
    return ""


def _number(text: str) -> float:
    return {"True": 1.0, "False": 0.0}[text] if text in ("True", "False") else float(text)


def _close(expected: float, found: float, half: bool = False) -> bool:
    if math.isnan(expected) or math.isnan(found):
        return math.isnan(expected) and math.isnan(found)
    if math.isinf(expected) or math.isinf(found):
        return expected == found
    scale = 20 if half else 1
    return abs(expected - found) <= (ABSOLUTE + RELATIVE * abs(expected)) * scale


def _texts(expected: str, found: str) -> str:
    """Printed text: words as they are, numbers within the tolerance, any white space."""
    words = [" ".join(_NUMBER.sub("#", text).split()) for text in (expected, found)]
    if words[0] != words[1]:
        return f"prints {_short(found)} for {_short(expected)}"
    numbers = [[float(n) for n in _NUMBER.findall(text)] for text in (expected, found)]
    for one, other in zip(*numbers, strict=True):
        if not _close(one, other):
            return f"prints {other} for {one}"
    return ""


def _kind(value: dict[str, Any]) -> str:
    return next(iter(value))


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 90 else text[:87] + "..."

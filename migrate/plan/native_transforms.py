"""A transform as the operations of a pipeline: C++ ones where all of them give the pixels of
torchvision, else the Python ones of MindSpore, which work on PIL images.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from migrate.plan.bound_arguments import literal_of
from migrate.table.native_data import NativeTransform, native_data

COMPOSE = "torchvision.transforms.Compose"
TO_TENSOR = "torchvision.transforms.ToTensor"
_AFTER_TENSOR = frozenset({"torchvision.transforms.Normalize"})
_ALLOW = "`--pixels close` takes MindSpore's C++ operations all the same"

Called = Callable[[ast.expr], str]
Values = Callable[[ast.expr], list[ast.expr | None]]


@dataclass(frozen=True, slots=True)
class Steps:
    """What a call of Compose, or of ToTensor alone, becomes."""

    call: ast.Call
    first: str  # the operation in front: it decodes, or makes a PIL image; empty for none
    fused: str = ""  # takes the place of the first two
    remark: str = ""


def steps_of(
    call: ast.Call, rows: str, called: Called, values: Values, *, close: bool
) -> Steps | str:
    """The steps, or why there are none. `rows`: "files" or "arrays"."""
    items = _items(call, called)
    if items is None:
        return "its transform is no Compose of a list that is written out"
    apis = [_api(item, called, values) for item in items]
    _, known = native_data()
    for item, api in zip(items, apis, strict=True):
        if api not in known:
            return f"`{ast.unparse(item)}` has no operation in mindspore.dataset.vision"
    if apis.count(TO_TENSOR) != 1:
        return "its transform does not end with ToTensor"
    end = apis.index(TO_TENSOR)
    if not set(apis[end + 1 :]) <= _AFTER_TENSOR or set(apis[:end]) & _AFTER_TENSOR:
        return "its transform changes tensors"
    return _chosen(call, apis, rows, known, close=close)


def _chosen(
    call: ast.Call, apis: list[str], rows: str, known: dict[str, NativeTransform], *, close: bool
) -> Steps:
    facts = [(api.rpartition(".")[2], known[api]) for api in apis]
    only_pil = [name for name, fact in facts if fact.needs]
    differ = [f"{name} by up to {f.grey_levels}" for name, f in facts if f.grey_levels]
    files = rows == "files"
    if not only_pil and not differ:
        return Steps(call, "Decode()" if files else "")
    if only_pil or not close:
        reason = f"{', '.join(only_pil)}: only there" if only_pil else _differs(differ)
        remark = f"on PIL images ({reason}" + ("" if only_pil else f"; {_ALLOW}") + ")"
        return Steps(call, "Decode(to_pil=True)" if files else "ToPIL()", remark=remark)
    fused = known[apis[0]].fused if files else ""
    remark = f"pixels are not torchvision's: {_differs(differ)}"
    return Steps(call, "Decode()" if files and not fused else "", fused, remark)


def _differs(names: list[str]) -> str:
    return f"in C++ {', '.join(names)} of 255 grey levels"


def _items(call: ast.Call, called: Called) -> list[ast.expr] | None:
    if called(call) == TO_TENSOR:
        return [call]
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if called(call) != COMPOSE or len(given) != 1 or not isinstance(given[0], ast.List):
        return None
    return given[0].elts


def _api(item: ast.expr, called: Called, values: Values) -> str:
    """The transform of an item of the list, by its constructor."""
    if isinstance(item, ast.Name):
        found = values(item)
        made = found[0] if len(found) == 1 else None
        return _api(made, called, values) if isinstance(made, ast.Call) else ""
    return called(item) if isinstance(item, ast.Call) and _plain(item) else ""


def _plain(call: ast.Call) -> bool:
    """Without arguments that only the exact path knows: sizes bounded on the other side."""
    return all(
        keyword.arg is not None and (keyword.arg != "max_size" or literal_of(keyword.value) is None)
        for keyword in call.keywords
    )

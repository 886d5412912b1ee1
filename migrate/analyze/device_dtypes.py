"""Calls whose tensor is of a dtype that the device's kernels refuse, where the program states it.

`torch.cumsum(x.long(), 0)` for an Ascend: the dry runs of the row say what float64, int64, complex
and bfloat16 are worth there.
"""

from __future__ import annotations

import ast
from typing import Any

from migrate.flow import Flow
from migrate.resolve.usage import Usage
from migrate.resources import folder
from migrate.table import Entry
from migrate.table.evidence import dry_run

_REFUSED = ("no kernel", "dtype refused")


def objection(usage: Usage, entry: Entry, flow: Flow) -> str:
    """Why the device does not take this call's tensor; empty where nothing is known against it."""
    subject = _subject(usage)
    verdicts = _verdicts(entry, flow)
    if subject is None or not verdicts.get("dtypes"):
        return ""
    dtype = flow.dtypes.of(subject)
    verdict = verdicts["dtypes"].get(dtype, "")
    if verdict not in _REFUSED:
        return ""
    why = verdicts.get("why", {}).get(dtype, "")
    return f"{entry.target or entry.torch} on Ascend, in dry run, of {dtype}: {verdict}" + (
        f" ({why})" if why else ""
    )


def _verdicts(entry: Entry, flow: Flow) -> dict[str, Any]:
    """Of the row; a method is tried in float32 alone, the function of its name in all dtypes."""
    own = dry_run(entry.torch, folder("mappings"))
    if own.get("dtypes") or not entry.torch.startswith("torch.Tensor."):
        return own
    twin = flow.table.get(entry.torch.replace(".Tensor.", ".", 1))
    if twin is None or _operator(twin) != _operator(entry):
        return own
    return dry_run(twin.torch, folder("mappings"))


def _operator(entry: Entry) -> str:
    return entry.target.rpartition(".")[2]


def _subject(usage: Usage) -> ast.expr | None:
    """The tensor that a function or method works on; others may be indices."""
    call = usage.call
    if not isinstance(call, ast.Call):
        return None
    if usage.api.startswith("torch.Tensor."):
        return call.func.value if isinstance(call.func, ast.Attribute) else None
    given = next((keyword.value for keyword in call.keywords if keyword.arg == "input"), None)
    return given or next(iter(call.args), None)

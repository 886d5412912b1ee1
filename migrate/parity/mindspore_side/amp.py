"""MindSpore's mixed precision levels, and what to do where its own O1 fails."""

from __future__ import annotations

import linecache
import os
import re
import traceback
from pathlib import Path
from typing import Any

import mindspore
from mindspore import nn, ops

# O1 rewrites the network's source into this folder.
_REWRITTEN = f"{os.sep}rewritten_network{os.sep}"
_REPLACED = re.compile(r"self\.(?P<path>\S+) = (?P<type>\w+?)Opt(_\d+)?\(")
_MADE = re.compile(r"class (?P<type>\w+?)Opt(_\d+)?\(")
_READ = re.compile(r"In file (?P<file>\S+rewritten_network\S+?):(?P<line>\d+)")
# The cells of mindspore.amp.get_white_list(), and those around its operators.
_LOWERED = (
    nn.Conv1d,
    nn.Conv2d,
    nn.Conv3d,
    nn.Conv1dTranspose,
    nn.Conv2dTranspose,
    nn.Conv3dTranspose,
    nn.Dense,
    nn.LSTMCell,
    nn.RNNCell,
    nn.GRUCell,
    nn.ReLU,
    nn.PReLU,
)


class RewriteError(Exception):
    """MindSpore's O1 could not rewrite the network."""


def lower(model: nn.Cell, level: str, way: str, scratch: Path) -> Any:
    """The network at a level; `way` is "by cells" where O1 must do without the rewrite."""
    if way == "by cells":
        return by_cells(model)
    # O1 writes its rewritten network into the current folder, which is the user's.
    before = os.getcwd()
    os.chdir(scratch)
    try:
        return mindspore.amp.auto_mixed_precision(model, level)
    except Exception as error:
        if level != "O1":
            raise
        raise RewriteError(_note(_layer_of(error), error)) from error
    finally:
        os.chdir(before)


class InFloat32(nn.Cell):  # type: ignore[misc]
    """A cell computed in float16 whose result is float32 again, as O1 defines it."""

    def __init__(self, inner: nn.Cell) -> None:
        super().__init__(auto_prefix=False)
        self.inner = inner.to_float(mindspore.float16)
        self._get_attr_from_cell(inner)

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        return ops.functional.mixed_precision_cast(mindspore.float32, self.inner(*args, **kwargs))


def by_cells(model: nn.Cell) -> nn.Cell:
    """O1 by casting cells: those of the list in float16, everything else in float32."""
    if isinstance(model, _LOWERED):
        return InFloat32(model)
    changed = False
    for name, cell in list(model.name_cells().items()):
        if cell is model or isinstance(cell, InFloat32):
            continue
        if isinstance(cell, _LOWERED):
            model._cells[name] = InFloat32(cell)
            changed = True
        else:
            by_cells(cell)
    if changed and isinstance(model, nn.SequentialCell):
        model.cell_list = list(model.cells())
    return model


def failure(error: BaseException | None, entered: list[Any], model: nn.Cell) -> str:
    """A note if the error is one of the rewritten source's and not of the model's own."""
    if error is None or not _is_rewritten(error):
        return ""
    path = entered[-1].path if entered else ""
    cell = dict(model.cells_and_names()).get(path)
    kind = re.sub(r"Opt(_\d+)?$", "", type(cell).__name__)
    layer = f"{path} ({kind})" if path and cell is not None else ""
    return _note(layer or _layer_of(error), error)


def _is_rewritten(error: BaseException) -> bool:
    frames = traceback.extract_tb(error.__traceback__)
    return any(_REWRITTEN in frame.filename for frame in frames) or _REWRITTEN in str(error)


def _layer_of(error: BaseException) -> str:
    """The layer whose rewritten form was being made when it failed."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if _REWRITTEN in frame.filename:
            line = linecache.getline(frame.filename, frame.lineno or 0)
            if found := _REPLACED.search(line):
                return f"{found['path']} ({found['type']})"
    # The compiler names the line it read; the class around that line is the layer's.
    for read in reversed(list(_READ.finditer(str(error)))):
        for number in range(int(read["line"]), 0, -1):
            if made := _MADE.match(linecache.getline(read["file"], number)):
                return f"a {made['type']}"
    return ""


def _note(layer: str, error: BaseException) -> str:
    what = next((line for line in str(error).splitlines() if line.strip()), "")
    return (
        f"MindSpore's own amp.auto_mixed_precision(net, 'O1') fails on {layer or 'this model'} "
        f"({type(error).__name__}: {what[:200]}); the cells of its white list were cast to "
        "float16 instead. For training use O2, or 'auto'"
    )

"""How to call a cell with the inputs by name, in code that the graph compiler can read."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from migrate.parity.request import inputs


def caller(
    model: Any, arrays: dict[str, Any], order: list[str], scratch: Path
) -> tuple[dict[str, Any], Callable[..., Any]]:
    """The tensors by name in torch's argument order, and how to call the cell with them."""
    import mindspore

    names = [name for name in order if name in arrays]
    tensors = {name: mindspore.Tensor(arrays[name]) for name in names}
    parameters = list(inspect.signature(model.construct).parameters)
    moved = any(
        name in parameters and parameters.index(name) != index for index, name in enumerate(names)
    )
    if not moved and all("." not in name for name in names):

        def by_position(*given: Any) -> Any:
            return model(*given)

        return tensors, by_position
    return tensors, _written(model, names, scratch)


def source(names: list[str]) -> str:
    """The call written out. A compiled function can neither build a dict in a loop nor unpack one
    that it built, so the nesting is spelled out.
    """
    args, kwargs = inputs.arguments({name: f"given_{i}" for i, name in enumerate(names)})
    words = [_spelled(value) for value in args]
    words += [f"{name}={_spelled(value)}" for name, value in kwargs.items()]
    parameters = ", ".join(f"given_{i}" for i in range(len(names)))
    return (
        "def make(model):\n"
        f"    def call({parameters}):\n"
        f"        return model({', '.join(words)})\n\n"
        "    return call\n"
    )


def _spelled(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {_spelled(item)}' for key, item in value.items())}}}"
    return str(value)


def _written(model: Any, names: list[str], scratch: Path) -> Callable[..., Any]:
    # The compiler reads a function from its file.
    path = scratch / "ms_migrate_call.py"
    path.write_text(source(names), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("ms_migrate_call", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where the compiler looks for what a function refers to
    spec.loader.exec_module(module)
    call: Callable[..., Any] = module.make(model)
    return call

"""Run the reproducers of mappings/graph_limits.toml: does MindSpore still have each limit, and is
the form that the port writes free of it? `make limits` runs all, and writes the results and the
page under docs.

A limit is loud if the compiler raises an error where PyNative mode does not, and silent if the
outputs or gradients differ. Each run has a process of its own, forked right after the import.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
import textwrap
import time
from datetime import date
from pathlib import Path
from typing import Any

from migrate.lower.limits import Limit, limits
from migrate.report.graph_limits_page import page

DOCS = Path(__file__).parents[2] / "docs"
RESULTS, PAGE = DOCS / "results" / "graph_limits.json", DOCS / "graph_limits.md"
_NET = """\
import mindspore
from mindspore import nn, ops
{head}

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 4, weight_init="ones", bias_init="ones")
        {init}

    def construct(self, x):
{body}

{methods}
"""
_SECONDS = 120


def program(limit: Limit, body: str) -> str:
    return _NET.format(
        head=limit.head,
        init=limit.init or "pass",
        body=textwrap.indent(body.strip("\n"), " " * 8),
        methods=textwrap.indent(limit.methods.strip("\n"), " " * 4),
    )


def run(text: str, limit: Limit, mode: str, folder: Path) -> list[list[float]]:
    """Outputs and gradients of the calls; imports MindSpore, so only in a child process."""
    import mindspore
    import numpy as np

    (folder / "limit_net.py").write_text(text)
    sys.path.insert(0, str(folder))
    net = importlib.import_module("limit_net").Net()
    x = mindspore.Tensor(np.arange(8, dtype=np.float32).reshape(2, 4))

    def loss(value: Any) -> Any:
        return (net(value) ** 2).sum()

    step = mindspore.value_and_grad(loss, None, net.trainable_params())
    if mode != "pynative":
        step = mindspore.jit(getattr(step, "__wrapped__", step))
    found = []
    for call in range(limit.calls):
        if call and limit.between:
            exec(limit.between, {"net": net})
        value, gradients = step(x)
        found.append([float(value.asnumpy()), *(float(g.asnumpy().sum()) for g in gradients)])
    return found


def in_child(text: str, limit: Limit, mode: str, folder: Path) -> tuple[str, Any]:
    """("values", numbers) or ("error", the first line of the message)."""
    out = folder / f"{limit.name}.{mode}.json"
    out.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        try:
            result: tuple[str, Any] = ("values", run(text, limit, mode, folder))
        except BaseException as error:
            lines = [line for line in str(error).splitlines() if line.strip(" -")]
            text = re.sub(r"0x[0-9a-f]+|::\d+", "", lines[0] if lines else "")
            result = ("error", f"{type(error).__name__}: {text}"[:160])
        out.write_text(json.dumps(result))
        os._exit(0)
    end = time.monotonic() + _SECONDS
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > end:
            os.kill(child, 9)
            os.waitpid(child, 0)
            return "error", "TimeoutError: no answer"
        time.sleep(0.02)
    if not out.exists():
        return "error", "the process ended"
    kind, value = json.loads(out.read_text())
    return kind, value


def differ(left: Any, right: Any) -> bool:
    pairs = [(a, b) for x, y in zip(left, right, strict=True) for a, b in zip(x, y, strict=True)]
    return any(abs(a - b) > 1e-4 * max(1.0, abs(a), abs(b)) for a, b in pairs)


def verdict(limit: Limit, folder: Path) -> dict[str, str]:
    """What the runs showed of one limit."""
    if not limit.before:
        return {"limit": "not run"}
    kind, right = in_child(program(limit, limit.before), limit, "pynative", folder)
    if kind == "error":
        return {"limit": f"PyNative fails: {right}"}
    found = {}
    kind, value = in_child(program(limit, limit.before), limit, "graph", folder)
    if kind == "error":
        found = {"limit": "loud", "shows": value}
    else:
        found = {"limit": "silent" if differ(right, value) else "none"}
    if limit.after:
        kind, value = in_child(program(limit, limit.after), limit, "graph", folder)
        agrees = kind == "values" and not differ(right, value)
        found["after"] = "agrees" if agrees else f"{kind}: {value}"
    return found


def main(names: list[str]) -> int:
    import tempfile

    import mindspore

    rows = [row for row in limits().values() if not names or row.name in names]
    with tempfile.TemporaryDirectory() as folder:
        plain = Limit(
            "control", "", "", "", "", before="return self.fc(x)", after="return self.fc(x)"
        )
        control = verdict(plain, Path(folder))
        assert control == {"limit": "none", "after": "agrees"}, control
        found = {row.name: verdict(row, Path(folder)) for row in rows}
    for row in rows:
        print(f"{row.name:22} {row.effect:7} {found[row.name]}")
    if not names:
        record = {
            "mindspore": mindspore.__version__,
            "date": date.today().isoformat(),
            "limits": found,
        }
        RESULTS.write_text(json.dumps(record, indent=1) + "\n")
        PAGE.write_text(page(record))
    wrong = [
        row.name
        for row in rows
        if found[row.name]["limit"] not in (row.effect, "not run")
        or found[row.name].get("after", "agrees") != "agrees"
    ]
    print("as the table says" if not wrong else f"not as the table says: {', '.join(wrong)}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

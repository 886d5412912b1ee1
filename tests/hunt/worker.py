"""Run programs under one framework, each in a process forked from one that has it imported.

python worker.py torch|pynative|graph SECONDS     serve: one folder a line on stdin

The folder holds main.py with run(); what it returned, printed or raised goes to MODE.json there.
Forking before the first operator is safe, costs a tenth of a second, and a crash ends one program.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

Record = dict[str, Any]


def serve(mode: str, seconds: float) -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the framework prints must not mix with the answers
    import numpy  # noqa: F401

    if mode == "torch":
        import torch
        import torch._dynamo  # two seconds, which else each optimizer pays
        import torch.distributions
        import torch.utils.data

        with contextlib.suppress(ImportError):
            from migrate.vision_shim import ensure_torchvision

            ensure_torchvision()
        torch.set_num_threads(1)
    else:
        os.environ.setdefault("MS_MIGRATE_MODE", "pynative")
        import mindspore

        if mode == "graph":
            mindspore.set_context(mode=mindspore.GRAPH_MODE)
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        folder = Path(line.strip())
        pid = os.fork()
        if pid == 0:
            _child(mode, folder)
        _wait(pid, folder / f"{mode}.json", seconds)
        print("done", file=answers, flush=True)


def _wait(pid: int, result: Path, seconds: float) -> None:
    """Until the child is done; one that takes too long or dies leaves a record that says so."""
    end = time.monotonic() + seconds
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            if not result.exists():
                code = os.waitstatus_to_exitcode(status)
                result.write_text(json.dumps({"crash": f"the process ended with {code}"}))
            return
        if time.monotonic() > end:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            result.write_text(json.dumps({"crash": f"no result after {seconds:g} s"}))
            return
        time.sleep(0.005)


def _child(mode: str, folder: Path) -> None:
    log = os.open(folder / f"{mode}.log", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    os.dup2(log, 2)
    os.dup2(log, 1)
    work = folder / f"{mode}_files"
    work.mkdir(exist_ok=True)
    os.chdir(work)
    sys.path.insert(0, str(folder))
    if mode != "torch":
        sys.modules["torch"] = sys.modules["torchvision"] = None  # type: ignore[assignment]
    printed = io.StringIO()
    record: Record = {}
    try:
        with contextlib.redirect_stdout(printed):
            import main  # type: ignore[import-not-found]

            record["value"] = described(main.run())
    except BaseException as error:
        record["error"] = f"{type(error).__name__}: {error}"[:2000]
        traceback.print_exc()
    record["printed"] = printed.getvalue()
    temporary = folder / f"{mode}.json.part"
    temporary.write_text(json.dumps(record))
    os.replace(temporary, folder / f"{mode}.json")
    sys.stderr.flush()
    os._exit(0)


def described(value: Any) -> Any:
    """A value as JSON: what kind it is, and its content, in words that both frameworks share."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return {"float": repr(value)}
    if isinstance(value, dict):
        return {"dict": [[described(key), described(item)] for key, item in value.items()]}
    if isinstance(value, (list, tuple, set)) and type(value).__name__ not in ("Size",):
        kind = "tuple" if isinstance(value, tuple) else type(value).__name__
        items = sorted(value, key=repr) if isinstance(value, set) else list(value)
        return {kind: [described(item) for item in items]}
    if type(value).__name__ == "Size":
        return {"tuple": [int(n) for n in value]}
    return _array(value)


def _array(value: Any) -> Any:
    import numpy as np

    if isinstance(value, np.generic):
        return described(value.item())
    if isinstance(value, np.ndarray):
        return _numbers("array", value)
    to_numpy = getattr(value, "asnumpy", None)
    if to_numpy is not None:
        return _numbers("tensor", to_numpy(), _dtype(value.dtype))
    if hasattr(value, "detach") and hasattr(value, "numpy"):
        value = value.detach().cpu()
        dtype = _dtype(value.dtype)
        if "bfloat" in dtype:
            value = value.float()
        return _numbers("tensor", value.resolve_conj().numpy(), dtype)
    parameters = getattr(value, "get_parameters", None) or getattr(value, "parameters", None)
    if parameters is not None:
        return {"module": [described(p) for p in parameters() if p.requires_grad]}
    name = _dtype(value)
    return {"dtype": name} if name in _DTYPES else {"object": type(value).__name__}


_INTEGERS = {"bool", "uint8", "int8", "int16", "int32", "int64"}
_FLOATS = {"float16", "bfloat16", "float32", "float64", "complex64", "complex128"}
_DTYPES = _INTEGERS | _FLOATS


def _dtype(value: Any) -> str:
    name = str(value).rpartition(".")[2].lower()
    return {"bool_": "bool"}.get(name, name)


def _numbers(kind: str, array: Any, dtype: str = "") -> Any:
    import numpy as np

    flat = array.reshape(-1)
    if np.iscomplexobj(flat):
        data = [repr(x) for x in np.stack([flat.real, flat.imag], -1).reshape(-1).tolist()]
    else:
        data = [repr(x) for x in flat.tolist()]
    return {kind: data, "dtype": dtype or str(array.dtype), "shape": list(array.shape)}


if __name__ == "__main__":
    serve(sys.argv[1], float(sys.argv[2]))

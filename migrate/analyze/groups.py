"""The groups of the feature table, and which APIs belong to each."""

from __future__ import annotations

import re
from functools import cache

from migrate.table import Entry

# Group -> its heading, in the order in which a migration meets them.
GROUPS = {
    "init": "weight initialisation",
    "container": "containers",
    "optimizer": "optimizers",
    "scheduler": "learning-rate schedules",
    "data": "data loading",
    "amp": "mixed precision",
    "distributed": "distributed training",
    "checkpoint": "checkpoints",
    "hook": "hooks",
    "in-place": "in-place changes",
    "autograd": "autograd",
    "autograd.Function": "autograd.Function",
    "control flow": "control flow in Graph mode",
    "device": "devices",
    "jit": "TorchScript and compile",
    "profiler": "profiling",
    "random": "random numbers",
    "package": "packages built on torch",
    "text": "torch in text",
}

# For APIs that the table does not list, or lists without a group: their place in torch says it.
_BY_NAME = tuple(
    (re.compile(pattern), group)
    for pattern, group in (
        (r"register_\w*hook|\.hooks\.", "hook"),
        (r"^torch\.nn\.init\.", "init"),
        (r"^torch\.nn\.(Sequential|Module(List|Dict)|Parameter(List|Dict))\b", "container"),
        (r"^torch\.optim\.lr_scheduler\.", "scheduler"),
        (r"^torch\.optim\.", "optimizer"),
        (r"^torch\.utils\.data\.|^torchvision\.(transforms|datasets)\.", "data"),
        (r"^torch\.(cuda\.)?amp\.|^torch\.autocast$", "amp"),
        (r"^torch\.distributed\b|DataParallel$", "distributed"),
        (r"^torch\.(save|load)$|state_dict$|^torch\.hub\.|model_zoo", "checkpoint"),
        (r"^torch\.autograd\.Function\b", "autograd.Function"),
        (r"^torch\.autograd\.|no_grad|enable_grad|inference_mode|\.backward$", "autograd"),
        (r"^torch\.(cuda|mps|xpu|device|backends)\b", "device"),
        (r"^torch\.(jit|compile|fx|onnx|export)\b", "jit"),
        (r"^torch\.profiler\b|^torch\.utils\.benchmark", "profiler"),
        (r"manual_seed|^torch\.(Generator|random)\b|rng_state", "random"),
    )
)


def group_of(api: str, entry: Entry | None) -> str:
    """The feature group of an API; empty for plain operators."""
    if entry is not None and entry.feature:
        return "autograd.Function" if api.startswith("torch.autograd.Function") else entry.feature
    if entry is not None and entry.kind in ("dtype", "constant"):
        return ""
    return _by_name(api)


@cache
def _by_name(api: str) -> str:
    return next((group for pattern, group in _BY_NAME if pattern.search(api)), "")

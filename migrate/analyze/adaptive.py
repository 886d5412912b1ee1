"""Adaptive pooling: the output size decides which MindSpore operator serves best."""

from __future__ import annotations

import re

# Name -> dimensions pooled and whether it averages.
_NAME = re.compile(r"(?:AdaptiveAvgPool|adaptive_avg_pool)([123])d$")


def advice(api: str, size: object) -> str:
    """What fits this use; empty for an API that is no adaptive average pooling."""
    match = _NAME.search(api)
    if match is None:
        return ""
    rank = int(match[1])
    axes = ", ".join(str(-axis) for axis in range(rank, 0, -1))
    if size is ...:
        return (
            "output size is not a literal: ReduceMean serves an output of 1, AvgPool an input that "
            "is a multiple of it, the adaptive operator all others"
        )
    sizes = tuple(size) if isinstance(size, (tuple, list)) else (size,) * rank
    if all(part == 1 for part in sizes):
        last = "the last axis" if rank == 1 else f"the last {('two', 'three')[rank - 2]} axes"
        return (
            f"with output size 1 it is ReduceMean over {last}: "
            f"ops.mean(x, axis=({axes}{',' if rank == 1 else ''}), keep_dims=True)"
        )
    if all(part is None for part in sizes):
        return "output None keeps the size: the layer changes nothing and can go"
    shown = "x".join("input" if part is None else str(part) for part in sizes)
    return (
        f"output {shown}: where every input's size is a known multiple of it, use "
        f"nn.AvgPool{rank}d(kernel_size=input // output, stride=input // output); else keep the "
        "adaptive operator"
    )

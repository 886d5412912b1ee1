"""autocast on the CPU: torch computes in bfloat16, for which MindSpore's CPU has no kernels."""

from __future__ import annotations

import ast

from migrate.pipeline.context import Context
from migrate.resolve.values import External

AUTOCAST = frozenset(
    {"torch.amp.autocast", "torch.autocast", "torch.cuda.amp.autocast", "torch.cpu.amp.autocast"}
)
_OLD_NAMES = ("enabled", "dtype", "cache_enabled")  # of torch.cpu.amp.autocast and cuda's
_NAMES = ("device_type", "dtype", "enabled", "cache_enabled")


def names_of(api: str) -> tuple[str, ...]:
    """The parameters of an autocast, in order."""
    return _NAMES if api.endswith(("torch.autocast", "torch.amp.autocast")) else _OLD_NAMES


def flag_bfloat16(context: Context) -> None:
    """A finding at each block that computes in bfloat16 where it runs on the CPU."""
    for usage in context.usages.values():
        if (
            usage.api in AUTOCAST
            and usage.call is not None
            and _rounds(usage.call, usage.api, context)
        ):
            context.flag(
                usage.call,
                "MS302",
                "autocast computes in bfloat16 on the CPU, and MindSpore's CPU has no kernels for "
                "it: the port computes in float16 there (Ascend has bfloat16)",
                'on the CPU, switch it off: autocast("cpu", enabled=False)',
                usage.api,
            )


def _rounds(call: ast.Call, api: str, context: Context) -> bool:
    given = dict(zip(names_of(api), call.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    enabled, dtype = given.get("enabled"), given.get("dtype")
    if isinstance(enabled, ast.Constant) and not enabled.value:
        return False
    device = given.get("device_type")
    device_name = device.value if isinstance(device, ast.Constant) else None
    if ".cuda." in api or device_name == "cuda":
        return False  # off in torch without a GPU, and in the port on the CPU
    on_cpu = ".cpu." in api or device_name == "cpu"
    if dtype is None or isinstance(dtype, ast.Constant):
        return on_cpu
    kind = context.type(dtype)
    return isinstance(kind, External) and kind.name == "torch.bfloat16"

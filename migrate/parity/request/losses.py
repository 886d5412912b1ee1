"""Losses by a short name, computed alike in both frameworks:
`cross_entropy:label_smoothing=0.1`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from migrate.errors import RequestError

Options = dict[str, Any]
LossFunction = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Loss:
    """What a loss takes: how its target is drawn, and which options it knows."""

    target: str
    options: tuple[str, ...] = ()


# target: classes (integers below N), like (the output's shape, normal), probability (0..1), sign
# (-1 or 1)
KNOWN: dict[str, Loss] = {
    "cross_entropy": Loss("classes", ("label_smoothing", "ignore_index", "reduction")),
    "nll": Loss("classes", ("ignore_index", "reduction")),
    "mse": Loss("like", ("reduction",)),
    "l1": Loss("like", ("reduction",)),
    "smooth_l1": Loss("like", ("beta", "reduction")),
    "huber": Loss("like", ("delta", "reduction")),
    "bce": Loss("probability", ("reduction",)),
    "bce_with_logits": Loss("probability", ("reduction",)),
    "kl_div": Loss("distribution", ("reduction",)),
    "soft_margin": Loss("sign", ("reduction",)),
    # The mean of all outputs against fixed random numbers: a gradient for everything, no target
    # needed.
    "project": Loss("like"),
}


def parse_options(text: str, what: str) -> tuple[str, Options]:
    """Read `name:key=value,flag`."""
    name, _, rest = text.partition(":")
    options: Options = {}
    for item in filter(None, (part.strip() for part in rest.split(","))):
        key, equals, value = item.partition("=")
        options[key] = _value(value) if equals else True
    if not name.isidentifier():
        raise RequestError(
            f"cannot read the {what} {text!r}", next_step=f"write {what}:key=value,key=value"
        )
    return name, options


def parse(text: str) -> tuple[str, Options]:
    """Read a loss and refuse what is unknown."""
    name, options = parse_options(text, "loss")
    if name not in KNOWN:
        raise RequestError(
            f"unknown loss {name!r}",
            next_step=(
                f"use one of {', '.join(KNOWN)}, or --torch-loss and --ms-loss with functions of "
                "your own"
            ),
        )
    unknown = [key for key in options if key not in KNOWN[name].options]
    if unknown:
        raise RequestError(
            f"{name} has no option {unknown[0]!r}",
            next_step=f"it has: {', '.join(KNOWN[name].options) or 'none'}",
        )
    return name, options


def class_axis(name: str, output: Any, goal: Any) -> tuple[Any, Any]:
    """A language model's logits are (batch, time, classes): flatten them, since the class axis
    must be axis 1.
    """
    if (
        KNOWN[name].target == "classes"
        and output.ndim > 2
        and tuple(output.shape[:-1]) == tuple(goal.shape)
    ):
        return output.reshape(-1, output.shape[-1]), goal.reshape(-1)
    return output, goal


def torch_loss(name: str, options: Options) -> LossFunction:
    """The loss in torch."""
    import torch.nn.functional as F

    if name == "project":
        return lambda output, target: (output * target).mean()
    functions: dict[str, Callable[..., Any]] = {
        "cross_entropy": F.cross_entropy,
        "nll": F.nll_loss,
        "mse": F.mse_loss,
        "l1": F.l1_loss,
        "smooth_l1": F.smooth_l1_loss,
        "huber": F.huber_loss,
        "bce": F.binary_cross_entropy,
        "bce_with_logits": F.binary_cross_entropy_with_logits,
        "kl_div": F.kl_div,
        "soft_margin": F.soft_margin_loss,
    }
    function = functions[name]
    return lambda output, target: function(output, target, **options)


def mindspore_loss(name: str, options: Options) -> LossFunction:
    """The loss in MindSpore, with torch's defaults where MindSpore's differ; no lambdas, for the
    graph compiler.
    """
    from mindspore import ops

    settled = {"reduction": "mean", **options}
    if name == "bce_with_logits":

        def with_logits(output: Any, target: Any) -> Any:
            ones = ops.ones_like(output)
            return ops.binary_cross_entropy_with_logits(
                output, target, weight=ones, pos_weight=ones, **settled
            )

        return with_logits
    functions: dict[str, Callable[..., Any]] = {
        "cross_entropy": ops.cross_entropy,
        "nll": ops.nll_loss,
        "mse": ops.mse_loss,
        "l1": ops.l1_loss,
        "smooth_l1": ops.smooth_l1_loss,
        "huber": ops.huber_loss,
        "bce": ops.binary_cross_entropy,
        "kl_div": ops.kl_div,
        "soft_margin": ops.soft_margin_loss,
    }
    function = functions.get(name, ops.mse_loss)

    def loss(output: Any, target: Any) -> Any:
        return function(output, target, **settled)

    return loss


def _value(text: str) -> Any:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text.lower(), text)
